// Limits in the page, on the real kernel: a run stops at its limit with a sentence, and goes on when the person raises it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { accessible, binary, call, oxios, passFirstStart } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'limits.toml');
let o, chrome, page, link;
const errors = [];

const message = () => page.getByRole('textbox', { name: 'Message' });
const log = () => page.getByRole('log', { name: 'Conversation' });
const note = () => log().locator('.note', { hasText: 'A limit is reached' });
const status = () => page.getByRole('contentinfo', { name: 'Status' });
const requests = () => o.cli('cost', '--json').then((r) => JSON.parse(r.out).total.calls);

async function say(text) {
	await page.keyboard.press('Alt+KeyN');
	await message().fill(text);
	await message().press('Enter');
}

async function open() {
	await page.keyboard.press('Control+Comma');
	await page.locator('aside nav button[data-section=limits]').click();
	await page.getByRole('heading', { name: 'Limits and cost', level: 1 }).waitFor();
}

const axe = () => accessible(page);

describe('limits', { skip }, () => {
	before(async () => {
		chrome = await browser();
		o = await oxios(script);
		link = await o.serve();
		const context = await chrome.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
		context.setDefaultTimeout(8_000);
		page = await context.newPage();
		page.on('pageerror', (e) => errors.push(e.message));
		await page.goto(link);
		await passFirstStart(page);
		await status().getByText('nothing runs').waitFor();
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('are set in the settings, and kept in config.toml; nonsense is refused', async () => {
		await open();
		const calls = page.getByRole('textbox', { name: 'A day, all agents together: Requests to models' });
		await calls.fill('1');
		await calls.press('Tab');
		await page.waitForFunction(() => document.activeElement?.tagName !== 'BODY');
		await calls.fill('many');
		await calls.press('Tab');
		await page.getByText(/day_calls is "many", but must be a whole number/).waitFor();
		assert.equal(await calls.inputValue(), '1');
		assert.match(await readFile(join(o.home, 'config.toml'), 'utf8'), /day_calls = '1'/);
		const money = page.getByRole('textbox', { name: 'A day, all agents together: Money, in dollars' });
		await money.fill('$5');
		await money.press('Tab');
		await status().getByText('Today $0.00 of $5.00').waitFor();
	});

	it('stop a run with a sentence, and let it go on when they are raised', async () => {
		await say('Look at the folder');
		await note().waitFor();
		assert.match(await note().innerText(), /The limit of 1 model call a day is reached\. Nothing more was sent\./);
		await status().getByText('1 waits for a limit').waitFor();
		assert.equal(await requests(), 1);
		await page.reload(); // it is the kernel that waits, not the page
		await status().getByText('1 waits for a limit').waitFor();
		await page.locator('aside li .open', { hasText: 'Look at the folder' }).click();
		await note().waitFor();

		await note().getByRole('button', { name: 'Raise the limit' }).click();
		const field = note().getByRole('textbox', { name: 'Raise it to so many requests' });
		assert.equal(await field.inputValue(), '3');
		await field.fill('1');
		await field.press('Enter');
		await note().getByText('Give a number that is larger than the limit.').waitFor();
		await field.fill('2');
		await field.press('Enter');
		await log().getByText('The folder is empty.').waitFor();
		await note().waitFor({ state: 'detached' });
		assert.equal(await requests(), 2);
		// What else was limited still is.
		await status().getByText('Today $0.00 of $5.00').waitFor();
	});

	it('bring a run that waits into the inbox, and the button that lets it go on', async () => {
		await call(page, 'infra.setBudget', { scope: 'day', usd: 5, calls: 2 });
		const { run_id } = await call(page, 'agents.submit', { text: 'And what is this' });
		await page.getByRole('button', { name: 'Inbox, 1 waits for you' }).waitFor();
		await status().getByRole('button', { name: '1 waits for a limit' }).click();
		const line = page.locator('aside nav li button');
		await line.filter({ hasText: 'And what is this' }).waitFor();
		const held = page.locator('main .note', { hasText: 'A limit is reached' });
		await held.getByText('The limit of 2 model calls a day is reached.').waitFor();
		const { out } = await o.cli('inbox', '--json');
		assert.deepEqual(
			JSON.parse(out).held.map((h) => [h.kind, h.runs.map((r) => r.run_id)]),
			[['limit', [run_id]]],
		);
		await axe();
		// The same button stands at the agent.
		await page.keyboard.press('Control+Shift+KeyA');
		await page.locator('tr.line', { hasText: 'waits for you: a limit is reached' }).waitFor();
		await page.locator('#pane-side .note', { hasText: 'A limit is reached' }).waitFor();
		await page.keyboard.press('Control+KeyI');

		await held.getByRole('button', { name: 'Raise the limit' }).click();
		await held.getByRole('textbox', { name: 'Raise it to so many requests' }).fill('3');
		await page.keyboard.press('Enter');
		await held.waitFor({ state: 'detached' });
		await page.getByRole('button', { name: 'Inbox', exact: true }).waitFor();
		// What came of it takes the place of what held it up.
		await line.filter({ hasText: 'And what is this' }).getByText('Yes.').waitFor();
		assert.deepEqual(JSON.parse((await o.cli('inbox', '--json')).out).held, []);
		await call(page, 'agents.clearInbox');
	});

	it('hold a run that can be stopped while it waits, over a restart of Oxios', async () => {
		await say('Is it?');
		await note().waitFor();
		await o.server.stop();
		link = await o.serve();
		await page.goto(link);
		await status().waitFor();
		await page.locator('aside li .open', { hasText: 'Is it?' }).click();
		await note().waitFor();
		await page.getByRole('button', { name: 'Stop' }).click();
		await log().locator('.note', { hasText: 'Stopped' }).waitFor();
		assert.equal(await requests(), 3);
		assert.equal((await call(page, 'infra.status')).reached, undefined);
	});

	it('show what was spent', async () => {
		await open();
		const row = page.getByRole('row', { name: /Look at the folder/ });
		await row.getByRole('cell', { name: '4k' }).waitFor();
		assert.match(await row.innerText(), /oxios-demo\s+2\s+4k\s+73 %\s+free/);
		await page.getByRole('radio', { name: 'Today' }).check({ force: true });
		await row.waitFor();
	});
});
