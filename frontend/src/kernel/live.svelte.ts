import type { ConfigView, Kernel, KernelError, Status } from './api.gen';
import { Approvals } from './approvals.svelte';
import type { Files } from './files';
import { Hotkey } from './hotkey.svelte';
import { Inbox } from './inbox.svelte';
import { Kept } from './kept.svelte';
import { Models } from './models.svelte';
import { Paced } from './paced';
import { Sessions } from './sessions.svelte';
import { Spaces } from './spaces.svelte';
import { failureOf, type Event, type Failure, type Link, type Transport } from './transport';

/** Notice is something that is told once, in passing. */
export interface Notice {
	id: number;
	/** key names a sentence of the dictionary; told is a failure. */
	key?: string;
	told?: Failure;
	/** text is said in the words of the page. */
	text?: string;
	/** offer is something that the person can still do, as long as it is shown. */
	offer?: Offer;
}

/** Offer is said in the words of the page, with a button. */
export interface Offer {
	text: string;
	hint?: string;
	label: string;
	run: () => void;
}

/** How long something that needs no answer is shown, in milliseconds. */
const PASSING = 8000;

/**
 * Live mirrors what the kernel says: status, settings, conversations, requests and models.
 * It follows the events from before it asks for the lists, so nothing falls between the two.
 */
export class Live {
	readonly kernel: Kernel;
	readonly sessions: Sessions;
	readonly spaces: Spaces;
	readonly approvals: Approvals;
	readonly inbox: Inbox;
	readonly models: Models;
	readonly files: Files;
	readonly kept: Kept;
	readonly hotkey = new Hotkey();

	link = $state<Link>('connecting');
	status = $state.raw<Status>();
	config = $state.raw<ConfigView>();
	failure = $state.raw<Failure>();
	/** wanted is the conversation that a deep link or a notification asked for, or "inbox". */
	wanted = $state<string>();
	/** focused says that the page is in front. */
	focused = $state(false);
	notices = $state.raw<Notice[]>([]);
	/** refused says that this page may not talk to the kernel. */
	refused = $derived(this.link === 'refused');
	/** waiting counts what waits for the person: requests, and limits that runs have reached. */
	waiting = $derived((this.status?.waiting ?? 0) + (this.status?.held?.filter((h) => h.kind === 'limit').length ?? 0));
	ready = $derived(this.status !== undefined && this.config !== undefined);

	#transport: Transport;
	#readers = new Set<(e: Event) => void>();
	#reloads = new Set<() => void>();
	#notice = 0;
	#wasOpen = false;

	constructor(kernel: Kernel, transport: Transport) {
		this.kernel = kernel;
		this.#transport = transport;
		this.files = transport.files;
		this.sessions = new Sessions(kernel);
		this.approvals = new Approvals(kernel);
		this.inbox = new Inbox(kernel);
		this.models = new Models(kernel);
		this.kept = new Kept(kernel);
		this.spaces = new Spaces(kernel, this.kept, this.sessions);
	}

	/** start follows the kernel until the returned function is called. */
	start(): () => void {
		const paced = new Paced((e) => this.#receive(e));
		const stop = this.#transport.subscribe(
			0,
			(e) => paced.receive(e),
			(l) => this.#linked(l),
		);
		void this.load();
		void this.hotkey.load();
		return () => {
			stop();
			paced.stop();
		};
	}

	/** load reads everything anew. */
	async load(): Promise<void> {
		this.failure = undefined;
		try {
			const [status, config] = await Promise.all([
				this.kernel.infra.status(),
				this.kernel.infra.config(),
				this.kept.load(),
			]);
			this.status = status;
			this.config = config;
			await Promise.all([
				this.spaces.load().then(() => this.sessions.load()),
				this.approvals.load(),
				this.inbox.load(),
				this.models.load(),
			]);
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	/** setting returns a value of config.toml, or "" while it is unknown. */
	setting(key: string): string {
		return this.config?.values[key] ?? '';
	}

	/** set changes a setting. The kernel answers with what is then in force. */
	async set(key: string, value: string): Promise<void> {
		try {
			this.config = await this.kernel.infra.setConfig(key, value);
		} catch (e) {
			this.tell(failureOf(e));
		}
	}

	/** onevent calls fn for every event until the returned function is called. */
	onevent(fn: (e: Event) => void): () => void {
		this.#readers.add(fn);
		return () => this.#readers.delete(fn);
	}

	/** onreload calls fn when news were missed and everything has to be read anew. */
	onreload(fn: () => void): () => void {
		this.#reloads.add(fn);
		return () => this.#reloads.delete(fn);
	}

	/** tell shows a failure in passing. */
	tell(f: Failure): void {
		this.#push({ told: f });
	}

	/** say shows a sentence of the dictionary in passing. */
	say(key: string): void {
		this.#pass({ key });
	}

	/** note shows what came of something, in the words of the page. */
	note(text: string): void {
		this.#pass({ text });
	}

	/** offer shows something that can be done for so many milliseconds; onover is called when nobody did it. */
	offer(o: Offer, ms: number, onover?: () => void): void {
		let taken = false;
		const run = () => {
			taken = true;
			this.dismiss(id);
			o.run();
		};
		const id = this.#push({ offer: { ...o, run } });
		setTimeout(() => {
			this.dismiss(id);
			if (!taken) onover?.();
		}, ms);
	}

	/** pass shows what needs no answer, for a while. */
	#pass(n: Omit<Notice, 'id'>): void {
		const id = this.#push(n);
		setTimeout(() => this.dismiss(id), PASSING);
	}

	dismiss(id: number): void {
		this.notices = this.notices.filter((n) => n.id !== id);
	}

	#push(n: Omit<Notice, 'id'>): number {
		// What offers something stands for itself: two conversations may have one name.
		const same = (o: Notice) =>
			!o.offer && !n.offer && o.key === n.key && o.text === n.text && o.told?.message === n.told?.message;
		const id = ++this.#notice;
		this.notices = [...this.notices.filter((o) => !same(o)), { ...n, id }].slice(-3);
		return id;
	}

	#linked(l: Link): void {
		this.link = l;
		if (l !== 'open') return;
		// After a break the lists may be old: the kernel may even be another process.
		if (this.#wasOpen || this.failure) this.#again();
		this.#wasOpen = true;
	}

	#again(): void {
		void this.load();
		for (const fn of this.#reloads) fn();
	}

	#receive(e: Event): void {
		switch (e.kind) {
			case 'status':
				this.status = e.data as Status;
				break;
			case 'config':
				this.config = e.data as ConfigView;
				break;
			case 'open':
				this.wanted = (e.data as { session_id?: string })?.session_id ?? e.session_id;
				break;
			case 'notice':
				this.say((e.data as { key: string }).key);
				break;
			case 'problem': {
				this.tell(failureOf(JSON.stringify(e.data as KernelError)));
				break;
			}
			case 'restored':
				this.#again();
				break;
			case 'gap':
				this.say('gap');
				this.#again();
				break;
			default:
				this.sessions.receive(e);
				this.spaces.receive(e);
				this.approvals.receive(e);
				this.inbox.receive(e);
				this.models.receive(e);
				this.hotkey.receive(e);
		}
		for (const fn of this.#readers) fn(e);
	}
}
