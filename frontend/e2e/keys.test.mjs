// Keys on the real kernel: taken over from an older program, locked with a passphrase, unlocked after a restart.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import AxeBuilder from '@axe-core/playwright';
import { browser, run, tryDemo } from './serve.mjs';

const binary = process.env.OXIOS_BIN;
const secret = 'sk-e2e-openai-0123456789abcdef';
const passphrase = 'four words of mine';

describe('keys', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let dir, home, auth, server, chrome, page;

	async function start() {
		const env = { PATH: process.env.PATH, HOME: dir, OXIOS_HOME: home, LANG: 'C.UTF-8' };
		server = await run(binary, ['serve'], /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/, { env });
		const context = await chrome.newContext({
			viewport: { width: 1280, height: 900 },
			locale: 'en',
			reducedMotion: 'reduce',
		});
		page = await context.newPage();
		await page.goto(server.match[0]);
	}

	async function models() {
		await page.getByRole('button', { name: 'Chat', exact: true }).click();
		await page.getByRole('textbox', { name: 'Message' }).waitFor();
		await page.keyboard.press('Control+Comma');
		await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Models' }).click();
	}

	before(async () => {
		dir = await mkdtemp(join(tmpdir(), 'oxios-e2e-'));
		home = join(dir, '.oxios');
		auth = join(dir, '.oxi', 'auth.json');
		await mkdir(home, { mode: 0o700 });
		await mkdir(join(dir, '.oxi'), { mode: 0o700 });
		await writeFile(join(home, 'config.toml'), 'keyring = false\n');
		await writeFile(auth, `{ "openai": { "type": "api_key", "key": "${secret}" }, "note": "mine" }`, { mode: 0o600 });
		chrome = await browser();
		await start();
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		// The first answer ends the first start.
		await page.getByRole('textbox', { name: 'Message' }).fill('Look around this folder.');
		await page.getByRole('textbox', { name: 'Message' }).press('Enter');
		await page
			.getByRole('log', { name: 'Conversation' })
			.getByText('Demo: scripted, no language model')
			.waitFor({ timeout: 30_000 });
	});
	after(async () => {
		await chrome?.close();
		await server?.stop();
		await rm(dir, { recursive: true, force: true });
	});

	it('offers keys of an older program, takes them over and out of their file', async () => {
		await models();
		await page.getByText('Unencrypted keys in ~/.oxi/auth.json').waitFor();
		await page.getByText('openai → api.openai.com').waitFor();
		await page.getByRole('button', { name: 'Take over' }).click();
		await page.getByText('One key was taken over.').waitFor();
		await page.getByText('0 in the keyring, 1 in the encrypted file.').waitFor();
		assert.equal(await readFile(auth, 'utf8'), '{  "note": "mine" }');
	});

	it('sets a passphrase, says what forgetting it means, and has no violations', async () => {
		await page.getByRole('button', { name: 'Set', exact: true }).click();
		const dialog = page.getByRole('dialog', { name: 'Set a passphrase' });
		await dialog.getByText('Nobody can recover it').waitFor();
		const axe = await new AxeBuilder({ page }).include('dialog').analyze();
		assert.deepEqual(
			axe.violations.map((v) => v.id),
			[],
		);
		await dialog.getByLabel('New passphrase').fill(passphrase);
		await dialog.getByLabel('Once more').fill('another one');
		await dialog.getByRole('button', { name: 'Set' }).click();
		await dialog.getByText('The two are not the same.').waitFor();
		await dialog.getByLabel('Once more').fill(passphrase);
		await dialog.getByRole('button', { name: 'Set' }).click();
		await page.getByText('The encrypted file opens only with it').waitFor();
		assert.match(await readFile(join(home, 'keys', 'identity.txt'), 'utf8'), /^-----BEGIN AGE ENCRYPTED FILE-----/);
	});

	it('is locked after a restart, refuses another passphrase, and opens with the right one', async () => {
		await page.close();
		await server.stop();
		await start();
		await models();
		await page.getByText('Your keys are locked').waitFor();
		const field = page.getByLabel('Passphrase', { exact: true });
		await field.fill('not this one');
		await field.press('Enter');
		await page.getByText('That is not the passphrase of the keys.').waitFor();
		await field.fill(passphrase);
		await page.getByRole('button', { name: 'Unlock' }).click();
		await page.getByText('0 in the keyring, 1 in the encrypted file.').waitFor();
		assert.equal(await page.getByText('Your keys are locked').count(), 0);
	});

	it('leaves neither key nor passphrase in any file of the home', async () => {
		for (const e of await readdir(home, { recursive: true, withFileTypes: true })) {
			if (!e.isFile()) continue;
			const text = await readFile(join(e.parentPath, e.name));
			for (const s of [secret, passphrase]) assert.ok(!text.includes(s), `${e.name} holds ${s.slice(0, 6)}…`);
		}
	});
});
