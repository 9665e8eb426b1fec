// The quick prompt's page on the scripted kernel, in a real browser: its keys, and what it shows. Its window is tested in Go.
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
beforeEach(async () => {
	await page?.context().close();
	page = await (await chrome.newContext({ viewport: { width: 660, height: 620 }, locale: 'en' })).newPage();
	errors = [];
	page.on('pageerror', (e) => errors.push(e.message));
	// Stands for the window, and notes what is asked of it.
	await page.addInitScript(() => {
		window.asked = [];
		const note =
			(name, answer = '') =>
			(args) => (window.asked.push([name, ...JSON.parse(args)]), Promise.resolve(answer));
		const quick = { Ready: note('ready', 'false'), Resize: note('resize'), Hide: note('hide'), Open: note('open') };
		window.go = { desktop: { Quick: quick } };
	});
	await page.goto(`${served.url}?fake=1&quick=1`);
	await field().waitFor();
});

const field = () => page.getByRole('textbox', { name: 'Message' });
const log = () => page.getByRole('log', { name: 'Conversation' });
const asked = async (name) => (await page.evaluate(() => window.asked)).filter(([n]) => n === name);
const ask = async (text) => {
	await field().fill(text);
	await page.keyboard.press('Enter');
};

describe('the quick prompt', () => {
	it('answers in place, grows with the answer, and asks on', async () => {
		assert.ok(await field().evaluate((e) => e === document.activeElement));
		await ask('Look around.');
		await log().getByText('12 files here').waitFor();
		await page.getByPlaceholder('Ask on').waitFor();
		assert.ok(await field().evaluate((e) => e === document.activeElement), 'the field to ask on has the focus');
		const heights = (await asked('resize')).map(([, h]) => h);
		assert.ok(heights.at(-1) > heights[0], `got heights ${heights}`);
		await page.keyboard.type('And more?');
		await page.keyboard.press('Enter');
		await page.getByRole('heading', { name: 'And more?' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('hands the conversation over with Ctrl Enter', async () => {
		await page.keyboard.press('Control+Enter');
		assert.deepEqual(await asked('open'), [['open', '']]);
		await ask('Look around.');
		await page.getByRole('heading', { name: 'Look around.' }).waitFor();
		await page.keyboard.press('Control+Enter');
		const [, [, id]] = await asked('open');
		assert.ok(id, 'the conversation is named');
		// What is written goes out first.
		await field().fill('One thing more');
		await page.keyboard.press('Control+Enter');
		await page.waitForFunction(() => window.asked.filter(([n]) => n === 'open').length === 3);
		assert.equal(await field().inputValue(), '');
	});

	it('gives Esc to the composition, then to a link, then to the text, and hides at last', async () => {
		await ask('Look around.');
		await log().getByRole('button', { name: 'the guide' }).click();
		await page.getByText('https://example.org/guide').waitFor();
		await field().fill('안녕하세');
		const press = (init) =>
			field().evaluate(
				(e, i) => e.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...i })),
				init,
			);
		await press({ code: 'Escape', key: 'Escape', isComposing: true });
		await press({ code: 'Enter', key: 'Enter', isComposing: true });
		assert.equal(await field().inputValue(), '안녕하세');
		await page.getByText('https://example.org/guide').waitFor();
		await page.keyboard.press('Escape');
		await page.getByText('https://example.org/guide').waitFor({ state: 'detached' });
		assert.equal(await field().inputValue(), '안녕하세');
		await page.keyboard.press('Escape');
		assert.equal(await field().inputValue(), '');
		assert.deepEqual(await asked('hide'), []);
		await page.keyboard.press('Escape');
		assert.equal((await asked('hide')).length, 1);
	});

	it('says that something waits, and leads to it instead of deciding', async () => {
		await ask('push');
		await page.getByText(/^Waits for you/).waitFor();
		assert.equal(await page.getByRole('button', { name: /Approve|Deny/ }).count(), 0);
		await page.getByRole('button', { name: 'Review' }).click();
		assert.equal((await asked('open')).length, 1);
	});

	it('stops, and tells a failure in words', async () => {
		await ask('Speak for long.');
		await page.getByRole('button', { name: 'Stop' }).click();
		await page.getByText('You stopped it').waitFor();
		await ask('fail');
		await page.getByText('The run failed').waitFor();
		await page.getByText(/Your message is kept/).waitFor();
	});
});
