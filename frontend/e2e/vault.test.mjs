// What is around a note: its versions, the trash, the graph and what names it. On the scripted kernel and on the real one.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { browser, fakePage, palette } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const dialog = (page) => page.getByRole('dialog');

describe('around the notes', () => {
	let served, chrome, page, errors;
	before(async () => {
		served = await fakePage();
		chrome = await browser();
	});
	after(async () => {
		await chrome?.close();
		await served?.stop();
	});
	beforeEach(async () => {
		await page?.context().close();
		const context = await chrome.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
		page = await context.newPage();
		errors = [];
		page.on('pageerror', (e) => errors.push(e.message));
		await page.goto(`${served.url}?fake=1&lang=en`);
		await page.getByRole('textbox', { name: 'Message' }).waitFor();
		await page.keyboard.press('Control+Shift+KeyK');
		await page.getByRole('tree', { name: 'Notes' }).waitFor();
		await page.keyboard.press('Control+KeyJ');
		await page.locator('.cm-content').waitFor();
	});

	it('a version is compared with now by the keys, restored, and that taken back', async () => {
		await page.getByRole('button', { name: 'Versions', exact: true }).click();
		const list = dialog(page).getByRole('list', { name: 'Versions, the newest first' });
		await list.getByRole('button').nth(1).focus();
		await page.keyboard.press('ArrowDown');
		await dialog(page).getByRole('group', { name: 'What has changed since then' }).locator('.add').first().waitFor();
		await dialog(page).getByRole('button', { name: 'Restore this version' }).click();
		await page.locator('.cm-content', { hasText: 'To read' }).waitFor({ state: 'detached' });
		await page.locator('.toast', { hasText: 'again as it was' }).getByRole('button', { name: 'Undo' }).click();
		await page.locator('.cm-content', { hasText: 'To read' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('a rename is foretold before it is done', async () => {
		await page.getByRole('treeitem', { name: 'projects' }).click();
		await page.getByRole('treeitem', { name: 'Oxios design' }).click();
		await page.locator('main h1 button', { hasText: 'Oxios design' }).click();
		const name = dialog(page).getByRole('textbox', { name: 'Name' });
		await name.fill('Jeju photos');
		await dialog(page).getByText('is there already').waitFor();
		assert.ok(await dialog(page).getByRole('button', { name: 'Rename', exact: true }).isDisabled());
		await name.fill('Plan');
		await dialog(page).getByText('1 link in 1 note will be rewritten.').waitFor();
		await page.keyboard.press('Enter');
		await page.locator('main h1', { hasText: 'Plan' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('the graph has a list that says the same, and opens what is chosen', async () => {
		await page.getByRole('tab', { name: 'Links' }).focus();
		await page.keyboard.press('ArrowRight');
		await page.getByRole('img', { name: /^Graph around/ }).waitFor();
		const list = page.getByRole('list', { name: 'As a list' });
		await list.getByRole('button', { name: /Zero-knowledge proofs/ }).waitFor();
		await list.getByRole('button', { name: /Oxios design/ }).click();
		await page.locator('main h1', { hasText: 'Oxios design' }).waitFor();
		await palette(page, 'Graph of all notes');
		await dialog(page).locator('.node.missing').first().click();
		await page.locator('main h1', { hasText: 'Zero-knowledge proofs' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('what is wrong is listed, and opened at its line', async () => {
		await page.getByRole('button', { name: 'More of the notes' }).click();
		await page.getByRole('menuitem', { name: 'Check the notes' }).click();
		await dialog(page).getByText('Links that lead nowhere').waitFor();
		await dialog(page)
			.getByRole('button', { name: /Broken head/ })
			.click();
		await page.locator('main h1', { hasText: 'Broken head' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('a folder is looked through before it is copied', async () => {
		await palette(page, 'Import a folder');
		const copy = dialog(page).getByRole('button', { name: 'Copy', exact: true });
		await dialog(page).getByRole('textbox', { name: 'Folder' }).fill('Obsidian');
		await page.keyboard.press('Enter');
		await dialog(page).getByText('cannot be taken over').waitFor();
		assert.ok(await copy.isDisabled());
		await dialog(page).getByRole('textbox', { name: 'Folder' }).fill('/home/me/Obsidian');
		await page.keyboard.press('Enter');
		await dialog(page).getByText('214 files would be copied (3.4 MB).').waitFor();
		await copy.click();
		await page.locator('.toast', { hasText: '214 files were copied.' }).waitFor();
		assert.deepEqual(errors, []);
	});
});

describe('around the notes, on the real kernel', { skip }, () => {
	let o, page, errors, chrome;
	before(async () => {
		o = await oxios();
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	const vault = (name) => join(o.home, 'knowledge', name);

	it('a deleted note comes back from the trash, and an older version of it', async () => {
		await o.cli('vault', 'append', 'Plan', 'First thought.');
		await o.cli('vault', 'history', 'Plan');
		await o.cli('vault', 'append', 'Plan', 'Second thought.');
		await o.cli('vault', 'append', 'Other', 'About the plan.');
		await page.keyboard.press('Control+Shift+KeyK');
		await page.getByRole('treeitem', { name: 'Plan' }).click();
		await page.locator('.cm-content', { hasText: 'Second thought' }).waitFor();

		await page.getByRole('button', { name: 'Link it in Other' }).click();
		await page.getByText('1 link leads here').waitFor();
		assert.equal(readFileSync(vault('Other.md'), 'utf8'), 'About the [[Plan|plan]].\n');

		await page.getByRole('button', { name: 'Actions for this note' }).click();
		await page.getByRole('menuitem', { name: 'Delete' }).click();
		await dialog(page).getByRole('button', { name: 'Delete' }).click();
		await page.getByRole('treeitem', { name: 'Plan' }).waitFor({ state: 'detached' });
		assert.ok(!existsSync(vault('Plan.md')));
		await page.getByRole('button', { name: 'Trash', exact: true }).click();
		await dialog(page).getByText('Deleted by you').waitFor();
		await accessible(page);
		await dialog(page).getByRole('button', { name: 'Restore: Plan' }).click();
		await dialog(page).getByText('The trash is empty.').waitFor();
		assert.equal(readFileSync(vault('Plan.md'), 'utf8'), 'First thought.\nSecond thought.\n');
		await page.keyboard.press('Escape');

		await page.getByRole('button', { name: 'Versions', exact: true }).click();
		const list = dialog(page).getByRole('list', { name: 'Versions, the newest first' });
		await list.getByRole('button').last().click();
		await dialog(page).locator('.diff .add', { hasText: 'Second thought' }).waitFor();
		await accessible(page);
		await dialog(page).getByRole('button', { name: 'Restore this version' }).click();
		await page.locator('.toast', { hasText: 'again as it was' }).waitFor();
		assert.equal(readFileSync(vault('Plan.md'), 'utf8'), 'First thought.\n');
		assert.deepEqual(errors, []);
	});
});
