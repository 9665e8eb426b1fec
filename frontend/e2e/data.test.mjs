// What a person has, and what becomes of it, on the real kernel: backup, restore, storage, deletion with undo, export.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { browser, run, tryDemo } from './serve.mjs';

const binary = process.env.OXIOS_BIN;
const command = promisify(execFile);

describe('data', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let dir, home, env, server, chrome, page, saved;

	const serve = () => run(binary, ['serve'], /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/, { env });
	const oxios = async (...args) => (await command(binary, args, { env, cwd: dir })).stdout;
	const message = () => page.getByRole('textbox', { name: 'Message' });
	const log = () => page.getByRole('log', { name: 'Conversation' });
	const line = (title) => page.locator('aside li', { hasText: title });
	const plugin = () => join(home, 'knowledge', '.obsidian', 'plugins', 'x', 'main.js');
	const result = () => page.locator('.result[role=status]');

	async function menu(title, item) {
		await line(title).hover();
		await line(title)
			.getByRole('button', { name: /^Actions/ })
			.click();
		await page.getByRole('menuitem', { name: item }).click();
	}

	async function settings(section) {
		await page.keyboard.press('Control+Comma');
		await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: section }).click();
	}

	async function ask(text) {
		await page.getByRole('button', { name: 'Chat', exact: true }).click();
		await page.keyboard.press('Control+KeyN');
		await message().fill(text);
		await message().press('Enter');
		await log().getByText('Demo: scripted, no language model').waitFor({ timeout: 30_000 });
	}

	/** upload chooses a backup on the storage page. */
	async function upload(path) {
		const [dialog] = await Promise.all([
			page.waitForEvent('filechooser'),
			page.getByRole('button', { name: 'Choose a backup' }).click(),
		]);
		await dialog.setFiles(path);
	}

	/** holds reports whether a file of the database has these words anywhere in it. */
	async function holds(words) {
		for (const name of await readdir(home)) {
			if (name.startsWith('oxios.db') && (await readFile(join(home, name))).includes(words)) return true;
		}
		return false;
	}

	before(async () => {
		dir = await mkdtemp(join(tmpdir(), 'oxios-e2e-'));
		home = join(dir, '.oxios');
		await mkdir(home, { mode: 0o700 });
		await writeFile(join(home, 'config.toml'), 'keyring = false\n');
		env = { PATH: process.env.PATH, HOME: dir, OXIOS_HOME: home, LANG: 'C.UTF-8' };
		server = await serve();
		chrome = await browser();
		const context = await chrome.newContext({
			viewport: { width: 1280, height: 800 },
			locale: 'en',
			acceptDownloads: true,
			reducedMotion: 'reduce',
		});
		page = await context.newPage();
		await page.goto(server.match[0]);
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		await ask('Write a hello file.');
		await ask('Look around this folder.');
	});
	after(async () => {
		await chrome?.close();
		await server?.stop();
		await rm(dir, { recursive: true, force: true });
	});

	it('says what remains, hides a deleted conversation, and brings it back with Undo', async () => {
		await menu('Write a hello file', 'Delete');
		const dialog = page.getByRole('dialog', { name: 'Delete this conversation?' });
		await dialog.getByText('1 file that it wrote stays where it is.').waitFor();
		await dialog.getByText('hello.txt').waitFor();
		await dialog.getByText(/The audit record keeps \d+ entries/).waitFor();
		await dialog.getByRole('button', { name: 'Delete' }).click();
		await line('Write a hello file').waitFor({ state: 'detached' });
		// Hidden from everybody, not from this page alone.
		assert.doesNotMatch(await oxios('sessions', 'list'), /hello/);
		assert.doesNotMatch(await oxios('sessions', 'list', '--search', 'hello'), /hello/);
		assert.doesNotMatch(await oxios('ps', '--all'), /hello/);
		await page.getByRole('button', { name: 'Undo', exact: true }).click();
		await line('Write a hello file').click();
		await log().getByText('1 file changed').waitFor();
		assert.match(await oxios('sessions', 'list'), /hello/);
	});

	it('exports a conversation as Markdown and as JSON', async () => {
		const [md] = await Promise.all([page.waitForEvent('download'), menu('Write a hello file', 'Export as Markdown')]);
		assert.equal(md.suggestedFilename(), 'Write a hello file.md');
		const text = await readFile(await md.path(), 'utf8');
		assert.match(text, /^# Write a hello file\n/);
		assert.match(
			text,
			/## You · [\s\S]*## Agent \(oxios-demo\) · [\s\S]*✓ write[\s\S]*created `hello.txt` \(\+1 −0\)[\s\S]*free, \d+ tokens in/,
		);
		const [json] = await Promise.all([page.waitForEvent('download'), menu('Write a hello file', 'Export as JSON')]);
		const all = JSON.parse(await readFile(await json.path(), 'utf8'));
		assert.equal(all.messages.length, 2);
		assert.match(all.runs[0].changes[0].diff, /\+Hello/);
		assert.ok(all.runs[0].steps.some((s) => s.kind === 'tool' && s.output));
	});

	it('shows the size of each part, and cleans one after saying what stays', async () => {
		await writeFile(join(home, 'logs', 'serve.log.1'), 'x'.repeat(250_000));
		await settings('Storage');
		await page.getByText('Conversations', { exact: true }).waitFor();
		const logs = page.locator('.choice', { hasText: 'Logs' });
		await logs.getByText(/25\d KB/).waitFor();
		await logs.getByRole('button', { name: 'Clean: Logs' }).click();
		const dialog = page.getByRole('dialog', { name: /^Remove Logs \(25\d KB\)/ });
		await dialog.getByText('Conversations, settings and the audit record stay.').waitFor();
		await dialog.getByRole('button', { name: 'Clean' }).click();
		await page.getByText(/25\d KB were freed/).waitFor();
		assert.deepEqual(
			(await readdir(join(home, 'logs'))).filter((n) => n.endsWith('.1')),
			[],
		);
	});

	it('saves a backup that is read back first', async () => {
		await mkdir(dirname(plugin()), { recursive: true });
		await writeFile(plugin(), '// a program that Obsidian starts\n');
		const [download] = await Promise.all([
			page.waitForEvent('download'),
			page.getByRole('button', { name: 'Back up', exact: true }).click(),
		]);
		await result().getByText('The backup is whole').waitFor();
		await result().getByText('2 conversations, 4 messages, 2 files,').waitFor();
		assert.match(download.suggestedFilename(), /^oxios-backup-\d{8}-\d{6}\.tar\.gz$/);
		saved = join(dir, 'saved.tar.gz');
		await download.saveAs(saved);
		assert.deepEqual(
			(await readdir(join(home, 'run'))).filter((n) => n.startsWith('work-')),
			[],
			'nothing is left of the way',
		);
	});

	it('has nothing to add while everything is here', async () => {
		await upload(saved);
		await page.getByRole('dialog', { name: 'Everything in this backup is here already' }).waitFor();
		await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click();
	});

	it('refuses a damaged backup, and says that nothing was changed', async () => {
		const bytes = await readFile(saved);
		bytes[bytes.length >> 1] ^= 0x10;
		const damaged = join(dir, 'damaged.tar.gz');
		await writeFile(damaged, bytes);
		await upload(damaged);
		await page
			.getByRole('alert')
			.getByText(/is damaged.*Nothing was changed/)
			.waitFor();
		await writeFile(damaged, (await readFile(saved)).subarray(0, 3000));
		await upload(damaged);
		await page
			.getByRole('alert')
			.getByText(/is cut off.*Nothing was changed/)
			.waitFor();
		await writeFile(damaged, 'not a backup');
		await upload(damaged);
		await page
			.getByRole('alert')
			.getByText(/is no backup of Oxios/)
			.waitFor();
	});

	it('deletes for good when nobody undoes it, killed or not, and leaves no text behind', async () => {
		await page.getByRole('button', { name: 'Chat', exact: true }).click();
		assert.equal(await holds('Look around this folder.'), true);
		await menu('Look around this folder', 'Delete');
		await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
		await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
		server.kill();
		assert.doesNotMatch(await oxios('sessions', 'list'), /Look around/);
		assert.equal(await holds('Look around this folder.'), false);
		server = await serve();
		await page.goto(server.match[0]);
		await line('Write a hello file').waitFor();
		assert.equal(await line('Look around this folder').count(), 0);
	});

	it('brings back from the backup what is missing, once', async () => {
		await settings('Storage');
		await upload(saved);
		const dialog = page.getByRole('dialog', { name: 'Restore this backup?' });
		await dialog.getByRole('row', { name: 'Conversations 1 1 0' }).waitFor();
		await dialog.getByRole('button', { name: 'Restore' }).click();
		await result().getByText('The backup was restored').waitFor();
		await page.getByRole('button', { name: 'Chat', exact: true }).click();
		await line('Look around this folder').click();
		await log().getByText('Demo: scripted, no language model').waitFor();
		assert.match(await oxios('audit', 'verify'), /intact|were found unsigned/); // the second after the kill above
		await settings('Storage');
		await upload(saved);
		await page.getByRole('dialog', { name: 'Everything in this backup is here already' }).waitFor();
		await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click();
	});

	it('takes over what can start programs only where the person chooses it', async () => {
		await rm(plugin());
		await upload(saved);
		const dialog = page.getByRole('dialog', { name: 'Restore this backup?' });
		await dialog.getByRole('button', { name: 'Restore' }).and(page.locator(':disabled')).waitFor();
		await dialog.getByRole('checkbox', { name: /File .*main\.js/ }).check();
		await dialog.getByRole('button', { name: 'Restore' }).click();
		await result().getByText('The backup was restored').waitFor();
		assert.match(await readFile(plugin(), 'utf8'), /Obsidian/);
	});
});
