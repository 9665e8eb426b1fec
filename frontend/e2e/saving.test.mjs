// What an agent read in the web becomes a note; who answers searches; memories that come in from a file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { browser, fakePage, freePort, palette } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const jsonl = (...lines) => ({
	name: 'memories.jsonl',
	mimeType: 'application/jsonl',
	buffer: Buffer.from(lines.map((l) => (typeof l === 'string' ? l : JSON.stringify(l))).join('\n')),
});

describe('what is kept', () => {
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
		await page.goto(`${served.url}?fake=1&lang=en&scene=pages`);
		await page.getByRole('textbox', { name: 'Message' }).waitFor();
	});

	it('a page that an agent read is saved in one click, opened, and taken back', async () => {
		await page
			.getByRole('button', { name: /The last ferry from Udo/ })
			.first()
			.click();
		const row = page.getByRole('button', { name: /Read Udo ferry timetable/ });
		assert.match(await row.textContent(), /udo-ferry\.example/);
		await row.click();
		await page.getByRole('button', { name: 'Save to vault' }).click();
		await page.getByText('Saved as Pages/Udo ferry timetable.md').waitFor();
		await accessible(page);
		await page.locator('.page').getByRole('button', { name: 'Undo' }).click();
		await page.getByRole('button', { name: 'Save to vault' }).click();
		await page.locator('.page').getByRole('button', { name: 'Open', exact: true }).click();
		await page.locator('main h1', { hasText: 'Udo ferry timetable' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('one that the journal let go of says so, and is read again', async () => {
		await page
			.getByRole('button', { name: /The last ferry from Udo/ })
			.first()
			.click();
		await page.getByRole('button', { name: /Read https:\/\/visit-udo/ }).click();
		await page.getByText('does not hold what the page said any more').waitFor();
		await page.getByRole('button', { name: 'Read it again and save' }).click();
		await page.getByText('Saved as Pages/Udo.md').waitFor();
		assert.deepEqual(errors, []);
	});
});

describe('on the real kernel', { skip }, () => {
	let o, chrome, page, errors;
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

	it('memories from a file are looked at first, come in, and go out again', async () => {
		await palette(page, 'Import memories');
		const file = page.getByRole('dialog').locator('input[type=file]');
		await file.setInputFiles(jsonl({ text: 'Rides a bicycle' }, 'no json', { text: 'x', type: 'dream' }));
		await page.getByText('Line 2: It is no JSON object').waitFor();
		await page.getByText(/Line 3: .*dream/).waitFor();
		assert.ok(await page.getByRole('button', { name: 'Import', exact: true }).isDisabled());
		await file.setInputFiles(jsonl({ id: 'bike', text: 'Rides a bicycle' }, { text: 'Tea, no coffee', space: 'Sea' }));
		await page.getByText('2 new memories would come in.').waitFor();
		await page.getByText('These spaces would be made: Sea.').waitFor();
		await accessible(page);
		await page.getByRole('button', { name: 'Import', exact: true }).click();
		await page.getByText('2 memories came in, 0 changed.').waitFor();
		await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
		await page.getByRole('button', { name: 'Rides a bicycle' }).waitFor();
		const saved = page.waitForEvent('download');
		await page.getByRole('button', { name: 'More about memories' }).click();
		await page.getByRole('menuitem', { name: 'Export…' }).click();
		const text = readFileSync(await (await saved).path(), 'utf8');
		assert.match(text, /"id":"bike","text":"Rides a bicycle"/);
		assert.match(text, /"space":"Sea"/);
		assert.deepEqual(errors, []);
	});

	it('the key of a search service is kept with the keys, and what is wrong is said', async () => {
		await page.keyboard.press('Control+Comma');
		await page.locator('aside nav button[data-section=web]').click();
		await page.getByRole('radio', { name: /SearXNG/ }).check();
		await page.getByRole('textbox', { name: 'Address' }).fill(`http://127.0.0.1:${await freePort()}`);
		await page.getByRole('button', { name: 'Use this service' }).click();
		await page.locator('label', { hasText: 'SearXNG' }).getByText('in use').waitFor();
		await accessible(page);
		await page.getByRole('button', { name: 'Search', exact: true }).click();
		await page.getByText(/127\.0\.0\.1 could not be reached/).waitFor();
		await page.getByRole('radio', { name: /Tavily/ }).check();
		await page.getByRole('textbox', { name: 'Key' }).fill('tvly-0123456789abcdef');
		await page.getByRole('button', { name: 'Use this service' }).click();
		await page.getByRole('button', { name: 'Delete the key' }).waitFor();
		const config = readFileSync(`${o.home}/config.toml`, 'utf8');
		assert.match(config, /search_service = 'tavily'/);
		assert.doesNotMatch(config, /tvly/);
		assert.match((await o.cli('web', 'service')).out, /tavily[\s\S]*There is a key/);
		assert.deepEqual(errors, []);
	});
});
