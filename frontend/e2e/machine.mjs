// A machine of its own for the specs of the frame: a home, `oxios serve` on it, and a browser that was never there.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, run, tryDemo } from './serve.mjs';

export const binary = process.env.OXIOS_BIN;

/** Machine is a person's home on which nothing but what a spec puts there was ever installed. */
class Machine {
	#ends = [];

	constructor(dir) {
		this.dir = dir;
		this.folder = join(dir, 'Oxios');
		this.env = {
			PATH: process.env.PATH,
			HOME: dir,
			OXIOS_HOME: join(dir, '.oxios'),
			LANG: 'C.UTF-8',
			OLLAMA_HOST: '127.0.0.1:9',
		};
	}

	/** serve starts `oxios serve` and returns the address that lets one browser in. */
	async serve() {
		this.server = await run(binary, ['serve'], /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/, { env: this.env });
		return this.server.match[0];
	}

	async config(text) {
		await mkdir(this.env.OXIOS_HOME, { recursive: true, mode: 0o700 });
		await writeFile(join(this.env.OXIOS_HOME, 'config.toml'), `keyring = false\nnotifications = false\n${text}`, {
			mode: 0o600,
		});
	}

	/** cli runs a command to its end. */
	async cli(...args) {
		const ended = await run(binary, args, /$^/, { env: this.env }).catch((e) => e.message);
		return { out: ended.slice(ended.indexOf('\n') + 1) };
	}

	/** onEnd has work done when the machine is put away. */
	onEnd(fn) {
		this.#ends.push(fn);
	}

	async end() {
		await this.server?.stop();
		for (const fn of this.#ends) await fn();
		await rm(this.dir, { recursive: true, force: true });
	}
}

export async function machine() {
	return new Machine(await mkdtemp(join(tmpdir(), 'oxios-e2e-')));
}

/** listen serves a handler until the returned function is called. */
export async function listen(port, handler) {
	const server = createServer(handler);
	await new Promise((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
	return () =>
		new Promise((done) => {
			server.closeAllConnections();
			server.close(done);
		});
}

async function body(request) {
	let text = '';
	for await (const chunk of request) text += chunk;
	return text ? JSON.parse(text) : {};
}

/** ollama plays the server of that name as far as Oxios asks it; models are the names that it has. */
export function ollama(models) {
	return async (request, response) => {
		const json = (v) => response.setHeader('content-type', 'application/json').end(JSON.stringify(v));
		const asked = await body(request);
		if (request.url === '/api/tags')
			return json({ models: models.map((name) => ({ name, model: name, details: {} })) });
		if (request.url === '/api/show') return json({ capabilities: ['completion', 'tools'], model_info: {} });
		if (request.url !== '/api/chat') return response.writeHead(404).end();
		const tool = asked.tools?.find((t) => t.function.name === 'report_number');
		const message = tool
			? {
					role: 'assistant',
					content: '',
					tool_calls: [{ function: { name: 'report_number', arguments: { number: 7 } } }],
				}
			: { role: 'assistant', content: 'There are two files here. One is a note.' };
		response.setHeader('content-type', 'application/x-ndjson');
		response.write(`${JSON.stringify({ model: asked.model, message, done: false })}\n`);
		response.end(
			`${JSON.stringify({ model: asked.model, message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 9, eval_count: 9 })}\n`,
		);
	};
}

/** far is a provider on another machine: a proxy stands before it, and while that is closed it cannot be reached. */
export async function far(m) {
	const port = await freePort();
	await m.config(
		`[[providers]]\nid = "far"\nname = "Far"\nbase_url = "http://models.test/v1"\nproxy_url = "http://127.0.0.1:${port}"\n`,
	);
	const chat = async (request, response) => {
		const asked = await body(request);
		if (!request.url.endsWith('/chat/completions')) {
			return response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: [{ id: 'big' }] }));
		}
		const said = asked.messages.at(-1).content;
		const chunk = (choices, more = {}) =>
			response.write(
				`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'big', choices, ...more })}\n\n`,
			);
		response.setHeader('content-type', 'text/event-stream');
		chunk([{ index: 0, delta: { role: 'assistant', content: `Far heard: ${said}` } }]);
		chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]);
		chunk([], { usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } });
		response.end('data: [DONE]\n\n');
	};
	let stop = async () => {};
	m.onEnd(() => stop());
	return { up: async () => (stop = await listen(port, chat)), down: () => stop() };
}

/** visit opens the page in a browser that was never there. */
export async function visit(chrome, address, options = {}) {
	const context = await chrome.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en', ...options });
	context.setDefaultTimeout(20_000);
	const page = await context.newPage();
	page.errors = [];
	page.on('pageerror', (e) => page.errors.push(e.message));
	await page.goto(address);
	return page;
}

/** begin goes through the first start with the demo, and past the first answer. */
export async function begin(page) {
	await tryDemo(page);
	await page.getByRole('button', { name: 'Begin' }).click();
	await page.getByRole('button', { name: 'Later' }).click();
	await page.getByRole('button', { name: 'Later' }).waitFor({ state: 'detached' });
}
