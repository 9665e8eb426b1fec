// The notes on the scripted kernel: the editor in a real browser.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { browser, fakePage } from './serve.mjs';

let served, chrome, page, errors;

before(async () => {
	served = await fakePage();
	chrome = await browser();
});
after(async () => {
	await chrome?.close();
	await served?.stop();
});

async function visit(scene = '') {
	await page?.context().close();
	const context = await chrome.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
	page = await context.newPage();
	errors = [];
	page.on('pageerror', (e) => errors.push(e.message));
	await page.goto(`${served.url}?fake=1&lang=en&scene=${scene}`);
	await page.getByRole('textbox', { name: 'Message' }).waitFor();
	await page.keyboard.press('Control+Shift+KeyK');
	await page.getByRole('tree', { name: 'Notes' }).waitFor();
}
const item = (name) => page.getByRole('treeitem', { name });
const title = () => page.locator('main h1').innerText();
const text = () => page.locator('.cm-content');
const says = (word) => page.locator('main [role=status]', { hasText: word }).waitFor();

async function journal() {
	await page.keyboard.press('Control+KeyJ');
	await text().waitFor();
}

describe('the notes', () => {
	beforeEach(() => visit());

	it('are gone through and opened with the keys', async () => {
		await item('journal').focus();
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('ArrowRight');
		await page.keyboard.press('ArrowRight');
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Enter');
		await text().waitFor();
		assert.equal(await title(), 'Jeju photos');
		assert.deepEqual(errors, []);
	});

	it('are saved by themselves, ticked with a click, and undone', async () => {
		await item('Broken head').click();
		await text().click();
		await page.keyboard.press('Control+End');
		await page.keyboard.type('- [ ] Milk');
		await says('Not saved');
		await says('Saved');
		await page.keyboard.press('Home');
		await page.keyboard.press('ArrowUp');
		await page.getByRole('checkbox', { name: 'Milk' }).check();
		assert.match(await text().innerText(), /Milk/);
		await says('Saved');
		assert.ok(await page.getByRole('checkbox', { name: 'Milk' }).isChecked());
		await text().focus();
		await page.keyboard.press('Control+KeyZ');
		assert.ok(!(await page.getByRole('checkbox', { name: 'Milk' }).isChecked()));
		assert.deepEqual(errors, []);
	});

	it('show their marks only in the line in which somebody writes', async () => {
		await journal();
		const line = (words) => text().locator('.cm-line', { hasText: words });
		await line('SQLite ships').waitFor();
		assert.equal(await line('Hacker News').innerText(), 'Hacker News, summed up');
		assert.match(await line('SQLite ships').innerText(), /ships WAL2\..* of Oxios design\.$/s);
		await line('SQLite ships').click({ position: { x: 4, y: 4 } });
		assert.match(await line('SQLite ships').innerText(), /\*\*WAL2\*\*.*\[\[Oxios design\]\]/s);
		await page.keyboard.press('Control+Home');
		for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
		assert.match(await line('SQLite ships').innerText(), /ships WAL2\./);
		assert.deepEqual(errors, []);
	});

	it('follow a link, and make the note that is missing', async () => {
		await journal();
		await page.getByText('Oxios design', { exact: true }).first().waitFor();
		await page.locator('.kn-link', { hasText: 'Oxios design' }).click({ modifiers: ['Control'] });
		await page.locator('main h1', { hasText: 'Oxios design' }).waitFor();
		await journal();
		await page.locator('.kn-link', { hasText: 'Zero-knowledge' }).click();
		await page.locator('main h1', { hasText: 'Zero-knowledge proofs' }).waitFor();
		await page.locator('.toast', { hasText: 'was not there' }).waitFor();
		await page.keyboard.press('Control+KeyK'); // what is said can be read and pressed over a dialog too
		await page.locator('dialog .toast').getByRole('button', { name: 'Dismiss' }).click();
		assert.equal(await page.locator('.toast').count(), 0);
		assert.ok(await page.getByRole('combobox').isVisible());
		assert.deepEqual(errors, []);
	});

	it('show where a link leads, and ask, before it leaves', async () => {
		const url = 'https://tickets.example/?q=all-that-is-in-the-vault';
		const asked = [];
		await page.context().route('https://tickets.example/**', (route) => {
			asked.push(route.request().url());
			return route.fulfill({ body: 'tickets' });
		});
		await item('Broken head').click();
		await text().click();
		await page.keyboard.press('Control+End');
		await page.keyboard.type(`See [Tickets](${url}) there`);
		await page.keyboard.press('Enter');
		const dialog = page.getByRole('dialog', { name: 'Open this link?' });
		for (const answer of ['Escape', 'Open']) {
			await page.locator('.kn-link', { hasText: 'Tickets' }).click({ modifiers: ['Control'] });
			await dialog.getByText(url, { exact: true }).waitFor();
			assert.deepEqual(asked, [], 'it left without a question');
			if (answer === 'Escape') await page.keyboard.press('Escape');
			else {
				const [window] = await Promise.all([
					page.context().waitForEvent('page'),
					dialog.getByRole('button', { name: answer, exact: true }).click(),
				]);
				await window.waitForURL(url);
			}
			await dialog.waitFor({ state: 'detached' });
		}
		assert.deepEqual(asked, [url]);
		assert.deepEqual(errors, []);
	});

	it('are written in at once, however they were opened', async () => {
		const typed = async (words) => {
			await page.locator('.cm-content:focus').waitFor();
			await page.keyboard.type(words);
			await says('Saved');
			assert.match(await text().innerText(), new RegExp(`${words}\\s*$`));
		};
		await page.getByRole('button', { name: 'New note' }).first().click();
		await page.keyboard.type('Ferry to Udo');
		await page.keyboard.press('Enter');
		await page.locator('main h1', { hasText: 'Ferry to Udo' }).waitFor();
		await typed('It leaves at half past five.');
		await journal();
		await typed('Rain all day.');
		await page.keyboard.press('Control+KeyO');
		await page.keyboard.type('Ferry');
		await page.getByRole('option', { name: /Ferry to Udo/ }).waitFor();
		await page.keyboard.press('Enter');
		await page.locator('main h1', { hasText: 'Ferry to Udo' }).waitFor();
		await page.locator('.cm-content:focus').waitFor();
		assert.deepEqual(errors, []);
	});

	it('say in the question why a name will not do, and keep what was typed', async () => {
		await page.getByRole('button', { name: 'New note' }).first().click();
		const dialog = page.getByRole('dialog', { name: 'New note' });
		const name = dialog.getByLabel('Name');
		await name.fill('Broken head');
		await dialog.getByLabel('Folder').fill('');
		await page.keyboard.press('Enter');
		await dialog.getByText('is there already').waitFor();
		assert.equal(await name.getAttribute('aria-invalid'), 'true');
		assert.equal(await name.inputValue(), 'Broken head');
		await name.fill('Another head');
		assert.equal(await name.getAttribute('aria-invalid'), null);
		await page.keyboard.press('Enter');
		await dialog.waitFor({ state: 'hidden' });
		assert.equal(await title(), 'Another head');
		assert.deepEqual(errors, []);
	});

	it('complete a name after two brackets', async () => {
		await item('Broken head').click();
		await text().click();
		await page.keyboard.press('Control+End');
		await page.keyboard.type('See [[des');
		await page.getByRole('option', { name: /Oxios design/ }).waitFor();
		await page.locator('.cm-tooltip-autocomplete [aria-selected=true]', { hasText: 'Oxios design' }).waitFor();
		await page.waitForTimeout(150); // the list takes no key before: it may just have come under the hand
		await page.keyboard.press('Enter');
		assert.match(await text().innerText(), /See \[\[Oxios design\]\]/);
	});

	it('are opened by name, and found by a word', async () => {
		await page.keyboard.press('Control+KeyO');
		await page.getByRole('combobox').fill('jeju');
		await page.getByRole('option', { name: /Jeju photos/ }).click();
		await page.locator('main h1', { hasText: 'Jeju photos' }).waitFor();
		await page.locator('.cm-content:focus').waitFor();
		await page.keyboard.press('Control+KeyF');
		await page.keyboard.type('block writers');
		await page.locator('#pane-list mark').waitFor();
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Enter');
		await page.locator('main h1', { hasText: 'WAL' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('keep both texts when another program was faster', async () => {
		await visit('clash');
		await item('Broken head').click();
		await text().click();
		await page.keyboard.press('Control+End');
		await page.keyboard.type('Mine.');
		await page.getByRole('button', { name: 'Keep both' }).click();
		await item('Broken head (mine)').waitFor();
		assert.match(await text().innerText(), /another program/);
		assert.doesNotMatch(await text().innerText(), /Mine\./);
		await item('Broken head (mine)').click();
		await page.locator('.cm-line', { hasText: 'Mine.' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('take in an answer, which is opened with one click', async () => {
		await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Chat' }).click();
		await page.locator('aside nav li .open').nth(3).click();
		await page.getByRole('button', { name: 'Save to the vault' }).last().click();
		await page.locator('.toast', { hasText: 'Answers/' }).getByRole('button', { name: 'Open' }).click();
		await text().waitFor();
		await page.getByRole('button', { name: 'Open the conversation' }).waitFor();
		assert.deepEqual(errors, []);
	});
});
