// The folder of the notes and the journal as the settings show them, on the real kernel.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';

describe('the folder of the notes', { skip }, () => {
	let o, chrome, page, errors, theirs;
	const own = () => join(o.home, 'knowledge');
	before(async () => {
		o = await oxios();
		theirs = join(o.dir, 'Obsidian');
		mkdirSync(theirs);
		writeFileSync(join(theirs, 'Sparrows.md'), '# Sparrows\n\nThey nest under the roof.\n');
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});

	async function section() {
		await page.keyboard.press('Control+Comma');
		await page.locator('aside nav button[data-section=knowledge]').click();
	}

	async function choose(path) {
		await page.getByRole('button', { name: 'Choose another…' }).click();
		await page.getByRole('dialog').getByRole('textbox').fill(path);
		await page.getByRole('dialog').getByRole('button', { name: 'Use this folder' }).click();
	}

	it('another folder is used at once, and what was typed in a note of the old one is written before', async () => {
		await page.keyboard.press('Control+Shift+KeyK');
		await page.keyboard.press('Control+KeyJ');
		const editor = page.locator('.cm-content');
		await editor.waitFor();
		await editor.press('Control+End');
		await page.keyboard.type('Written a moment ago.');
		await section();
		await page.getByText('1 note · every change kept in its history').waitFor();
		await accessible(page);
		await choose(theirs);
		await page.getByText('1 note · no history in git').waitFor();
		const day = await o.cli('vault', 'tree');
		assert.match(day.out, /Sparrows/);
		await page.getByRole('button', { name: 'Show the notes' }).click();
		await page.getByRole('treeitem', { name: 'Sparrows' }).click();
		await page.locator('.cm-content', { hasText: 'under the roof' }).waitFor();
		const { out } = await o.cli('config', 'get', 'vault_folder');
		assert.match(out, /Obsidian/);
		const files = readdirSync(join(own(), 'journal'));
		assert.match(readFileSync(join(own(), 'journal', files[0]), 'utf8'), /Written a moment ago\./);
		assert.ok(!existsSync(join(theirs, '.git')));
	});

	it('the note of today is shown as the journal will make it', async () => {
		await section();
		await page.getByRole('textbox', { name: 'Folder in the notes' }).fill('days');
		await page.getByRole('textbox', { name: 'What a new one begins with' }).fill('# {{title}}\n\nGood morning.');
		await page.locator('.day', { hasText: 'Good morning.' }).waitFor();
		const path = await page.locator('.day .path').textContent();
		assert.match(path, /^days\/\d{4}-\d\d-\d\d\.md$/);
		await page.getByRole('button', { name: 'Save', exact: true }).click();
		await page.getByRole('button', { name: 'Save', exact: true }).waitFor({ state: 'detached' });
		await o.cli('vault', 'journal', 'First line.');
		assert.match(readFileSync(join(theirs, path), 'utf8'), /Good morning\.\n+First line\./);
	});

	it('a folder that went is said, and one that cannot be used changes nothing', async () => {
		const refused = await o.cli('config', 'set', 'vault_folder', join(o.dir, 'nowhere'));
		assert.notEqual(refused.code, 0);
		assert.match(refused.err, /There is no folder/);
		renameSync(theirs, `${theirs} off`);
		await page.locator('aside nav button[data-section=about]').click();
		await section();
		await page.locator('.bad', { hasText: 'is not there' }).waitFor();
		await page.getByRole('button', { name: 'Back to Oxios’s own' }).click();
		await page.getByText('every change kept in its history').waitFor();
		assert.deepEqual(errors, []);
	});
});
