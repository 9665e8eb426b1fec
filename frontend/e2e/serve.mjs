import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export function freePort() {
	return new Promise((resolve, reject) => {
		const s = createServer();
		s.once('error', reject);
		s.listen(0, '127.0.0.1', () => {
			const { port } = s.address();
			s.close(() => resolve(port));
		});
	});
}

/** run starts a program and waits until a line of its output matches; it returns the match and the ways to end it. */
export function run(command, args, pattern, options = {}) {
	return new Promise((resolve, reject) => {
		// What is waited for must not be broken up by colours, which some programs write wherever CI is set.
		const env = { ...(options.env ?? process.env), NO_COLOR: '1', FORCE_COLOR: '0' };
		const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options, env });
		let text = '';
		const end = (signal) =>
			new Promise((done) => {
				if (child.exitCode !== null || child.signalCode !== null) return done();
				child.once('exit', done);
				child.kill(signal);
			});
		const stop = () => end('SIGTERM');
		const kill = () => end('SIGKILL');
		const timer = setTimeout(() => {
			void stop();
			reject(new Error(`${command} said nothing that matches ${pattern} within 60 s:\n${text}`));
		}, 60_000);
		const read = (chunk) => {
			text += chunk;
			const match = pattern.exec(text);
			if (!match) return;
			clearTimeout(timer);
			resolve({ match, stop, output: () => text, pid: child.pid, kill });
		};
		child.stdout.on('data', read);
		child.stderr.on('data', read);
		child.once('error', reject);
		child.once('exit', (code) => {
			clearTimeout(timer);
			reject(new Error(`${command} ended with ${code}:\n${text}`));
		});
	});
}

/** fakePage builds the page with the scripted kernel and serves it. */
export async function fakePage() {
	const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
	await run(process.execPath, [vite, 'build', '--mode', 'fake', '--logLevel', 'warn'], /$^/).catch((e) => {
		if (!/ended with 0/.test(e.message)) throw e;
	});
	const port = await freePort();
	const server = await run(
		process.execPath,
		[vite, 'preview', '--mode', 'fake', '--host', '127.0.0.1', '--port', String(port)],
		/http:\/\/127\.0\.0\.1:\d+/,
	);
	return { url: `http://127.0.0.1:${port}/`, stop: server.stop };
}

/** browser starts Chromium without a network of its own. */
export function browser() {
	const found = [
		process.env.OXIOS_CHROMIUM,
		'/usr/bin/chromium',
		'/usr/bin/chromium-browser',
		'/usr/bin/google-chrome',
	].find((p) => p && existsSync(p));
	return chromium.launch({
		executablePath: found,
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-background-networking',
			'--disable-component-update',
			'--no-first-run',
		],
	});
}

/** palette runs a command by its name. */
export async function palette(page, name) {
	await page.keyboard.press('Control+KeyK');
	await page.getByRole('combobox').fill(name);
	await page.getByRole('option', { name }).first().click();
}

/**
 * answer presses a button of a request once it can be answered. What waits by itself until a button is enabled scrolls
 * meanwhile, and a request that moves cannot be answered: where it moved under the press, the button is pressed again.
 */
export async function answer(button) {
	const ready = button.and(button.page().locator(':not([aria-disabled="true"])'));
	for (;;) {
		await ready.waitFor();
		const at = await ready.elementHandle();
		await at.evaluate((e) => {
			e.heard = false;
			e.addEventListener('click', () => (e.heard = true), { once: true });
		});
		await at.click();
		if (await at.evaluate((e) => e.heard)) return;
	}
}

/** tryDemo presses the button of the demo once this machine was looked at: what is found moves it. */
export async function tryDemo(page) {
	const button = page.getByRole('button', { name: 'Try the offline demo' });
	await button.waitFor();
	await page.getByText('Looking for models on this machine', { exact: true }).waitFor({ state: 'detached' });
	await button.click();
}
