// The inbox on the real kernel: what waits, fails and finishes while nobody looks, and the quiet hours.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, call, oxios, visit as open } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'inbox.toml');
let o, chrome, page, errors;

const message = () => page.getByRole('textbox', { name: 'Message', exact: true });
const rail = (name) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name });
const list = () => page.getByRole('navigation', { name: 'What waits and what ended' });
const line = (text) => list().getByRole('button').filter({ hasText: text });
const toast = (text) => page.locator('.toast', { hasText: text });
const heading = (text) => list().getByRole('heading', { name: text, exact: true });
const isFocused = (locator) => locator.evaluate((e) => e === document.activeElement);
const status = () => page.getByRole('contentinfo', { name: 'Status' });

/** elsewhere has something said where this page does not look. */
const elsewhere = (text) => call(page, 'agents.submit', { text });

/** kernels is the inbox as the command line has it. */
async function kernels(...flags) {
	const { out } = await o.cli('inbox', '--json', ...flags);
	const { waiting, failed, finished } = JSON.parse(out);
	return { waiting, failed: failed.map((r) => r.title), finished: finished.map((r) => r.title) };
}

async function visit(link) {
	await page?.context().close();
	({ page, errors } = await open(chrome, link));
}

const axe = () => accessible(page);

describe('the inbox', { skip }, () => {
	before(async () => {
		o = await oxios(script);
		await o.writeConfig(o.config.replace('keyring', 'mode = "ask"\nkeyring'));
		chrome = await browser();
		await visit(await o.serve());
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('is empty in words, and what ended in front of the person never comes', async () => {
		await message().fill('hello there');
		await message().press('Enter');
		await page.getByRole('log').getByText('You said: hello there').waitFor();
		await page.locator('.turn .foot').waitFor();
		await rail('Inbox').click();
		await page.getByRole('heading', { name: 'Nothing waits for you.' }).waitFor();
		await page.waitForFunction(() => !document.querySelector('aside nav li'));
		// The page says it at once, and the kernel has it a moment later.
		let kept = await kernels();
		for (let i = 0; i < 20 && kept.finished.length > 0; i++) kept = await kernels();
		assert.deepEqual(kept, { waiting: [], failed: [], finished: [] });
		await axe();
	});

	it('holds what finished, failed and waits, with the counter on it and in words', async () => {
		await elsewhere('tell me later');
		await line('tell me later').waitFor();
		await elsewhere('break it');
		await line('break it').waitFor();
		await elsewhere('push it');
		await heading('Waits for you 1').waitFor();
		await heading('Failed 1').waitFor();
		await heading('Finished 1').waitFor();
		await rail('Inbox, 1 waits for you').waitFor();
		assert.equal(await rail('Inbox, 1 waits for you').locator('.badge').innerText(), '1');
		const { waiting, failed, finished } = await kernels();
		assert.deepEqual([waiting.length, failed, finished], [1, ['break it'], ['tell me later']]);
		await line('push it').click();
		await page.getByRole('alertdialog').locator('pre', { hasText: 'touch pushed.txt' }).waitFor();
		await axe();
	});

	it('keeps it over a restart', async () => {
		await o.server.stop();
		await visit(await o.serve());
		await rail('Inbox, 1 waits for you').click();
		await heading('Failed 1').waitFor();
		await heading('Finished 1').waitFor();
	});

	it('goes through the lines with the arrows, and shows what came of each', async () => {
		await status().getByText('1 waits for you').click();
		assert.equal(await isFocused(line('push it')), true, 'the counter leads to the line that waits');
		await page.keyboard.press('ArrowDown');
		assert.equal(await isFocused(line('break it')), true);
		await page.getByRole('heading', { level: 1, name: 'break it' }).waitFor();
		await page.locator('main').getByText('The key was refused').waitFor();
		await page.keyboard.press('ArrowDown');
		await page.locator('main').getByText('You said: tell me later').waitFor();
		await axe();
		await page.keyboard.press('ArrowDown');
		assert.equal(await isFocused(line('tell me later')), true, 'it stops at the end');
		await page.keyboard.press('Home');
		assert.equal(await isFocused(line('push it')), true);
	});

	it('a request is not archived, and is approved from here', async () => {
		await page.keyboard.press('Delete');
		await toast('A request cannot be archived').waitFor();
		await page.keyboard.press('Enter');
		const card = page.getByRole('alertdialog');
		assert.equal(await isFocused(card), true, 'Enter goes to the request');
		await page.keyboard.press('Escape');
		assert.equal(await isFocused(line('push it')), true, 'Esc goes back to its line');
		await page.keyboard.press('Alt+KeyA');
		assert.equal(await isFocused(card), true, 'so does the key of the request');
		await answer(card.getByRole('button', { name: 'Approve once' }));
		await heading('Waits for you 1').waitFor({ state: 'detached' });
		await heading('Finished 2').waitFor();
		assert.equal(existsSync(join(o.folder, 'pushed.txt')), true);
		assert.equal(await rail('Inbox').locator('.badge').count(), 0);
	});

	it('archives one with Delete and all that is done with one press, and takes both back', async () => {
		await line('break it').focus();
		await line('break it').click();
		await page.keyboard.press('Delete');
		await line('break it').waitFor({ state: 'detached' });
		await toast('“break it” was archived.').getByRole('button', { name: 'Undo' }).click();
		await heading('Failed 1').waitFor();

		await page.getByRole('button', { name: 'Clear done' }).click();
		await heading('Finished 2').waitFor({ state: 'detached' });
		await heading('Failed 1').waitFor();
		assert.deepEqual((await kernels()).finished, []);
		await toast('2 finished runs were cleared.').getByRole('button', { name: 'Undo' }).click();
		await heading('Finished 2').waitFor();
		assert.equal((await kernels()).finished.length, 2);
	});

	it('what is opened is seen', async () => {
		await line('tell me later').click();
		await page.keyboard.press('Enter');
		await page.locator('main h1', { hasText: 'tell me later' }).waitFor();
		await page.getByRole('log').getByText('You said: tell me later').waitFor();
		await page.keyboard.press('Control+KeyI');
		await heading('Finished 1').waitFor();
		assert.equal(await line('tell me later').count(), 0);
		assert.deepEqual((await kernels('--all')).finished.length, 3);
	});

	it('asks again where a run failed, and that is seen too', async () => {
		await line('break it').click();
		await page.getByRole('button', { name: 'Ask again' }).click();
		await page.getByRole('log').getByRole('group', { name: 'Versions of this message' }).waitFor();
		await page.getByRole('log').getByText('The key was refused').waitFor();
		await page.keyboard.press('Control+KeyI');
		await page.waitForFunction(() => document.querySelectorAll('aside nav li').length === 1);
	});

	it('shows the files, the beginning of the answer and what it cost', async () => {
		await elsewhere('note seven');
		// In this mode a file is asked for first.
		await heading('Waits for you 1').waitFor();
		await line('seven.txt').click();
		await answer(page.getByRole('alertdialog').getByRole('button', { name: 'Approve once' }));
		await line('note seven').waitFor();
		await line('note seven').click();
		const main = page.locator('main');
		await main.getByText('1 file changed').waitFor();
		await main.getByText('seven.txt', { exact: true }).waitFor();
		assert.match(await line('note seven').innerText(), /1 file · Noted seven\./);
		await main.locator('strong', { hasText: 'Noted' }).waitFor();
	});

	it('clears from the command line, and the page hears of it', async () => {
		const { out } = await o.cli('inbox', 'clear');
		assert.match(out, /Cleared: 2/);
		await page.getByRole('heading', { name: 'Nothing waits for you.' }).waitFor();
	});

	it('fits a small window: the list is a sheet', async () => {
		await elsewhere('say it later');
		await line('say it later').waitFor();
		await page.setViewportSize({ width: 900, height: 600 });
		await page.getByRole('heading', { level: 1, name: 'say it later' }).waitFor();
		await page.getByRole('button', { name: 'Show the list' }).click();
		await line('say it later').click();
		await list().waitFor({ state: 'detached' });
		await axe();
		await page.setViewportSize({ width: 1280, height: 800 });
	});

	it('sets quiet hours, and a while without notices', async () => {
		await page.keyboard.press('Control+Comma');
		await page.locator('aside [data-section=notifications]').click();
		await page.getByRole('switch', { name: 'Quiet hours', exact: true }).click();
		await page.getByLabel('From').selectOption('23:30');
		await page.getByRole('switch', { name: 'Tell about requests in quiet hours too' }).click();
		await page.getByRole('button', { name: 'For 1 hour' }).click();
		await status()
			.getByText(/^Quiet until/)
			.waitFor();
		await axe();
		const config = readFileSync(join(o.disk, 'config.toml'), 'utf8');
		assert.match(config, /quiet_hours = '23:30-07:00'/);
		assert.match(config, /quiet_approvals = false/);
		assert.match(config, /quiet_until = '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'/);
		await page.getByRole('button', { name: 'End now' }).click();
		await page.getByRole('button', { name: 'For 1 hour' }).waitFor();
		await page.getByRole('switch', { name: 'Quiet hours', exact: true }).click();
		await status()
			.getByText(/^Quiet until/)
			.waitFor({ state: 'detached' });
		const refused = await o.cli('config', 'set', 'quiet_hours', '22-7');
		assert.equal(refused.code, 1);
		assert.match(refused.err, /quiet_hours is "22-7".*Nothing was changed/);
	});
});
