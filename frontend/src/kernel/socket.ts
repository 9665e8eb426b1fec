import { PageFiles } from './files';
import { Ordered } from './ordered';
import { Failure, timed, type Event, type Link, type Transport } from './transport';
import type { KernelError } from './api.gen';

const KEPT = 'oxios.secret';
const TOP_WAIT = 8_000;

interface Frame {
	id?: number;
	result?: unknown;
	error?: KernelError;
	event?: Event;
	/** ready answers the secret: from then on calls are heard. */
	ready?: boolean;
}

interface Call {
	resolve(v: unknown): void;
	reject(e: Failure): void;
}

const lost = () =>
	new Failure({
		code: 'network',
		message: 'The connection to Oxios was lost.',
		hint: 'It is tried again by itself. What you wrote is kept.',
		message_ko: 'Oxios와 연결이 끊겼습니다.',
		hint_ko: '저절로 다시 연결합니다. 쓴 글은 남아 있습니다.',
	} as KernelError);

/**
 * signIn exchanges the one-time code of the address for a cookie and a secret. It returns the secret,
 * or undefined when the page was opened without a code and never had one.
 */
export async function signIn(at: Location, store: Storage, history: History): Promise<string | undefined> {
	const code = new URLSearchParams(at.hash.slice(1)).get('code');
	if (!code) return store.getItem(KEPT) ?? undefined;
	// The code is worth nothing after this, and does not belong into the history.
	history.replaceState(null, '', at.pathname + at.search);
	const answer = await fetch('/auth', {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ code }),
		credentials: 'same-origin',
	});
	if (!answer.ok) return store.getItem(KEPT) ?? undefined;
	const { secret } = (await answer.json()) as { secret: string };
	store.setItem(KEPT, secret);
	return secret;
}

/** SocketTransport speaks to `oxios serve` over a WebSocket of the page's own origin, and comes back when it breaks. */
export class SocketTransport implements Transport {
	readonly files: PageFiles;
	#secret: string;
	#url: string;
	#ws: WebSocket | undefined;
	#ready: Promise<void>;
	#open: () => void = () => {};
	#refuse: (e: Failure) => void = () => {};
	#calls = new Map<number, Call>();
	#id = 0;
	#tries = 0;
	#ordered: Ordered | undefined;
	#onlink: (l: Link) => void = () => {};
	#closed = false;
	#up = false;
	#refused = false;

	constructor(secret: string, at: Location) {
		this.#secret = secret;
		this.files = new PageFiles(secret);
		this.#url = `${at.protocol === 'https:' ? 'wss' : 'ws'}://${at.host}/ws`;
		this.#ready = this.#wait();
		this.#connect();
	}

	async call(method: string, args: unknown[]): Promise<unknown> {
		return timed(
			method,
			this.#ready.then(() => this.#send(method, args)),
		);
	}

	subscribe(from: number, onevent: (e: Event) => void, onlink: (l: Link) => void): () => void {
		this.#ordered = new Ordered(onevent, from);
		this.#onlink = onlink;
		onlink(this.#up ? 'open' : this.#refused ? 'refused' : 'connecting');
		void this.#ready.then(
			() => this.#follow(),
			() => {}, // refused: there is nothing to follow
		);
		return () => {
			this.#closed = true;
			this.#ws?.close();
		};
	}

	#wait(): Promise<void> {
		const ready = new Promise<void>((resolve, reject) => {
			this.#open = resolve;
			this.#refuse = reject;
		});
		ready.catch(() => {}); // nobody may be waiting
		return ready;
	}

	#connect(): void {
		const ws = new WebSocket(this.#url);
		this.#ws = ws;
		ws.onopen = () => {
			ws.send(JSON.stringify({ auth: this.#secret }));
		};
		ws.onmessage = (m) => this.#receive(JSON.parse(String(m.data)) as Frame);
		ws.onclose = (e) => this.#drop(e.code);
	}

	#drop(code: number): void {
		for (const c of this.#calls.values()) c.reject(lost());
		this.#calls.clear();
		this.#up = false;
		if (this.#closed) return;
		// 4401 and a policy close are the gateway's no: asking again would not help.
		if (code === 4401 || code === 1008) {
			this.#refused = true;
			localStorage.removeItem(KEPT);
			this.#refuse(
				new Failure({
					code: 'auth',
					message: 'This page is not signed in.',
					message_ko: '이 화면은 로그인되어 있지 않습니다.',
				} as KernelError),
			);
			this.#onlink('refused');
			return;
		}
		this.#onlink('lost');
		this.#ready = this.#wait();
		void this.#ready.then(
			() => this.#follow(),
			() => {}, // refused: there is nothing to follow
		);
		const rest = Math.min(TOP_WAIT, 250 * 2 ** this.#tries++);
		setTimeout(() => this.#connect(), rest);
	}

	#follow(): void {
		if (!this.#ordered) return;
		void this.#send('infra.events', [String(this.#ordered.last)]).catch(() => {});
	}

	#send(method: string, args: unknown[]): Promise<unknown> {
		const ws = this.#ws;
		if (!ws || ws.readyState !== WebSocket.OPEN) return Promise.reject(lost());
		const id = ++this.#id;
		return new Promise((resolve, reject) => {
			this.#calls.set(id, { resolve, reject });
			ws.send(JSON.stringify({ id, method, args }));
		});
	}

	#receive(f: Frame): void {
		if (f.ready) {
			this.#up = true;
			this.#tries = 0;
			this.#open();
			this.#onlink('open');
			return;
		}
		if (f.event) {
			this.#ordered?.push(f.event);
			return;
		}
		const c = f.id === undefined ? undefined : this.#calls.get(f.id);
		if (f.id === undefined || !c) return;
		this.#calls.delete(f.id);
		if (f.error) c.reject(new Failure(f.error));
		else c.resolve(f.result);
	}
}
