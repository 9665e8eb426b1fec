// A home of the real program with a model that misbehaves, for the specs of what bad input gets.
import AxeBuilder from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, run } from './serve.mjs';

export const binary = process.env.OXIOS_BIN;

const faults = join(
	dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
	'kernel',
	'demo',
	'testdata',
	'faults.toml',
);
const link = /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/;

/** Oxios is a home, the scripted endpoint, and `oxios serve`. Make one with {@link oxios}. */
class Oxios {
	/** disk is the home as this process sees it; another than home where it lies on a disk of its own. */
	disk;
	#before = [];
	#holder;

	constructor(dir, script) {
		this.dir = dir;
		this.script = script;
		this.home = this.disk = join(dir, '.oxios');
		this.folder = join(dir, 'work');
		this.env = { PATH: process.env.PATH, HOME: dir, OXIOS_HOME: this.home, LANG: 'C.UTF-8' };
		this.config = `keyring = false\nnotifications = false\nlanguage = "en"\nfolder = "${this.folder}"\nmax_tool_calls = 8\n`;
	}

	async startModel() {
		this.port ??= await freePort();
		const args = ['demo', '--script', this.script, '--addr', `127.0.0.1:${this.port}`];
		this.model = await run(binary, args, /OXIOS_BASE_URL=(\S+)/, { env: this.env });
		Object.assign(this.env, {
			OXIOS_BASE_URL: this.model.match[1],
			OXIOS_MODEL: 'oxios-demo',
			OXIOS_API_KEY: 'test-key-0123456789',
		});
	}

	/** serve starts `oxios serve`; it rejects with what was said when that ends instead. */
	async serve() {
		const [command, ...args] = this.#command('serve');
		this.server = await run(command, args, link, { env: this.env });
		return this.server.match[0];
	}

	#command(...args) {
		return [...this.#before, binary, ...args];
	}

	async writeConfig(text) {
		const path = join(this.disk, 'config.toml');
		await writeFile(`${path}.new`, text, { mode: 0o600 });
		await rename(`${path}.new`, path);
	}

	/** cli runs a command to its end. */
	cli(...args) {
		return new Promise((resolve, reject) => {
			const [command, ...rest] = this.#command(...args);
			const child = spawn(command, rest, { cwd: this.folder, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
			const said = { out: '', err: '' };
			child.stdout.on('data', (d) => (said.out += d));
			child.stderr.on('data', (d) => (said.err += d));
			child.once('error', reject);
			child.once('close', (code) => resolve({ code, ...said }));
		});
	}

	/**
	 * mount gives the home a disk of its own, in a mount namespace, so that nothing of it is left however this ends.
	 * It returns false where nobody may do that; then fill limits the size of files instead.
	 */
	async mount() {
		const user = process.getuid() === 0 ? [] : ['--user', '--map-root-user'];
		const script = 'mount -t tmpfs -o size=8m tmpfs "$1" && echo mounted && exec cat';
		const args = [...user, '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', this.home];
		// Its input ends with this process, and so do cat and the mount.
		this.#holder = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'inherit'] });
		const mounted = await new Promise((resolve) => {
			this.#holder.once('error', () => resolve(false));
			this.#holder.once('exit', () => resolve(false));
			this.#holder.stdout.once('data', () => resolve(true));
		});
		if (!mounted) {
			this.#holder = undefined;
			return false;
		}
		const { pid } = this.#holder;
		const enter = user.length > 0 ? ['--user', '--preserve-credentials'] : [];
		this.#before = ['nsenter', ...enter, '--mount', '--target', String(pid)];
		this.#before.push('sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', this.folder);
		this.disk = `/proc/${pid}/root${this.home}`;
		await this.writeConfig(this.config);
		return true;
	}

	async fill() {
		if (!this.#holder) return this.#limit('4096');
		const filler = await open(join(this.disk, 'filler'), 'w');
		try {
			for (;;) await filler.write(Buffer.alloc(4096));
		} catch (e) {
			if (e.code !== 'ENOSPC') throw e;
		} finally {
			await filler.close();
		}
	}

	async empty() {
		if (!this.#holder) return this.#limit('unlimited');
		await rm(join(this.disk, 'filler'));
	}

	async #limit(size) {
		await run('prlimit', ['--pid', String(this.server.pid), `--fsize=${size}:unlimited`], /$^/).catch((e) => {
			if (!/ended with 0/.test(e.message)) throw e;
		});
	}

	async end() {
		await this.server?.stop();
		await this.model?.stop();
		this.#holder?.stdin.end();
		await rm(this.dir, { recursive: true, force: true });
	}
}

/** oxios makes a home and starts its model, which plays a file of scenarios; end() ends both. */
export async function oxios(script = faults, env = {}) {
	const o = new Oxios(await mkdtemp(join(tmpdir(), 'oxios-e2e-')), script);
	Object.assign(o.env, env);
	await mkdir(o.home, { mode: 0o700 });
	await mkdir(o.folder);
	await o.writeConfig(o.config);
	await o.startModel();
	return o;
}

/** setVersion writes the version into the header of a closed database, and returns the one before. */
export async function setVersion(path, version) {
	const at = 60; // https://www.sqlite.org/fileformat.html#the_database_header
	const file = await open(path, 'r+');
	try {
		const { buffer } = await file.read(Buffer.alloc(4), 0, 4, at);
		const before = buffer.readUInt32BE();
		buffer.writeUInt32BE(version);
		await file.write(buffer, 0, 4, at);
		return before;
	} finally {
		await file.close();
	}
}

/**
 * call makes a call to the kernel over a socket of the page's own kind, beside the page: it looks at nothing.
 * All calls of one page share that socket, as the gateway lets in only so many in a second.
 */
export function call(page, method, ...args) {
	return page.evaluate(
		async ([method, args]) => {
			const connect = () =>
				new Promise((ready, fail) => {
					const ws = new WebSocket(`ws://${location.host}/ws`);
					const calls = new Map();
					ws.onopen = () => ws.send(JSON.stringify({ auth: localStorage.getItem('oxios.secret') }));
					ws.onclose = () => {
						delete window.beside;
						const closed = new Error('the socket was closed');
						fail(closed);
						for (const call of calls.values()) call.fail(closed);
					};
					ws.onmessage = (m) => {
						const frame = JSON.parse(m.data);
						if (frame.ready) return ready({ ws, calls });
						const call = calls.get(frame.id);
						if (!call) return; // an event
						calls.delete(frame.id);
						if (frame.error) call.fail(new Error(frame.error.message));
						else call.done(frame.result);
					};
				});
			const { ws, calls } = await (window.beside ??= connect());
			return new Promise((done, fail) => {
				const id = (window.besideId = (window.besideId ?? 0) + 1);
				calls.set(id, { done, fail });
				ws.send(JSON.stringify({ id, method, args }));
			});
		},
		[method, args],
	);
}

/** passFirstStart tells the kernel that the person has been through the first start. */
export async function passFirstStart(page) {
	await page.waitForFunction(() => localStorage.getItem('oxios.secret'));
	await call(page, 'infra.finishOnboarding');
	await page.reload();
}

/** visit opens an address in a window of its own, which may use the clipboard; it returns the page and the errors that happen in it. */
export async function visit(chrome, address) {
	const context = await chrome.newContext({
		viewport: { width: 1280, height: 800 },
		locale: 'en',
		permissions: ['clipboard-read', 'clipboard-write'],
	});
	context.setDefaultTimeout(30_000);
	const page = await context.newPage();
	const errors = [];
	page.on('pageerror', (e) => errors.push(e.message));
	await page.goto(address);
	return { page, errors };
}

/** begin waits for the home: the environment names address, key and model, so nothing is asked at the first start. */
export async function begin(page) {
	await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
}

/** accessible fails when axe objects to anything on the page. */
export async function accessible(page) {
	const { violations } = await new AxeBuilder({ page }).analyze();
	assert.deepEqual(
		violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 160)}`)),
		[],
	);
}
