// Spaces: switched above the conversations, shown and corrected where one writes, proposed, managed. On the scripted kernel,
// and on the real one: found by a word, corrected with one click from which it learns, merged, and that undone.
import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, call, oxios, visit } from './oxios.mjs';
import { browser, fakePage } from './serve.mjs';
import { openView, viewPage } from './views.mjs';

let chrome;
before(async () => {
	chrome = await browser();
});
after(() => chrome?.close());

const message = (page) => page.getByRole('textbox', { name: 'Message', exact: true });
const chip = (page, name) => page.getByRole('button', { name: new RegExp(`^Space: (\\S+ )?${name}\\.`) });
const item = (page, name) => page.getByRole('menuitem', { name });
const lines = (page) => page.locator('aside nav li .open');
const palette = async (page, words) => {
	await page.keyboard.press('Control+KeyK');
	await page.keyboard.insertText(words);
};
const best = (page, text) => page.getByRole('option', { selected: true }).filter({ hasText: text });
const inNote = (page, title) => page.locator('.note', { hasText: title });

describe('spaces on the scripted kernel', () => {
	let served, page, errors;
	before(async () => {
		served = await fakePage();
	});
	after(() => served?.stop());
	const open = async (scene, lang = 'en') => {
		page = await viewPage(chrome, { lang, width: 1280, height: 800 });
		errors = [];
		page.on('pageerror', (e) => errors.push(e.message));
		await openView(page, served.url, { scene }, { theme: 'light', lang });
	};
	afterEach(async () => {
		await page?.context().close();
		assert.deepEqual(errors, [], 'errors in the page');
	});

	it('one of them is looked at by keys alone, and new conversations begin in it', async () => {
		await open();
		await page.getByRole('button', { name: 'Shown: All spaces' }).focus();
		await page.keyboard.press('Enter');
		const work = page.getByRole('menuitemradio', { name: /Work.*2 conversations/ });
		await work.waitFor();
		while (!(await work.evaluate((e) => e === document.activeElement))) await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Enter');
		await page.getByRole('button', { name: 'Shown: 💼 Work' }).waitFor();
		await page.waitForFunction(() => document.querySelectorAll('aside nav li').length === 2);
		assert.equal(await page.locator('aside nav .tag').count(), 0, 'one space needs no tags');
		await chip(page, 'Work').waitFor();
		await message(page).fill('Look around.');
		await message(page).press('Enter');
		await page.waitForFunction(() => document.querySelectorAll('aside nav li').length === 3);
		await chip(page, 'Work').waitFor();
	});

	it('it is found in what is written, says why, and is corrected with one click', async () => {
		await open();
		await chip(page, 'Found by itself').waitFor();
		await message(page).fill('Where do the receipts go?');
		await chip(page, 'Home').click();
		await item(page, /Found by itself.*Home.*By “receipts”/s).waitFor();
		await item(page, /Jeju/).click();
		await chip(page, 'Jeju').waitFor();
		await message(page).press('Enter');
		await page.locator('main h1', { hasText: 'Where do the receipts go?' }).waitFor();
		assert.equal(await page.locator('main .view-head .tag').innerText(), '[🏝️ Jeju]');
		await chip(page, 'Jeju').click();
		await item(page, /Home/).click();
		await page.getByText('Moved to 🧾 Home. Conversations with such words begin there from now on.').waitFor();
		await page.locator('main .view-head .tag', { hasText: '[🧾 Home]' }).waitFor();
	});

	it('a new one is proposed without taking the focus, made, and set up', async () => {
		await open('proposed');
		await lines(page).nth(1).click();
		await page.getByText('This looks like something new: Jeju').waitFor();
		assert.ok(await message(page).evaluate((e) => e === document.activeElement));
		await page.getByRole('button', { name: 'Make the space' }).click();
		await page.getByText('This looks like something new: Jeju').waitFor({ state: 'detached' });
		await page.locator('main .view-head .tag', { hasText: '[Jeju]' }).waitFor();
		await page.getByRole('button', { name: 'Set it up' }).click();
		await page.locator('#pane-side dl').waitFor();
		await page.locator('#pane-side h2', { hasText: 'Jeju' }).waitFor();
	});

	it('what is not wanted is not proposed again', async () => {
		await open('proposed');
		await lines(page).nth(3).click();
		await inNote(page, 'This looks like 🧾 Home').getByRole('button', { name: 'Not now' }).click();
		await inNote(page, 'This looks like 🧾 Home').waitFor({ state: 'detached' });
		await lines(page).nth(5).click();
		await lines(page).nth(3).click();
		await page.locator('main h1', { hasText: 'parser' }).waitFor();
		assert.equal(await inNote(page, 'This looks like').count(), 0);
	});

	it('a conversation is moved from its menu, and back', async () => {
		await open();
		const line = page.locator('aside nav li', { hasText: 'Morning brief' });
		await line.hover();
		await line.getByRole('button', { name: 'Actions for Morning brief' }).click();
		await item(page, 'Move to a space').click();
		await page
			.getByRole('dialog')
			.getByRole('button', { name: /💼 Work/ })
			.click();
		await line.locator('.tag', { hasText: '[💼 Work]' }).waitFor();
		await page.getByRole('button', { name: 'Undo' }).click();
		await line.locator('.tag').waitFor({ state: 'detached' });
	});

	it('the palette switches, moves, makes and manages', async () => {
		await open();
		await palette(page, 'space: jeju');
		await best(page, 'Space: 🏝️ Jeju').waitFor();
		await page.keyboard.press('Enter');
		await page.getByRole('button', { name: 'Shown: 🏝️ Jeju' }).waitFor();
		await lines(page).first().click();
		await palette(page, 'move to default');
		await best(page, 'Move to Default').waitFor();
		await page.keyboard.press('Enter');
		await page.getByText('No conversation is in this space yet.').waitFor();
		await palette(page, 'new space');
		await best(page, 'New space').waitFor();
		await page.keyboard.press('Enter');
		const dialog = page.getByRole('dialog', { name: 'New space' });
		await dialog.getByRole('textbox', { name: 'Name' }).fill('work');
		await page.keyboard.press('Enter');
		await dialog.getByText('There is a space "work" already.').waitFor();
		await dialog.getByRole('textbox', { name: 'Name' }).fill('Garden');
		await dialog.getByRole('button', { name: 'Choose a folder' }).click();
		const folders = page.getByRole('dialog', { name: 'Choose a folder' });
		await folders.getByRole('button', { name: 'Documents' }).click();
		await folders.getByRole('button', { name: 'Receipts' }).waitFor();
		await folders.getByRole('button', { name: 'Use this folder' }).click();
		await dialog.getByText('~/Documents').waitFor();
		await dialog.getByRole('button', { name: 'Make it' }).click();
		await page.locator('#pane-side dl', { hasText: '~/Documents' }).waitFor();
	});

	it('one is edited, and what the kernel refuses stays written', async () => {
		await open('spaces');
		await palette(page, 'manage spaces');
		await page.keyboard.press('Enter');
		await page.locator('table[data-table=spaces]').getByRole('button', { name: 'Jeju' }).click();
		const pane = page.locator('#pane-side');
		await pane.getByRole('button', { name: 'Edit' }).click();
		await pane.getByRole('textbox', { name: 'Name' }).fill('Home');
		await pane.getByRole('textbox', { name: 'Instructions' }).fill('Name photos by day.');
		await pane.getByRole('button', { name: 'Save' }).click();
		await pane.getByText('It is not saved').waitFor();
		await pane.getByRole('textbox', { name: 'Name' }).fill('Islands');
		await page.keyboard.press('Control+Enter');
		await pane.locator('.instructions', { hasText: 'Name photos by day.' }).waitFor();
		await page.locator('table[data-table=spaces]').getByRole('button', { name: 'Islands' }).waitFor();
	});

	it('one whose folder is gone says so, and goes on with another', async () => {
		await open('spaces');
		await palette(page, 'manage spaces');
		await page.keyboard.press('Enter');
		await page.locator('tr', { hasText: 'Tax 2025' }).getByText('folder is gone').waitFor();
		await page.locator('table[data-table=spaces]').getByRole('button', { name: 'Tax 2025' }).click();
		const pane = page.locator('#pane-side');
		await pane.getByText('Its folder is not there any more').waitFor();
		await pane.getByRole('button', { name: 'Use its own folder' }).click();
		await pane.getByText('Its folder is not there any more').waitFor({ state: 'detached' });
		await page.locator('tr', { hasText: 'folder is gone' }).waitFor({ state: 'detached' });
	});

	it('two that share a path are merged as they are proposed to be, and that is undone from the pane', async () => {
		await open('spaces');
		await palette(page, 'manage spaces');
		await page.keyboard.press('Enter');
		await page.getByRole('button', { name: 'See what moves' }).click();
		const dialog = page.getByRole('dialog');
		await dialog.getByText('1 conversation and 0 memories move to 💼 Work.').waitFor();
		await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
		const row = page.locator('tr.line', { hasText: 'Ledger reports' });
		await row.waitFor({ state: 'detached' });
		await page.getByText('Archived 3').click();
		await row.getByRole('button').click();
		await page.locator('#pane-side').getByRole('button', { name: 'Undo the merge' }).click();
		await page.getByText('In use 6').waitFor();
		await row.locator('td').nth(2).filter({ hasText: '1' }).waitFor();
	});

	it('nothing of them is in the way while there is only one', async () => {
		await open('empty');
		assert.equal(await page.locator('.space-switch').count(), 0);
		assert.equal(await page.locator('.space-chip').count(), 0);
		await palette(page, 'manage spaces');
		await page.keyboard.press('Enter');
		await page.getByText('There is one space so far: everything.').waitFor();
	});
});

const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'notes.toml');

describe('spaces on the real kernel', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let o, page, errors;
	const say = async (words) => {
		await message(page).fill(words);
		await message(page).press('Enter');
		await page.getByText('An answer.').last().waitFor();
	};
	const make = async (name, words) => {
		await palette(page, 'new space');
		await best(page, 'New space').waitFor();
		await page.keyboard.press('Enter');
		const dialog = page.getByRole('dialog', { name: 'New space' });
		await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
		await dialog.getByRole('textbox', { name: 'Words' }).fill(words);
		await dialog.getByRole('button', { name: 'Make it' }).click();
		await page.locator('#pane-side h2', { hasText: name }).waitFor();
		await page.locator('#pane-side dl').waitFor();
	};
	const count = async (name) => (await call(page, 'space.get', name)).space.sessions;

	before(async () => {
		o = await oxios(script);
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(() => o?.end());
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('one is made, and a message with its word begins there, in a folder of its own', async () => {
		await make('Bills', 'receipts, invoices');
		await accessible(page);
		await make('Taxes', 'tax office');
		await page.keyboard.press('Control+KeyN');
		await chip(page, 'Found by itself').waitFor();
		await message(page).fill('Sort the receipts of November');
		await chip(page, 'Bills').waitFor();
		await page.getByRole('button', { name: /^Folder: .*\/spaces\/.+\/workspace$/ }).waitFor();
		await message(page).press('Enter');
		await page.getByText('An answer.').last().waitFor();
		await page.getByRole('button', { name: 'Space: Bills. By words of its first message' }).waitFor();
		await page.locator('main .view-head .tag', { hasText: '[Bills]' }).waitFor();
		assert.equal(await count('Bills'), 1);
		await accessible(page);
	});

	it('a wrong one is corrected with one click, and the correction is learned', async () => {
		await page.keyboard.press('Control+KeyN');
		await say('Collect the deductions of grandmother Soonja');
		await chip(page, 'Default').click();
		await item(page, /Taxes/).click();
		await page.getByRole('button', { name: 'Space: Taxes. You chose it' }).waitFor();
		assert.equal(await count('Taxes'), 1);
		await page.keyboard.press('Control+KeyN');
		await message(page).fill('More deductions for Soonja');
		await chip(page, 'Taxes').waitFor();
		await message(page).fill('');
		await palette(page, 'manage spaces');
		await best(page, 'Manage spaces').waitFor();
		await page.keyboard.press('Enter');
		await page.locator('table[data-table=spaces]').getByRole('button', { name: 'Taxes' }).click();
		await page.locator('#pane-side .learned', { hasText: 'soonja' }).waitFor();
	});

	it('a folder that is gone is told, and another one is used', async () => {
		const folder = join(o.dir, 'papers');
		await mkdir(folder);
		const { space } = await call(page, 'space.get', 'Taxes');
		await call(page, 'space.update', space.id, { folder });
		await rm(folder, { recursive: true });
		const pane = page.locator('#pane-side');
		await page.locator('table[data-table=spaces]').getByRole('button', { name: 'Bills' }).click();
		await page.locator('table[data-table=spaces]').getByRole('button', { name: 'Taxes' }).click();
		await pane.getByText('Its folder is not there any more').waitFor();
		await pane.getByRole('button', { name: 'Use its own folder' }).click();
		await pane.getByText('Its folder is not there any more').waitFor({ state: 'detached' });
	});

	it('one is activated, shown before a message is sent, and deactivated', async () => {
		const pane = page.locator('#pane-side');
		const row = page.locator('table[data-table=spaces] tr', { hasText: 'Taxes' });
		await pane.getByRole('button', { name: 'Activate', exact: true }).click();
		await pane.getByText('This space is active').waitFor();
		await row.getByText('Active', { exact: true }).waitFor();
		await accessible(page);
		await page.reload();
		await page.keyboard.press('Control+KeyN');
		await page.getByRole('button', { name: 'Space: Taxes. The active space' }).waitFor();
		await message(page).fill('What can you do?');
		await message(page).press('Enter');
		await page.locator('main .view-head .tag', { hasText: '[Taxes]' }).waitFor();
		await page.getByRole('button', { name: 'Space: Taxes. The active space' }).waitFor();
		await page.keyboard.press('Control+KeyN');
		await message(page).fill('The receipts of December');
		await chip(page, 'Bills').waitFor();
		await message(page).fill('');
		await palette(page, 'manage spaces');
		await best(page, 'Manage spaces').waitFor();
		await page.keyboard.press('Enter');
		await page.locator('table[data-table=spaces]').getByRole('button', { name: 'Taxes' }).click();
		await pane.getByRole('button', { name: 'Deactivate', exact: true }).click();
		await pane.getByText('This space is active').waitFor({ state: 'detached' });
		const [made] = await call(page, 'state.sessions', { space: (await call(page, 'space.get', 'Taxes')).space.id });
		assert.equal(made.title, 'What can you do');
		await call(page, 'state.deleteSession', made.id);
	});

	it('one keeps its memories to itself until the person shares them', async () => {
		const pane = page.locator('#pane-side');
		await pane.getByText('kept to this space').waitFor();
		await pane.getByRole('button', { name: 'Edit' }).click();
		await pane.getByRole('switch', { name: 'Share its memories with other spaces' }).click();
		await pane.getByRole('button', { name: 'Save' }).click();
		await pane.getByText('shared with other spaces').waitFor();
		assert.equal((await call(page, 'space.get', 'Taxes')).space.shared, true);
	});

	it('one is merged into another, which is undone', async () => {
		await page.locator('#pane-side').getByRole('button', { name: 'Merge into…' }).click();
		const dialog = page.getByRole('dialog');
		await dialog.getByRole('combobox', { name: 'Into' }).selectOption({ label: 'Bills' });
		await dialog.getByText('1 conversation and 0 memories move to Bills.').waitFor();
		await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
		await page.getByText('Taxes is part of Bills now').waitFor();
		assert.equal(await count('Bills'), 2);
		await page.getByRole('button', { name: 'Undo', exact: true }).click();
		await page.getByText('Taxes is back, with 1 conversation').waitFor();
		assert.deepEqual([await count('Bills'), await count('Taxes')], [1, 1]);
	});

	it('one is archived and restored, and one with something in it is not removed', async () => {
		const pane = page.locator('#pane-side');
		await pane.getByRole('button', { name: 'Remove…' }).click();
		await page.getByRole('dialog', { name: 'Taxes is not empty' }).getByRole('button', { name: 'Archive' }).click();
		await pane.getByText('This space is archived').waitFor();
		await pane.getByRole('button', { name: 'Restore' }).click();
		await pane.getByText('This space is archived').waitFor({ state: 'detached' });
		assert.equal(await count('Taxes'), 1);
	});

	it('what is looked at is remembered', async () => {
		await page.keyboard.press('Control+KeyN');
		await page.locator('.space-switch').click();
		await page.getByRole('menuitemradio', { name: /Bills/ }).click();
		await page.waitForFunction(() => document.querySelectorAll('aside nav li').length === 1);
		await page.reload();
		await page.getByRole('button', { name: 'Shown: Bills' }).waitFor();
		await page.waitForFunction(() => document.querySelectorAll('aside nav li').length === 1);
	});
});
