// The page on the scripted kernel: what a person does with it, in a real browser.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { answer, browser, fakePage, tryDemo } from './serve.mjs';

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
	const context = await chrome.newContext({
		viewport: { width: 1280, height: 800 },
		reducedMotion: 'reduce',
		locale: 'en',
	});
	page = await context.newPage();
	errors = [];
	page.on('pageerror', (e) => errors.push(e.message));
});

async function open(query = '') {
	await page.goto(`${served.url}?fake=1${query}`);
	await page.getByRole('textbox', { name: 'Message' }).waitFor();
}

const message = () => page.getByRole('textbox', { name: 'Message' });
const log = () => page.getByRole('log', { name: 'Conversation' });
const card = () => page.getByRole('alertdialog');
const say = async (text) => {
	await message().fill(text);
	await message().press('Enter');
};

describe('chat', () => {
	it('streams an answer, shows its steps and its footer', async () => {
		await open('&scene=empty');
		await say('Look around.');
		await log().getByText('12 files here').waitFor();
		await log().getByText('Listed 12 files').waitFor();
		await log().getByText('free', { exact: true }).waitFor();
		assert.equal(await log().locator('table').count(), 1);
		assert.deepEqual(errors, []);
	});

	it('keeps a link from opening by itself', async () => {
		await open('&scene=empty');
		await say('Look around.');
		await log().getByRole('button', { name: 'the guide' }).click();
		await page.getByRole('dialog').getByText('https://example.org/guide').waitFor();
		assert.equal(page.context().pages().length, 1);
	});

	it('stops with Esc, keeps what came, and offers to go on', async () => {
		await open('&scene=empty');
		await say('Speak for long.');
		await log().getByText('Paragraph 3').waitFor();
		await page.keyboard.press('Escape');
		await log().getByText('You stopped it').waitFor();
		assert.ok((await log().innerText()).includes('Paragraph 3'));
		await log().getByRole('button', { name: 'Continue' }).waitFor();
	});

	it('queues what is said meanwhile, and takes it back', async () => {
		await open('&scene=empty');
		await say('Speak for long.');
		await page.getByRole('button', { name: 'Stop' }).waitFor();
		await say('And then this.');
		await page.getByText('And then this.').waitFor();
		await page.getByRole('button', { name: 'Take back' }).click();
		await page.getByText('And then this.').waitFor({ state: 'detached' });
	});

	it('says what failed, what was kept and what to do', async () => {
		await open('&scene=empty');
		await say('Please fail.');
		await log().getByText('The model does not answer').waitFor();
		await log().getByRole('button', { name: 'Ask again' }).waitFor();
	});

	it('stays where the person scrolled, and offers the way down', async () => {
		await open('&scene=empty');
		await say('Speak for long.');
		await log().getByText('Paragraph 20').waitFor();
		await log().hover();
		await page.mouse.wheel(0, -400);
		const down = page.getByRole('button', { name: 'Jump to the newest' });
		await down.waitFor();
		const top = await log().evaluate((e) => e.scrollTop);
		await log().getByText('Paragraph 40').waitFor();
		assert.equal(await log().evaluate((e) => e.scrollTop), top);
		await down.click();
		await down.waitFor({ state: 'detached' });
	});
});

describe('approval', () => {
	it('waits for a person, never takes the focus, and goes on after a yes', async () => {
		await open('&scene=empty');
		await say('Now push it.');
		await card().waitFor();
		assert.equal(await card().getAttribute('aria-label'), 'Sends commits to another machine');
		assert.equal(await message().evaluate((e) => e === document.activeElement), true);
		await page.keyboard.press('Alt+KeyA');
		assert.equal(await card().evaluate((e) => e.contains(document.activeElement)), true);
		await page.keyboard.press('Escape');
		assert.equal(await message().evaluate((e) => e === document.activeElement), true);
		await answer(card().getByRole('button', { name: 'Approve once' }));
		await answer(page.getByRole('dialog').getByRole('button', { name: 'Approve once' }));
		await log().getByText('12 files here').waitFor();
	});

	it('opens Approve only at the end of a long script', async () => {
		await open();
		await page.getByRole('button', { name: 'Join the receipts of the year' }).first().click();
		const approve = card().getByRole('button', { name: 'Approve once' });
		assert.equal(await approve.getAttribute('aria-disabled'), 'true');
		await card()
			.locator('pre')
			.evaluate((e) => e.scrollTo(0, e.scrollHeight));
		await page.waitForFunction(
			() => document.querySelector('[role=alertdialog] .primary')?.getAttribute('aria-disabled') !== 'true',
		);
	});

	it('keeps a place to read the command in, at 200 % in a window of 900 by 600', async () => {
		await open('&scene=empty');
		await page.setViewportSize({ width: 450, height: 300 });
		await say('Now push it.');
		const command = card().locator('pre').first();
		await command.scrollIntoViewIfNeeded();
		const seen = await command.boundingBox();
		const log = await page.getByRole('log', { name: 'Conversation' }).boundingBox();
		assert.ok(seen.height > 20 && seen.y >= log.y && seen.y + 20 <= log.y + log.height, JSON.stringify({ seen, log }));
		// Chosen to be seen, not only to be in the page: what covers it would be hit instead.
		const { x, y } = { x: seen.x + 20, y: seen.y + 12 };
		assert.ok(await command.evaluate((e, at) => e.contains(document.elementFromPoint(at.x, at.y)), { x, y }));
	});

	it('the status line leads to the inbox, and a key to the conversation that waits', async () => {
		await open();
		await page.getByRole('contentinfo', { name: 'Status' }).getByText('4 wait for you').click();
		await page.getByRole('heading', { name: 'Waits for you 4' }).waitFor();
		await card().waitFor();
		await page.getByRole('button', { name: 'New conversation' }).waitFor({ state: 'detached' });
		await page.keyboard.press('Control+KeyN');
		await page.keyboard.press('Alt+KeyA');
		await card().waitFor();
		const first = await page.locator('main h1').innerText();
		await page.keyboard.press('Control+KeyN');
		await page.keyboard.press('Alt+KeyA');
		await card().waitFor();
		assert.equal(await page.locator('main h1').innerText(), first, 'from the home it is the first one');
	});
});

describe('conversations', () => {
	it('finds words in messages', async () => {
		await open();
		await page.keyboard.press('Control+KeyF');
		await page.getByRole('searchbox', { name: 'Search conversations' }).fill('one run in ten');
		await page.getByText('1 conversation').waitFor();
	});

	it('renames and deletes, and asks before it deletes', async () => {
		await open();
		const line = page.locator('aside li', { hasText: 'Fix the flaky parser test' });
		await line.hover();
		await line.getByRole('button', { name: /^Actions/ }).click();
		await page.getByRole('menuitem', { name: 'Rename' }).click();
		await page.getByRole('textbox', { name: 'Name' }).fill('Parser');
		await page.getByRole('button', { name: 'Save' }).click();
		const renamed = page.locator('aside li', { hasText: 'Parser' });
		await renamed.hover();
		await renamed.getByRole('button', { name: /^Actions/ }).click();
		await page.getByRole('menuitem', { name: 'Delete' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
		await renamed.waitFor({ state: 'detached' });
	});

	it('shows what a run changed', async () => {
		await open();
		await page.getByRole('button', { name: 'Fix the flaky parser test' }).first().click();
		await page.getByRole('button', { name: 'Review', exact: true }).click();
		await page.getByRole('complementary', { name: 'Changes' }).getByText('// relative to now.').waitFor();
	});

	it('opens five hundred rows without freezing', async () => {
		await open('&scene=many');
		const began = Date.now();
		await page.getByRole('button', { name: 'Five hundred rows' }).first().click();
		await log().getByText('Step 499').waitFor();
		assert.ok(Date.now() - began < 5000, `took ${Date.now() - began} ms`);
	});
});

describe('the first start', () => {
	it('finds a model, asks for the rights, and ends on the home', async () => {
		await page.goto(`${served.url}?fake=1&scene=first`);
		await page.getByRole('button', { name: 'Use this' }).click();
		await page.getByText('What may agents do without asking?').first().waitFor();
		await page.getByRole('button', { name: 'Begin' }).click();
		await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
	});

	it('offers the demo, and labels every answer of it', async () => {
		await page.goto(`${served.url}?fake=1&scene=first`);
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		await say('Look around.');
		await log().getByText('Demo: scripted, no language model').waitFor();
	});

	it('tells a page without a code how to open Oxios', async () => {
		await page.goto(served.url);
		await page.getByRole('heading', { name: 'Open Oxios with the address that oxios address prints' }).waitFor();
	});
});

describe('settings', () => {
	it('changes language and theme at once', async () => {
		await open();
		await page.keyboard.press('Control+Comma');
		await page.getByRole('button', { name: 'Language', exact: true }).click();
		await page.getByText('한국어').click();
		await page.getByRole('heading', { name: '언어' }).waitFor();
		assert.equal(await page.evaluate(() => document.documentElement.lang), 'ko');
		await page.getByRole('button', { name: '화면', exact: true }).click();
		await page.getByText('어둡게').click();
		await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
	});

	it('tests a provider and says what failed', async () => {
		await open();
		await page.keyboard.press('Control+Comma');
		const work = page.getByRole('region', { name: 'Work proxy' });
		await work.getByRole('button', { name: 'Test again' }).click();
		await work.getByText('The key was refused.').waitFor();
		await work.getByText('Your chats are kept.').waitFor();
	});

	it('asks nothing of any other machine', async () => {
		const outside = [];
		page.on('request', (r) => {
			if (!r.url().startsWith(served.url) && !/^(data|blob):/.test(r.url())) outside.push(r.url());
		});
		await open();
		await page.getByRole('button', { name: 'Fix the flaky parser test' }).first().click();
		await log().getByText('ParseDates').first().waitFor();
		assert.deepEqual(outside, []);
	});
});
