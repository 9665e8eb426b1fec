// The switch "Start with the system" on the real kernel: what it says is what the session's entry holds.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browser, run, tryDemo } from './serve.mjs';

const binary = process.env.OXIOS_BIN;

describe('start with the system', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let person, entry, server, chrome, page;
	const toggle = (is = {}) => page.getByRole('switch', { name: 'Start with the system', ...is });

	before(async () => {
		person = await mkdtemp(join(tmpdir(), 'oxios-e2e-'));
		entry = join(person, '.config', 'autostart', 'oxios.desktop');
		const env = { PATH: process.env.PATH, HOME: person, OXIOS_HOME: join(person, '.oxios'), LANG: 'C.UTF-8' };
		server = await run(binary, ['serve'], /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/, { env });
		chrome = await browser();
		page = await chrome.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en' });
		await page.goto(server.match[0]);
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		await page.getByRole('textbox', { name: 'Message' }).waitFor();
	});
	after(async () => {
		await chrome?.close();
		await server?.stop();
		await rm(person, { recursive: true, force: true });
	});

	async function general() {
		await page.keyboard.press('Control+Comma');
		await page.getByRole('button', { name: 'Models', exact: true }).click();
		await page.getByRole('button', { name: 'General', exact: true }).click();
		await toggle().waitFor();
	}

	it('is off, and turning it on makes an entry that starts hidden', async () => {
		await general();
		assert.equal(await toggle().getAttribute('aria-checked'), 'false');
		await toggle().click();
		await toggle({ checked: true }).waitFor();
		assert.match(await readFile(entry, 'utf8'), /^Exec=.*oxios-desktop" --hidden$/m);
	});

	it('says when what it starts has gone, and turning it off takes the entry away', async () => {
		const lost = (await readFile(entry, 'utf8')).replace(/^TryExec=.*$/m, 'TryExec=/nowhere/oxios-desktop');
		await writeFile(entry, lost);
		await general();
		await page.getByText('/nowhere/oxios-desktop is not there any more').waitFor();
		await toggle().click();
		await toggle({ checked: false }).waitFor();
		assert.equal(existsSync(entry), false);
	});

	it('tells why it could not be turned on', async () => {
		await rm(join(person, '.config', 'autostart'), { recursive: true });
		await symlink('/nowhere/autostart', join(person, '.config', 'autostart'));
		await general();
		await toggle().click();
		await page.getByText(/oxios\.desktop cannot be written/).waitFor();
		assert.equal(await toggle().getAttribute('aria-checked'), 'false');
	});
});
