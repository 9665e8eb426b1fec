// The page on the real kernel: `oxios serve` with the scripted endpoint of `oxios demo`.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browser, run, tryDemo } from './serve.mjs';

const binary = process.env.OXIOS_BIN;

describe('oxios serve', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let home, server, chrome, page;

	before(async () => {
		home = await mkdtemp(join(tmpdir(), 'oxios-e2e-'));
		const env = { PATH: process.env.PATH, HOME: home, OXIOS_HOME: join(home, '.oxios'), LANG: 'C.UTF-8' };
		server = await run(binary, ['serve'], /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/, { env });
		chrome = await browser();
		const context = await chrome.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
		page = await context.newPage();
		await page.goto(server.match[0]);
	});
	after(async () => {
		await chrome?.close();
		await server?.stop();
		await rm(home, { recursive: true, force: true });
	});

	it('takes the code out of the address', async () => {
		await page.waitForFunction(() => location.hash === '');
	});

	it('begins with the demo and answers, labelled as scripted', async () => {
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		const message = page.getByRole('textbox', { name: 'Message' });
		await message.fill('Look around this folder.');
		await message.press('Enter');
		await page
			.getByRole('log', { name: 'Conversation' })
			.getByText('Demo: scripted, no language model')
			.waitFor({ timeout: 30_000 });
	});

	it('has the conversation after a reload, without a second code', async () => {
		await page.reload();
		await page.locator('aside li .open').first().click();
		await page.getByRole('log', { name: 'Conversation' }).getByText('Look around this folder.').waitFor();
	});

	it('lets nobody in who has no code', async () => {
		const other = await chrome.newContext();
		const stranger = await other.newPage();
		await stranger.goto(new URL('/', server.match[0]).href);
		await stranger.getByRole('heading', { name: /oxios address/ }).waitFor();
		assert.equal(await stranger.locator('aside').count(), 0);
		await other.close();
	});
});
