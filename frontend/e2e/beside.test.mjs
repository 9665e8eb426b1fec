// Two notes side by side, what an agent did to an open note, asking about it, and moving in the tree. On the scripted
// kernel and on the real one.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { accessible, begin, binary, call, oxios, visit } from './oxios.mjs';
import { browser, fakePage } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'beside.toml');

let page, errors;
const dialog = () => page.getByRole('dialog');
const item = (name) => page.getByRole('treeitem', { name });
const side = (name) => page.locator('main section').filter({ has: page.locator('h1', { hasText: name }) });
const titles = () => page.locator('main h1').allInnerTexts();
const focused = () => page.evaluate(() => document.activeElement?.closest('section')?.getAttribute('aria-label'));
const untilTitles = (...names) =>
	page.waitForFunction(
		(want) => [...document.querySelectorAll('main h1')].map((h) => h.textContent.trim()).join('|') === want,
		names.join('|'),
	);

describe('notes side by side', () => {
	let served, chrome;
	before(async () => {
		served = await fakePage();
		chrome = await browser();
	});
	after(async () => {
		await chrome?.close();
		await served?.stop();
	});
	const open = async ({ scene = '', width = 1280 } = {}) => {
		await page?.context().close();
		const context = await chrome.newContext({ viewport: { width, height: 800 }, locale: 'en' });
		page = await context.newPage();
		errors = [];
		page.on('pageerror', (e) => errors.push(e.message));
		await page.goto(`${served.url}?fake=1&lang=en&scene=${scene}`);
		await page.getByRole('textbox', { name: 'Message' }).waitFor();
		await page.keyboard.press('Control+Shift+KeyK');
	};
	const tree = () => page.getByRole('tree', { name: 'Notes' }).waitFor();
	beforeEach(async () => {
		await open();
		await tree();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('are made by a key, opened from the tree and from links, and closed', async () => {
		await page.keyboard.press('Control+KeyJ');
		await page.locator('.cm-content').click();
		const journal = (await titles())[0];
		await page.keyboard.press('Control+Backslash');
		await untilTitles(journal, journal);
		await page.locator('.cm-content').nth(1).waitFor();
		await item('Broken head').click();
		await untilTitles(journal, 'Broken head');
		await item('projects').click();
		await item('Jeju photos').click({ modifiers: ['Control'] });
		await untilTitles('Jeju photos', 'Broken head');
		await item(journal).click();
		await untilTitles(journal, 'Broken head');
		const link = side(journal).locator('.kn-link', { hasText: 'Oxios design' });
		await link.click({ modifiers: ['Control', 'Alt'] });
		await untilTitles(journal, 'Oxios design');
		await side('Oxios design').getByRole('button', { name: 'Close this side' }).click();
		await untilTitles(journal);
		await accessible(page);
	});

	it('have one text where both show one note, and an undo each', async () => {
		await item('Broken head').click();
		await page.locator('.cm-content').click();
		await page.keyboard.press('Control+Backslash');
		const [one, two] = [page.locator('.cm-content').first(), page.locator('.cm-content').nth(1)];
		await two.click();
		await page.keyboard.press('Control+End');
		await page.keyboard.type('From the right.');
		await one.getByText('From the right.').waitFor();
		await one.click();
		await page.keyboard.press('Control+End');
		await page.keyboard.type(' From the left.');
		await two.getByText('From the right. From the left.').waitFor();
		await page.locator('main [role=status]', { hasText: 'Saved' }).nth(1).waitFor({ state: 'attached' });
		await page.keyboard.press('Control+KeyZ');
		await two.getByText('From the left.').waitFor({ state: 'detached' });
		assert.equal(await page.locator('.note.wait').count(), 0);
	});

	it('are gone between, and their widths changed, with the keys', async () => {
		await item('Broken head').click();
		await page.locator('.cm-content').click();
		await page.keyboard.press('Control+Backslash');
		await page.locator('.cm-content').nth(1).waitFor();
		await page.keyboard.press('Control+KeyJ');
		const journal = await page.locator('main h1').nth(1).innerText();
		await untilTitles('Broken head', journal);
		await page.keyboard.press('F6');
		await page.waitForFunction(() => document.activeElement?.closest('section')?.id === 'note-side-0');
		assert.equal(await focused(), 'Broken head');
		await page.keyboard.press('F6');
		await page.waitForFunction(() => document.activeElement?.closest('section')?.id === 'note-side-1');
		const bar = page.getByRole('separator', { name: 'Width of the first side' });
		const width = async () => (await page.locator('#note-side-0').boundingBox()).width;
		const before = await width();
		await bar.focus();
		await page.keyboard.press('Shift+ArrowRight');
		assert.ok((await width()) > before + 40);
		const at = await bar.boundingBox();
		await page.mouse.move(at.x + 3, 400);
		await page.mouse.down();
		await page.mouse.move(at.x - 120, 400, { steps: 4 });
		await page.mouse.up();
		assert.ok((await width()) < before);
		await accessible(page);
	});

	it('are shown one at a time in a narrow window', async () => {
		await open({ width: 900 });
		await page.keyboard.press('Control+KeyJ');
		await page.locator('.cm-content').click();
		const [journal] = await titles();
		await page.keyboard.press('Control+Backslash');
		await page.getByRole('button', { name: 'Show the other side', exact: false }).waitFor();
		await page.keyboard.press('Control+KeyO');
		await page.getByRole('combobox').fill('jeju');
		await page.getByRole('option', { name: /Jeju photos/ }).click();
		await untilTitles('Jeju photos');
		await page.getByRole('button', { name: `Show the other side: ${journal}` }).click();
		await untilTitles(journal);
		await page.setViewportSize({ width: 1280, height: 800 });
		await untilTitles(journal, 'Jeju photos');
	});

	it('say quietly what an agent did, show it and take it back, and the cursor stays', async () => {
		await open({ scene: 'edited' });
		await tree();
		await item('Broken head').click();
		await page.locator('.cm-content').click();
		await page.locator('main').getByText('An agent changed this note', { exact: true }).waitFor();
		assert.ok(await page.evaluate(() => document.activeElement?.classList.contains('cm-content')));
		await page.locator('.cm-content', { hasText: '3 photos are left' }).waitFor();
		await page.getByRole('button', { name: 'Show', exact: true }).click();
		await page.getByRole('group', { name: 'What the agent changed' }).locator('.add').first().waitFor();
		await accessible(page);
		await page.getByRole('button', { name: 'Undo', exact: true }).click();
		await page.locator('.cm-content', { hasText: '3 photos' }).waitFor({ state: 'detached' });
		await page.getByText('An agent changed this note', { exact: true }).waitFor({ state: 'detached' });
		await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
		await page.locator('.cm-content', { hasText: '3 photos are left' }).waitFor();
	});

	it('show how the text of the person differs from theirs', async () => {
		await open({ scene: 'clash' });
		await tree();
		await item('Broken head').click();
		await page.locator('.cm-content').click();
		await page.keyboard.press('Control+End');
		await page.keyboard.type('Mine.');
		await page.getByRole('button', { name: 'Show the difference' }).click();
		const diff = page.getByRole('group', { name: 'From yours to theirs' });
		await diff.locator('.del', { hasText: 'Mine.' }).waitFor();
		await diff.locator('.add', { hasText: 'another program' }).waitFor();
	});

	it('are asked about: at once, or from the message that is written', async () => {
		await item('Broken head').click();
		const field = page.getByRole('textbox', { name: 'Ask about this note' });
		await field.fill('What is wrong with it?');
		// The Enter that ends a syllable sends nothing.
		await field.dispatchEvent('keydown', { key: 'Enter', code: 'Enter', keyCode: 229, isComposing: true });
		await field.press('Enter');
		await page.locator('.sent', { hasText: 'Broken head' }).waitFor();
		await page.locator('main').getByText('What is wrong with it?').first().waitFor();
		await page.keyboard.press('Control+Shift+KeyK');
		await page.getByRole('button', { name: 'Actions for this note' }).click();
		await page.getByRole('menuitem', { name: 'Ask about this note…' }).click();
		await page.locator('.composer .att', { hasText: 'Broken head' }).waitFor();
		assert.ok(await page.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'));
	});

	it('are moved by dragging onto a folder, and back', async () => {
		await item('Broken head').click();
		const [from, to] = [await item('Broken head').boundingBox(), await item('reading').boundingBox()];
		await page.mouse.move(from.x + 40, from.y + 16);
		await page.mouse.down();
		await page.mouse.move(to.x + 60, to.y + 16, { steps: 5 });
		await page.locator('li.into', { hasText: 'reading' }).waitFor();
		await page.mouse.up();
		await page.locator('[data-path="reading/Broken head.md"]').waitFor();
		await untilTitles('Broken head');
		await page.locator('.toast', { hasText: 'is in reading now' }).getByRole('button', { name: 'Undo' }).click();
		await page.locator('[data-path="Broken head.md"]').waitFor();
	});

	it('and folders are renamed, moved, made and deleted with the keys', async () => {
		await item('journal').focus();
		await page.keyboard.press('End');
		await page.keyboard.press('Shift+F10');
		await page.getByRole('menuitem', { name: 'Move to…' }).click();
		await dialog().getByRole('combobox', { name: 'Folder' }).fill('projects/old');
		await dialog().getByText('No link has to be rewritten.').waitFor();
		await page.keyboard.press('Enter');
		await page.locator('[data-path="projects/old/Broken head.md"]').waitFor();

		await item('journal').focus();
		await page.keyboard.press('F2');
		await dialog().getByRole('textbox', { name: 'Name' }).fill('diary');
		await page.keyboard.press('Enter');
		await item('diary').waitFor();

		await item('reading').focus();
		await page.keyboard.press('Shift+F10');
		await page.getByRole('menuitem', { name: 'New folder…' }).click();
		await dialog().getByRole('textbox').fill('later');
		await page.keyboard.press('Enter');
		await page.locator('[data-path="reading/later"]').waitFor();

		await item('projects').focus();
		await page.keyboard.press('Delete');
		await dialog()
			.getByText(/notes in it go into the trash/)
			.waitFor();
		await dialog().getByRole('button', { name: 'Delete' }).click();
		await page.locator('[data-path="projects"]').waitFor({ state: 'detached' });
		await page.locator('.toast', { hasText: 'projects was deleted' }).getByRole('button', { name: 'Undo' }).click();
		await page.locator('[data-path="projects"]').waitFor();
		await accessible(page);
	});
});

describe('notes side by side, on the real kernel', { skip }, () => {
	let o, chrome, address;
	const vault = (name) => join(o.home, 'knowledge', name);
	const text = (name) => readFileSync(vault(name), 'utf8');
	const until = async (what, ok) => {
		for (const end = Date.now() + 15_000; Date.now() < end; await new Promise((r) => setTimeout(r, 50))) {
			if (ok()) return;
		}
		assert.fail(`not within 15 s: ${what}`);
	};
	const bar = () => page.locator('main').getByText('An agent changed this note', { exact: true });
	before(async () => {
		o = await oxios(script);
		chrome = await browser();
		address = await o.serve();
		({ page, errors } = await visit(chrome, address));
		await begin(page);
		await o.cli('vault', 'append', 'Plan', 'First thought.');
		await o.cli('vault', 'append', 'work/Other', 'About the [[Plan]].');
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('what an agent does to the open note is shown and taken back, byte for byte', async () => {
		await page.keyboard.press('Control+Shift+KeyK');
		await item('Plan').click();
		await page.locator('.cm-content').click();
		const { hash } = await call(page, 'knowledge.read', 'Plan');
		for (const words of ['Add to Plan: Second thought.', `Write Plan anew over ${hash}: Another plan.`]) {
			await call(page, 'agents.submit', { text: words });
			await bar().waitFor();
			await page.getByRole('button', { name: 'Show', exact: true }).click();
			await page.locator('.bars .diff .add').first().waitFor();
			assert.ok(await page.getByRole('button', { name: 'Open the conversation' }).first().isVisible());
			await accessible(page);
			await page.locator('.bars').getByRole('button', { name: 'Undo' }).click();
			await until('the note is as it was', () => text('Plan.md') === 'First thought.\n');
			await bar().waitFor({ state: 'detached' });
		}
	});

	it('what an agent does while the person writes waits for them', async () => {
		await page.locator('.cm-content').click();
		await page.keyboard.press('Control+End');
		await page.keyboard.type('Mine.');
		await until('it is saved', () => text('Plan.md').includes('Mine.'));
		await call(page, 'agents.submit', { text: 'Add to Plan: Theirs.' });
		await bar().waitFor();
		await page.locator('.cm-content', { hasText: 'Theirs.' }).waitFor();
		await page.keyboard.type(' More of mine.');
		await until('both are there', () => /Mine\. More of mine\.[\s\S]*Theirs\./.test(text('Plan.md')));
		assert.equal(await page.locator('.bars').getByRole('button', { name: 'Undo' }).count(), 0);
		await page.locator('.bars').getByRole('button', { name: 'Dismiss' }).click();
		await bar().waitFor({ state: 'detached' });
	});

	it('what is open on both sides is there again after a restart', async () => {
		await page.keyboard.press('Control+Backslash');
		await page.locator('.cm-content').nth(1).waitFor();
		await item('work').click();
		await item('Other').click();
		await untilTitles('Plan', 'Other');
		await o.server.stop();
		const next = await o.serve();
		await page.context().close();
		({ page, errors } = await visit(chrome, next));
		await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
		await page.keyboard.press('Control+Shift+KeyK');
		await untilTitles('Plan', 'Other');
		await page.locator('.cm-content').nth(1).waitFor();
		await accessible(page);
	});

	it('a note is moved with its links foretold, and a folder goes into the trash', async () => {
		await item('Plan').focus();
		await page.keyboard.press('Shift+F10');
		await page.getByRole('menuitem', { name: 'Move to…' }).click();
		await dialog().getByRole('combobox', { name: 'Folder' }).fill('work');
		await dialog().locator('.says p').first().waitFor();
		await page.keyboard.press('Enter');
		await until('it is moved', () => existsSync(vault('work/Plan.md')) && !existsSync(vault('Plan.md')));
		await dialog().waitFor({ state: 'hidden' });
		await page.waitForFunction(() => document.activeElement?.getAttribute('data-path') === 'work/Plan.md');
		await untilTitles('Plan', 'Other');
		await item('work').focus();
		await page.keyboard.press('Delete');
		await dialog().getByRole('button', { name: 'Delete' }).click();
		await until('the folder is gone', () => !existsSync(vault('work')));
		await page.locator('.toast', { hasText: 'work was deleted' }).getByRole('button', { name: 'Undo' }).click();
		await until('it is back', () => existsSync(vault('work/Plan.md')) && existsSync(vault('work/Other.md')));
	});

	it('a question about a note begins a conversation that has read it', async () => {
		await item('Other').click();
		await page.locator('.cm-content', { hasText: 'About the' }).waitFor();
		await page.getByRole('textbox', { name: 'Ask about this note' }).fill('What is it about?');
		await page.keyboard.press('Enter');
		await page.locator('.sent', { hasText: 'Other' }).waitFor();
		await page.getByRole('log').getByText('An answer.').waitFor();
		const [session] = await call(page, 'state.sessions', { limit: 1 });
		const { runs } = await call(page, 'state.session', session.id);
		const labels = await call(page, 'security.labels', { run_id: runs[0].run.id });
		assert.ok(labels.some((l) => l.text === 'the note work/Other.md' && l.sensitive));
	});
});
