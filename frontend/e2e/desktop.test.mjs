// The same page in the desktop program, on the real kernel: the build with Wails' development server, which Chromium can drive.
// It needs a display; `make test` gives it one.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { answer, browser, freePort, run, tryDemo } from './serve.mjs';

const binary = process.env.OXIOS_DESKTOP_DEV_BIN;
const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist');

describe('oxios-desktop', { skip: binary ? false : 'OXIOS_DESKTOP_DEV_BIN names no binary' }, () => {
	let home, server, chrome, page, url;
	const errors = [];

	before(async () => {
		home = await mkdtemp(join(tmpdir(), 'oxios-e2e-'));
		await mkdir(join(home, 'kernel'), { mode: 0o700 });
		await writeFile(join(home, 'kernel', 'config.toml'), 'keyring = false\nnotifications = false\n');
		url = `127.0.0.1:${await freePort()}`;
		server = await run(binary, [], /Serving DevServer|The page is there/i, {
			env: { ...process.env, HOME: home, OXIOS_HOME: join(home, 'kernel'), devserver: url, assetdir: dist },
		});
		chrome = await browser();
		page = await (await chrome.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' })).newPage();
		page.on('pageerror', (e) => {
			if (!e.message.includes("reading 'nodes'")) errors.push(e.message); // Wails' own overlay
		});
		for (let tries = 0; ; tries++) {
			try {
				await page.goto(`http://${url}/`);
				break;
			} catch (e) {
				if (tries > 50) throw e;
				await new Promise((done) => setTimeout(done, 100));
			}
		}
	});
	after(async () => {
		await chrome?.close();
		await server?.stop();
		await rm(home, { recursive: true, force: true });
	});

	it('answers a bound call: the first start is shown', async () => {
		await page.getByRole('heading', { name: 'Which model should think for you?' }).waitFor({ timeout: 30_000 });
	});

	it('writes a file that was asked for, and shows what changed', async () => {
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		const message = page.getByRole('textbox', { name: 'Message' });
		await message.fill('Write a hello file.');
		await message.press('Enter');
		await page.getByText('1 file changed').waitFor({ timeout: 30_000 });
		assert.match(await readFile(join(home, 'Oxios', 'hello.txt'), 'utf8'), /Hello/);
	});

	it('asks before it pushes, and goes on without the step when denied', async () => {
		const message = page.getByRole('textbox', { name: 'Message' });
		await message.fill('Push this to the remote.');
		await message.press('Enter');
		const card = page.getByRole('alertdialog', { name: /git push/ });
		await card.waitFor({ timeout: 30_000 });
		await answer(card.getByRole('button', { name: /^Deny/ }).first());
		await page
			.getByRole('log', { name: 'Conversation' })
			.getByText(/nothing was sent|not pushed|said no/i)
			.first()
			.waitFor({ timeout: 30_000 });
	});

	it('throws no error in the page', () => {
		assert.deepEqual(errors, []);
	});
});
