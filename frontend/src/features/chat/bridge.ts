// What the page and an app in a frame say to each other: JSON-RPC 2.0 by postMessage, as the extension
// io.modelcontextprotocol/ui has it in its version of 2026-01-26.

/** Given is what an app is told of the call that it came with. */
export interface Given {
	input: unknown;
	result: unknown;
}

/** Host is what the page does for an app. What it rejects with is told the app as an error. */
export interface Host {
	/** post sends a message into the frame. */
	post(message: object): void;
	/** context is how the app is shown: theme, language, room. */
	context(): object;
	/** call calls a tool of the app's own server, which may wait for the person. */
	call(tool: string, args: unknown): Promise<unknown>;
	/** read reads a resource of that server. */
	read(uri: string): Promise<unknown>;
	/** link asks the person whether a web address may be opened. */
	link(url: string): void;
	/** draft puts words into the message that the person writes. It is never sent by itself. */
	draft(text: string): void;
	/** height is how high the app wants to be, within bounds. */
	height(pixels: number): void;
	/** began says that the app has answered for the first time. */
	began(): void;
	/** over says that the app wants to end, or says so much that it has to. */
	over(why: 'asked' | 'flood'): void;
}

export const VERSION = '2026-01-26';
export const LOWEST = 40;
export const HIGHEST = 600;
/** How many messages an app may send in a second, how many requests may be open, and how long its words may be. */
const FLOOD = 300;
const OPEN = 8;
const WORDS = 20_000;

interface Message {
	jsonrpc?: unknown;
	id?: unknown;
	method?: unknown;
	params?: unknown;
}

const params = (m: Message): Record<string, unknown> =>
	typeof m.params === 'object' && m.params !== null ? (m.params as Record<string, unknown>) : {};

class Refusal extends Error {
	code: number;
	constructor(code: number, message: string) {
		super(message);
		this.code = code;
	}
}

/** Bridge answers one app. */
export class Bridge {
	#host: Host;
	#given: Given;
	#ready = false;
	#over = false;
	#open = 0;
	#count = 0;
	#since = 0;
	#asked = 0;

	constructor(host: Host, given: Given) {
		this.#host = host;
		this.#given = given;
	}

	/** hear takes what the frame sent, at a time in milliseconds. */
	hear(data: unknown, now: number): void {
		if (this.#over) return;
		if (now - this.#since >= 1000) [this.#since, this.#count] = [now, 0];
		if (++this.#count > FLOOD) {
			this.#over = true;
			this.#host.over('flood');
			return;
		}
		if (typeof data !== 'object' || data === null || (data as Message).jsonrpc !== '2.0') return;
		const m = data as Message;
		if (typeof m.method !== 'string') return; // an answer: that to the end is the only one, and nobody waits for it
		if (m.id === undefined) this.#told(m.method, params(m));
		else if (typeof m.id === 'string' || typeof m.id === 'number') void this.#answer(m.id, m.method, params(m));
	}

	/** changed tells an app how it is shown from now on. */
	changed(): void {
		if (this.#ready) this.#tell('ui/notifications/host-context-changed', this.#host.context());
	}

	/** end tells an app that it ends. */
	end(): void {
		if (this.#ready && !this.#over)
			this.#host.post({ jsonrpc: '2.0', id: `oxios-${++this.#asked}`, method: 'ui/resource-teardown', params: {} });
		this.#over = true;
	}

	#tell(method: string, of: object): void {
		this.#host.post({ jsonrpc: '2.0', method, params: of });
	}

	#told(method: string, of: Record<string, unknown>): void {
		switch (method) {
			case 'ui/notifications/initialized':
				if (this.#ready) return;
				this.#ready = true;
				this.#tell('ui/notifications/tool-input', { arguments: this.#given.input });
				this.#tell('ui/notifications/tool-result', this.#given.result as object);
				return;
			case 'ui/notifications/size-changed':
				if (typeof of.height === 'number' && Number.isFinite(of.height))
					this.#host.height(Math.min(HIGHEST, Math.max(LOWEST, Math.ceil(of.height))));
				return;
			case 'ui/notifications/request-teardown':
				this.#host.over('asked');
		}
	}

	async #answer(id: string | number, method: string, of: Record<string, unknown>): Promise<void> {
		if (this.#open >= OPEN) {
			this.#refuse(id, new Refusal(-32000, 'Too many requests are open.'));
			return;
		}
		this.#open++;
		try {
			const result = await this.#result(method, of);
			if (!this.#over) this.#host.post({ jsonrpc: '2.0', id, result });
		} catch (e) {
			this.#refuse(id, e);
		} finally {
			this.#open--;
		}
	}

	#refuse(id: string | number, e: unknown): void {
		if (this.#over) return;
		const code = e instanceof Refusal ? e.code : -32000;
		this.#host.post({ jsonrpc: '2.0', id, error: { code, message: e instanceof Error ? e.message : String(e) } });
	}

	async #result(method: string, of: Record<string, unknown>): Promise<unknown> {
		switch (method) {
			case 'ping':
				return {};
			case 'ui/initialize':
				this.#host.began();
				return {
					protocolVersion: VERSION,
					hostInfo: { name: 'oxios', version: '1' },
					hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, logging: {}, message: { text: {} } },
					hostContext: this.#host.context(),
				};
			case 'ui/request-display-mode':
				return { mode: 'inline' };
			case 'ui/open-link':
				this.#host.link(webAddress(of.url));
				return {};
			case 'ui/message':
				this.#host.draft(wordsOf(of.content));
				return {};
			case 'tools/call':
				if (typeof of.name !== 'string') throw new Refusal(-32602, 'The call names no tool.');
				return this.#host.call(of.name, of.arguments ?? {});
			case 'resources/read':
				if (typeof of.uri !== 'string') throw new Refusal(-32602, 'The request names no resource.');
				return this.#host.read(of.uri);
		}
		throw new Refusal(-32601, 'Oxios does not offer this to apps.');
	}
}

/** webAddress is an address that may be opened in a browser, as it is written out. */
function webAddress(url: unknown): string {
	const at = typeof url === 'string' && url.length <= 2000 ? URL.parse(url) : null;
	if (!at || !['http:', 'https:'].includes(at.protocol) || at.username || at.password)
		throw new Refusal(-32602, 'Only web addresses are opened.');
	return at.href;
}

/** wordsOf are the texts of a message. */
function wordsOf(content: unknown): string {
	const list = Array.isArray(content) ? content : [content];
	const text = list
		.map((c: unknown) => (c as { type?: unknown; text?: unknown } | null)?.text)
		.filter((t): t is string => typeof t === 'string')
		.join('\n')
		.trim();
	if (text === '' || text.length > WORDS) throw new Refusal(-32602, 'The message has no text, or too much.');
	return text;
}
