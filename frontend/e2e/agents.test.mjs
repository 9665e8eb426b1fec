// The table of agents on the real kernel: a tree that grows while it is looked at, and what a person does to its rows.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, call, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'agents.toml');
let o, chrome, page, errors;

const table = () => page.getByRole('table', { name: 'Agents' });
const name = (text) => table().getByRole('button', { name: text, exact: true });
const row = (text) =>
	table()
		.locator('tr.line')
		.filter({ has: page.getByRole('button', { name: text, exact: true }) });
const names = () => table().locator('tr.line button').allInnerTexts();
const pane = () => page.locator('#pane-side');
const toast = (text) => page.locator('.toast', { hasText: text });
const isFocused = (locator) => locator.evaluate((e) => e === document.activeElement);
const state = (text, words) => row(text).locator('td').nth(2).getByText(words).waitFor();

/** said has something said where this page does not look. */
const said = (text) => call(page, 'agents.submit', { text });

const axe = () => accessible(page);

describe('the agents', { skip }, () => {
	before(async () => {
		o = await oxios(script);
		await o.writeConfig(o.config.replace('max_tool_calls = 8', 'max_tool_calls = 500'));
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('are none at first, in words', async () => {
		await page.keyboard.press('Control+Shift+KeyA');
		await page.getByRole('heading', { name: 'No agent has worked yet.' }).waitFor();
		await axe();
	});

	it('appear while they are looked at, each below the one that forked it', async () => {
		await said('team one');
		await state('team one', 'waits for 2 agents');
		await name('watcher').waitFor();
		await name('counter').waitFor();
		// The two are forked at once, so either may be the first.
		const [first, ...below] = await names();
		assert.deepEqual([first, ...below.sort()], ['team one', 'counter', 'watcher']);
		await row('counter').getByText('forked by team one').waitFor({ state: 'attached' });
		await state('watcher', 'asks the model');
		await page.getByText(/^2 of \d+ at once$/).waitFor();
		await page.locator('.seg', { hasText: 'All 3' }).waitFor();
		await axe();
	});

	it('show their steps as they are taken', async () => {
		await name('counter').click();
		await pane().getByRole('heading', { name: 'counter', exact: true }).waitFor();
		await pane().getByText('count slowly').waitFor();
		await pane().locator('[data-step=done]').nth(3).waitFor();
		await pane().getByText(/Audit \d/).first().waitFor(); // prettier-ignore
		await pane().getByRole('button', { name: 'team one' }).waitFor();
	});

	it('are paused, and go on', async () => {
		await name('counter').focus();
		await page.keyboard.press('KeyP');
		await toast('counter is paused.').waitFor();
		await state('counter', 'paused');
		await page.keyboard.press('KeyP');
		await toast('counter goes on.').waitFor();
		await row('counter').locator('td').nth(2).getByText('paused').waitFor({ state: 'detached' });
	});

	it('are told something, and read it', async () => {
		await page.keyboard.press('KeyM');
		const field = pane().getByRole('textbox', { name: 'Tell this agent something' });
		assert.equal(await isFocused(field), true);
		await page.keyboard.type('finish now');
		await page.keyboard.press('Enter');
		await state('counter', 'finished');
		await pane().getByText('You said').waitFor();
		await state('team one', 'waits for watcher');
	});

	it('are stopped, and it is told how many that were', async () => {
		await name('watcher').click();
		await page.keyboard.press('KeyX');
		const dialog = page.getByRole('dialog', { name: 'Stop watcher?' });
		await dialog.waitFor();
		await page.keyboard.press('Escape');
		await dialog.waitFor({ state: 'detached' });
		assert.equal(await isFocused(name('watcher')), true, 'the focus is where it was');
		await page.keyboard.press('KeyX');
		await dialog.getByRole('button', { name: 'Stop it' }).click();
		await toast('watcher was stopped.').waitFor();
		await state('watcher', 'stopped');
		await state('team one', 'finished');
	});

	it('are stopped with all below them', async () => {
		await said('team two');
		await state('team two', 'waits for 2 agents');
		await name('team two').click();
		await page.keyboard.press('KeyX');
		await page.getByRole('dialog').getByText('3 agents stop at once').waitFor();
		await page.getByRole('button', { name: 'Stop 3 agents' }).click();
		await toast('team two was stopped, 3 agents in all.').waitFor();
		await state('team two', 'stopped');
		await page.locator('.seg', { hasText: 'Running 0' }).waitFor();
	});

	it('say why one failed, what it did last, and are copied as a report', async () => {
		await said('break it');
		await state('break it', 'failed: the key was refused');
		await page.locator('.seg label', { hasText: 'Failed 1' }).click();
		assert.deepEqual(await names(), ['break it']);
		await pane().getByText('The key was refused', { exact: true }).waitFor();
		await pane().getByText(/Last effect: .*half\.txt/).waitFor(); // prettier-ignore
		await axe();
		await pane().getByRole('button', { name: 'Copy as report' }).click();
		await toast('The report is on the clipboard.').waitFor();
		const report = await page.evaluate(() => navigator.clipboard.readText());
		assert.match(report, /^# break it \(pid \d+\)\n\n> break it\n/);
		assert.match(report, /- State: failed: the key was refused/);
		assert.match(report, /\d+\. \d\d:\d\d · .*half\.txt.* · Audit [\d,]+/);
		assert.match(report, /## Changes\n\n- `half\.txt` \+1 −0/);
	});

	it('go on from where one failed, in its conversation', async () => {
		await pane().getByRole('button', { name: 'Retry from here' }).click();
		await page.getByRole('log').getByText('Went on from there.').waitFor();
	});

	it('are filtered by words, and gone through with the keys', async () => {
		await page.getByRole('contentinfo', { name: 'Status' }).getByText('nothing runs').click();
		await page.locator('.seg label', { hasText: /^\s*All/ }).click();
		await name('break it').waitFor();
		await name('break it').focus();
		await page.keyboard.press('Slash');
		await page.keyboard.type('watch');
		await page.waitForFunction(() => document.querySelectorAll('tr.line').length === 2);
		await page.keyboard.press('Enter');
		assert.equal(await isFocused(name('watcher').first()), true);
		await page.keyboard.press('End');
		assert.equal(await isFocused(name('watcher').last()), true);
		await page.keyboard.press('Slash');
		await page.keyboard.type('zzz');
		await page.getByText('No agent fits.').waitFor();
		await page.getByRole('button', { name: 'Show all' }).click();
		await name('team two').waitFor();
	});

	it('show how busy this machine is', async () => {
		const machine = page.locator('main dl[aria-label="This machine"]');
		await machine.waitFor();
		const words = (await machine.innerText()).replace(/\s+/g, ' ');
		assert.match(words, /Processors \d+ %/);
		assert.match(words, /Memory [\d.]+ GB of [\d.]+ GB/);
		assert.match(words, /Agents \d of \d at once/);
		assert.match(words, /Disk [\d,.]+ [GM]B free/);
	});

	it('open in a sheet on a small window, and then their conversation', async () => {
		await page.setViewportSize({ width: 900, height: 600 });
		await name('team two').focus();
		await page.keyboard.press('Home');
		await page.keyboard.press('Enter');
		await pane().locator('[data-step]').first().waitFor();
		await axe();
		await page.keyboard.press('Escape');
		await pane().waitFor({ state: 'detached' });
		const first = table().locator('tr.line button').first();
		assert.equal(await isFocused(first), true, 'the focus is back on the row');
		await page.keyboard.press('Enter');
		await pane().locator('[data-step]').first().waitFor();
		await page.keyboard.press('Enter');
		await page.getByRole('log').waitFor();
	});

	it('say things to each other, and show what they can be asked for', async () => {
		await page.setViewportSize({ width: 1280, height: 800 });
		await page.keyboard.press('Control+Shift+KeyA');
		await said('pair up');
		await state('pair up', 'finished');
		await name('pair up').click();
		await pane().getByRole('heading', { name: 'pair up', exact: true }).waitFor();
		await pane().getByText('Asked Tester: Which colour is the wall?').waitFor();
		const mail = pane().getByRole('region', { name: 'Messages between agents' });
		await mail.locator('[data-mail=answered]', { hasText: 'To Tester: Which colour is the wall?' }).waitFor();
		await mail.locator('[data-mail=delivered]', { hasText: 'From Tester: It is blue.' }).waitFor();
		await name('Tester').click();
		await pane().getByText('Testing, reading files', { exact: false }).waitFor();
		await pane().locator('[data-step]', { hasText: 'pair up asks' }).waitFor();
		await mail.locator('[data-mail=answered]', { hasText: 'From pair up: Which colour is the wall?' }).waitFor();
		await axe();
		await page.keyboard.press('KeyX');
		await page.getByRole('dialog').getByRole('button', { name: 'Stop it' }).click();
		await state('Tester', 'stopped');
		await pane().getByText('Testing, reading files').waitFor({ state: 'detached' });
	});
});
