// A conversation that the model's window does not hold any more, on the real kernel with a scripted model.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { begin, binary, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'compact.toml');

describe('a conversation that gets too long', { skip, timeout: 120_000 }, () => {
	let o, chrome, page, errors;
	const message = () => page.getByRole('textbox', { name: 'Message', exact: true });
	const log = () => page.getByRole('log', { name: 'Conversation' });
	const head = () => page.getByRole('button', { name: /Made room: \d+ messages and \d+ tool results summarised/ });
	const row = () => log().locator('.step', { has: head() });
	const asked = 'read the pages, and never send anything to anybody';

	before(async () => {
		o = await oxios(script);
		for (let i = 1; i < 12; i++)
			await writeFile(join(o.folder, `page-${i}.txt`), `page ${i}\n${'one thing after the other\n'.repeat(800)}`);
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
		assert.deepEqual(errors, [], 'errors in the page');
	});

	it('goes on behind a row that says how much was summarised', async () => {
		await message().fill(asked);
		await message().press('Enter');
		await row().waitFor();
		await log().getByText('All pages are read.').waitFor();
		await log()
			.getByText(/Read \d+ files|Read page-\d+\.txt/)
			.first()
			.waitFor(); // what was dropped stays on the screen
	});

	it('shows what the model reads in its place', async () => {
		await head().click();
		await row()
			.getByText(/of 32,768 tokens · \d+.* dropped, kept above and in the journal/)
			.waitFor();
		const text = await row().locator('pre').innerText();
		for (const part of [asked, '- page-1.txt: read', 'SUMMARY: the pages tell', 'were dropped here'])
			assert.ok(text.includes(part), `${part} is not in:\n${text}`);
	});

	it('begins the next answer there, without a second summary', async () => {
		await message().fill('and what stood in them?');
		await message().press('Enter');
		await log().getByText('That stood in the pages.').waitFor();
		assert.equal(await row().count(), 1);
	});

	it('tells it on the command line and in the export', async () => {
		const { out } = await o.cli('sessions', 'list', '--json');
		const id = JSON.parse(out)[0].id;
		for (const args of [
			['sessions', 'show', id],
			['sessions', 'export', id, '--format', 'md'],
		]) {
			const said = await o.cli(...args);
			assert.match(said.out, /Made room: \d+ messages/, `${args.join(' ')}: ${said.err}`);
		}
	});
});
