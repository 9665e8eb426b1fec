// Apps of servers on the real kernel: what one is given, what it may ask for, and what a hostile one gets.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, call, oxios, visit } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const data = join(dirname(fileURLToPath(import.meta.url)), 'testdata');
const pages = join(data, '..', '..', '..', 'kernel', 'mcp', 'mcptest');
const shots = process.env.OXIOS_SHOTS;
let o, chrome, page, errors;
/** asked are the addresses that anything in the browser asked for, and no policy kept from it. */
const asked = [];

const log = () => page.getByRole('log', { name: 'Conversation' });
const card = () => page.getByRole('alertdialog');
const app = (title) => page.frameLocator(`iframe[title="App ${title} of the server apps"]`);
const frames = () => page.locator('iframe');

async function say(text) {
	await page.keyboard.press('Alt+KeyN');
	const message = page.getByRole('textbox', { name: 'Message', exact: true });
	await message.fill(text);
	await message.press('Enter');
}

/** server is the server with apps, whose tools may do so much without approval. */
const server = (effect) => ({
	command: process.execPath,
	args: [join(data, 'apps.mjs'), join(pages, 'app.html'), join(pages, 'hostile.html')],
	effect,
	always: true,
});

describe('apps', { skip }, () => {
	before(async () => {
		o = await oxios(join(data, 'apps.toml'));
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		page.setDefaultTimeout(12_000);
		page.context().on('requestfinished', (r) => asked.push(r.url()));
		page.context().on('requestfailed', (r) => r.failure()?.errorText === 'csp' || asked.push(r.url()));
		await begin(page);
		await call(page, 'mcp.set', 'apps', server('none'));
		await call(page, 'mcp.connect', 'apps');
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('shows an app with what its tool was given and gave', async () => {
		await say('App: show');
		await app('Show').getByText('input: hello').waitFor();
		await app('Show').getByText('result: Shown: hello 5').waitFor();
		await app('Show').getByText('theme: light en').waitFor();
		assert.equal(await app('Show').getByText('told too early').count(), 0);
		await log().getByText('It came to this: Shown: hello').waitFor();
		await page.getByText('Blocked: this app wants to reach cdn.example.com').waitFor();
		assert.equal(await frames().first().getAttribute('sandbox'), 'allow-scripts');
		if (shots) await page.screenshot({ path: `${shots}/app.png` });
		await accessible(page);
	});

	it('calls tools of its own server that are for apps, and reads its resources', async () => {
		await app('Show').getByRole('button', { name: 'Call forApps' }).click();
		await app('Show').getByText('forApps says: from the app').waitFor();
		await app('Show').getByRole('button', { name: 'Call forAgents' }).click();
		await app('Show').getByText('refused: The server apps does not offer its tool forAgents to apps').waitFor();
		await app('Show').getByRole('button', { name: 'Read notes' }).click();
		await app('Show').getByText('a note of the server').waitFor();
	});

	it('waits for the person where its server does', async () => {
		await call(page, 'mcp.set', 'apps', server('network'));
		await app('Show').getByRole('button', { name: 'Call forApps' }).click();
		await card().getByText('The app “Show” in this conversation asks for it, not an agent.').waitFor();
		if (shots) await page.screenshot({ path: `${shots}/app-card.png` });
		await accessible(page);
		await answer(card().getByRole('button', { name: 'Approve once', exact: true }));
		await answer(page.getByRole('dialog').getByRole('button', { name: 'Approve once', exact: true })); // it came from outside
		await app('Show').getByText('forApps says: from the app').waitFor();
		await call(page, 'mcp.set', 'apps', server('none'));
	});

	it('asks before a web page is opened, and only drafts a message', async () => {
		await app('Show').getByRole('button', { name: 'Open link' }).click();
		const dialog = page.getByRole('dialog');
		await dialog.getByText('example.com').first().waitFor();
		await page.keyboard.press('Escape');
		await dialog.waitFor({ state: 'detached' });
		await app('Show').getByRole('button', { name: 'Write a draft' }).click();
		const message = page.getByRole('textbox', { name: 'Message', exact: true });
		await page.waitForFunction((m) => m.value === 'Words of the app', await message.elementHandle());
		assert.equal(await log().getByText('Words of the app').count(), 0);
		await message.fill('');
	});

	it('follows the theme, and is as high as it may be', async () => {
		await page.emulateMedia({ colorScheme: 'dark' });
		await app('Show').getByText('theme: dark').waitFor();
		await app('Show').getByRole('button', { name: 'Grow' }).click();
		await page.waitForFunction(() => document.querySelector('iframe').getBoundingClientRect().height >= 598);
		assert.ok((await frames().first().boundingBox()).height <= 604);
		if (shots) await page.screenshot({ path: `${shots}/app-dark.png` });
		await accessible(page);
		await page.emulateMedia({ colorScheme: 'light' });
	});

	it('is closed and shown again, with its text meanwhile', async () => {
		await page.getByRole('button', { name: 'Close app' }).click();
		await log().locator('pre', { hasText: 'Shown: hello' }).waitFor();
		assert.equal(await frames().count(), 0);
		await page.getByRole('button', { name: 'Show app' }).click();
		await app('Show').getByText('input: hello').waitFor();
		await page.reload();
		await page
			.getByRole('button', { name: /App: show/ })
			.first()
			.click();
		await app('Show').getByText('input: hello').waitFor();
	});

	it('gets nothing when it is hostile', async () => {
		asked.length = 0;
		await page.evaluate(() => addEventListener('message', (e) => (window.told = e.data?.params?.data ?? window.told)));
		await say('App: hostile');
		await page.getByText('This app sent too many messages, so Oxios closed it').waitFor();
		assert.equal(await frames().count(), 0);
		assert.deepEqual(
			asked.filter((u) => !u.startsWith(`http://127.0.0.1:`)),
			[],
		);
		assert.ok(!page.context().pages()[1], 'a second page is open');
		assert.match(page.url(), /^http:\/\/127\.0\.0\.1/);
		const { violations, ...tried } = await page.evaluate(() => window.told);
		assert.equal(tried.origin, 'null');
		assert.ok(Object.keys(tried).length > 15, JSON.stringify(tried));
		for (const [name, got] of Object.entries(tried)) {
			// A cookie cannot be read back, and a dialog is not shown.
			const harmless = got === 'worked: ' || (name === 'dialog' && got === 'worked: shown');
			assert.ok(harmless || !String(got).startsWith('worked'), `${name}: ${got}`);
		}
		assert.match(violations, /connect-src/);
		if (shots) await page.screenshot({ path: `${shots}/app-hostile.png` });
	});

	it('is closed within ten seconds when it loops, and is not started again', async () => {
		await say('App: loop');
		await frames().first().waitFor();
		const began = Date.now();
		await page.getByText('This app stopped responding, so Oxios closed it').waitFor();
		assert.ok(Date.now() - began < 10_000, `took ${Date.now() - began} ms`);
		await log().locator('pre', { hasText: 'Shown: hello' }).waitFor();
		if (shots) await page.screenshot({ path: `${shots}/app-loop.png` });
		await page.reload();
		await page
			.getByRole('button', { name: /App: loop/ })
			.first()
			.click();
		await page.getByText('This app stopped responding, so Oxios closed it').waitFor();
		assert.equal(await frames().count(), 0);
	});

	it('is closed within ten seconds when it never answers', async () => {
		await say('App: mute');
		await frames().first().waitFor();
		await page.getByText('This app did not start').waitFor({ timeout: 10_000 });
		assert.equal(await frames().count(), 0);
		await page.getByRole('button', { name: 'Show app' }).waitFor();
	});
});
