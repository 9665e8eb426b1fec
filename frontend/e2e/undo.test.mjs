// Undo on the real kernel: an agent writes two files and a command a third, the person changes one of them.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'undo.toml');
let o, chrome, page, errors;

const at = (name) => join(o.folder, name);
const text = (name) => readFileSync(at(name), 'utf8');
const dialog = () => page.getByRole('dialog');

const axe = () => accessible(page);

describe('undo', { skip }, () => {
	before(async () => {
		o = await oxios(script);
		await o.writeConfig(o.config.replace('keyring', 'mode = "autonomous"\nkeyring'));
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('puts back what is as the run left it, tells the conflict, and brings it again', async () => {
		writeFileSync(at('notes.md'), 'mine\n');
		writeFileSync(at('list.txt'), 'unsorted\n');
		const message = page.getByRole('textbox', { name: 'Message', exact: true });
		await message.fill('Tidy the files in this folder: write notes.md and sort list.txt');
		await message.press('Enter');

		const undo = page.getByRole('button', { name: 'Undo 3 files…' });
		await undo.waitFor();
		assert.equal(text('list.txt'), 'sorted\n');
		writeFileSync(at('new.md'), 'mine now\n');
		await undo.click();
		await dialog().getByText('2 of 3 files go back to how they were before the run.').waitFor();
		await dialog().getByText('Not as the run left them').waitFor();
		await dialog().getByText('It was changed after the run, by you or by another program.').waitFor();
		await dialog().getByRole('button', { name: 'Show the difference of notes.md' }).click();
		await dialog().getByRole('group', { name: 'notes.md', exact: true }).getByText('by the agent').waitFor();
		await axe();
		await dialog().getByRole('button', { name: 'Undo 2 files' }).click();
		await dialog().waitFor({ state: 'hidden' });
		assert.equal(text('notes.md'), 'mine\n');
		assert.equal(text('list.txt'), 'unsorted\n');
		assert.equal(text('new.md'), 'mine now\n');
		await page.getByRole('button', { name: 'Redo 2 files…' }).click();
		await dialog().getByRole('button', { name: 'Redo 2 files' }).click();
		await dialog().waitFor({ state: 'hidden' });
		assert.equal(text('notes.md'), 'by the agent\n');
		assert.equal(text('list.txt'), 'sorted\n');
		assert.equal(text('new.md'), 'mine now\n');
	});

	it('puts back one file of the panel, and a conflict that the person decided', async () => {
		await page.getByRole('button', { name: 'Review', exact: true }).click();
		const differences = page.locator('section > .diff').filter({ visible: true });
		await page.getByRole('button', { name: 'Undo new.md' }).waitFor();
		assert.equal(await differences.count(), 3);
		await page.getByRole('button', { name: 'Undo new.md' }).press('Enter');
		const choice = dialog().getByRole('radiogroup', { name: 'What happens to new.md' });
		await choice.getByText('Restore').click();
		await dialog().getByText('What is there now is kept first').waitFor();
		await dialog().getByRole('button', { name: 'Undo 1 file' }).click();
		await dialog().waitFor({ state: 'hidden' });
		assert.equal(existsSync(at('new.md')), false);
		assert.equal(text('notes.md'), 'by the agent\n');
		await page.locator('section', { hasText: 'new.md' }).getByText('undone', { exact: true }).waitFor();
		assert.equal(await page.getByRole('button', { name: 'Undo new.md' }).count(), 0);
		assert.equal(await differences.count(), 2, 'the panel shows a difference that is no longer there');
		await page.getByRole('button', { name: 'Redo 1 file…' }).click();
		await dialog().getByRole('button', { name: 'Redo 1 file' }).click();
		await dialog().waitFor({ state: 'hidden' });
		assert.equal(text('new.md'), 'mine now\n');
	});

	it('names the agents that a run forked, undoes what they did with it, or that run alone', async () => {
		await page.keyboard.press('Control+KeyN');
		const message = page.getByRole('textbox', { name: 'Message', exact: true });
		await message.fill('Team up');
		await message.press('Enter');
		const undo = page.getByRole('button', { name: 'Undo 2 files…' }).last();
		await undo.waitFor({ timeout: 60_000 });
		assert.equal(text('fork.md'), 'by the fork\n');
		await undo.click();
		await dialog().getByText('2 agents are in it: ').waitFor();
		await dialog().getByRole('listitem').filter({ hasText: 'fork.md' }).getByText('Writer').waitFor();
		await axe();
		await dialog().getByText('This run alone').click();
		await dialog().getByRole('button', { name: 'Undo 1 file' }).waitFor();
		await dialog().getByText('With its agents').click();
		await dialog().getByRole('button', { name: 'Undo 2 files' }).click();
		await dialog().waitFor({ state: 'hidden' });
		assert.equal(existsSync(at('fork.md')), false);
		assert.equal(existsSync(at('own.md')), false);
		await page.getByRole('button', { name: 'Redo 2 files…' }).last().click();
		await dialog().getByRole('button', { name: 'Redo 2 files' }).click();
		await dialog().waitFor({ state: 'hidden' });
		assert.equal(text('fork.md'), 'by the fork\n');
	});

	it('frees what is kept for undo and for replay, after saying what can no longer be done', async () => {
		await page.keyboard.press('Control+Comma');
		await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Storage' }).click();
		await page.getByRole('button', { name: 'Free now: Undo' }).press('Enter');
		await dialog()
			.getByText(/runs with \d+ files can no longer be undone/)
			.waitFor();
		await axe();
		await dialog().getByRole('button', { name: 'Free', exact: true }).click();
		await page.getByText(/ freed\.$/).waitFor();
		await page.getByRole('button', { name: 'Free now: Journals' }).press('Enter');
		await dialog()
			.getByText(/runs can no longer be replayed/)
			.waitFor();
		await dialog().getByRole('button', { name: 'Free', exact: true }).click();
		await page.getByText(/ freed\.$/).waitFor(); // the buttons rest until then
		await page.getByRole('button', { name: 'Free now: Undo' }).press('Enter');
		await dialog().getByText('0 runs with 0 files can no longer be undone').waitFor();
		await dialog().getByRole('button', { name: 'Cancel' }).click();
		assert.equal(text('fork.md'), 'by the fork\n', 'files stay');
	});
});
