import { getContext, setContext } from 'svelte';
import type { App, Kernel, MCPAppView } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';
import { callWindow } from '../../kernel/window';
import { i18n } from '../../ui/i18n/index.svelte';
import { Bridge, HIGHEST } from './bridge';

/** Around is what a conversation does for the apps in it. */
export interface Around {
	/** draft puts words into the message that the person writes, as ones that they did not type. */
	draft(text: string): void;
	/** link asks the person whether an address may be opened. */
	link(url: string): void;
}

const key = Symbol('apps');
export const provideAround = (a: Around): Around => setContext(key, a);
export const useAround = (): Around | undefined => getContext<Around | undefined>(key);

/** How many apps run at once, how long one may take to begin, and how many questions it may leave open, one a second. */
const AT_ONCE = 2;
const BEGIN = 8000;
const MISSED = 5;
const MARK = 'oxios.apps';

/** Why an app does not run: it was not started, ended in order, did not answer, said too much, or cannot be had. */
export type Ended = 'waits' | 'closed' | 'silent' | 'stuck' | 'flood' | 'failed';

/** The apps that run, the oldest first. */
const running: AppRun[] = [];

/** left are the apps that ran when this page went away without a word: one of them may have held it up. */
const left = new Set(marked());
addEventListener('pagehide', () => sessionStorage.removeItem(MARK));

function marked(): string[] {
	try {
		return JSON.parse(sessionStorage.getItem(MARK) ?? '[]') as string[];
	} catch {
		return [];
	}
}

function mark(): void {
	sessionStorage.setItem(MARK, JSON.stringify(running.map((r) => r.id)));
}

/** AppRun is one app in the conversation. It runs in a frame from start until end. */
export class AppRun {
	readonly id: string;
	view = $state.raw<MCPAppView>();
	/** page is the address of what the frame shows; "" where there is no frame. */
	page = $state('');
	height = $state(120);
	ended = $state<Ended>('waits');
	failure = $state.raw<Failure>();

	#kernel: Kernel;
	#app: App;
	#around: Around | undefined;
	#frame: HTMLIFrameElement | undefined;
	#bridge: Bridge | undefined;
	#clock: ReturnType<typeof setInterval> | undefined;
	#began = false;
	/** loaded says that its page is there: what does not answer from then on holds itself up. */
	#loaded = false;
	#missed = 0;
	#waited = 0;

	constructor(kernel: Kernel, app: App, around: Around | undefined) {
		this.#kernel = kernel;
		this.#app = app;
		this.#around = around;
		this.id = `${app.server}/${app.id}`;
	}

	get #of() {
		return { server: this.#app.server, id: this.#app.id };
	}

	/** start shows the app. By itself it does so only where there is room; the person's press makes room. */
	async start(byItself = false): Promise<void> {
		if (this.page !== '' || (byItself && running.length >= AT_ONCE)) return;
		while (running.length >= AT_ONCE) running[0]!.end('waits');
		running.push(this);
		this.failure = undefined;
		try {
			if (left.delete(this.id)) await this.#kernel.mcp.stopApp(this.#of);
			this.view = await this.#kernel.mcp.app(this.#of);
		} catch (e) {
			this.failure = failureOf(e);
			this.end('failed');
			return;
		}
		if (!running.includes(this)) return; // it was ended meanwhile
		if (this.view.stopped || !this.view.page) {
			this.end('stuck');
			return;
		}
		mark();
		void callWindow('Window', 'AppBegins', [this.#app.server, this.#app.id]).catch(() => {});
		[this.#began, this.#loaded, this.#missed, this.#waited] = [false, false, 0, 0];
		this.page = this.view.page;
	}

	/** shows takes the frame in which the app runs; it returns what stops listening. */
	shows(frame: HTMLIFrameElement): () => void {
		this.#frame = frame;
		const bridge = new Bridge(
			{
				post: (m) => frame.contentWindow?.postMessage(m, '*'),
				context: () => this.#context(),
				call: async (tool, args) =>
					(await this.#kernel.mcp.appCall({ app: this.#of, tool, args: args as never })).result,
				read: async (uri) => (await this.#kernel.mcp.appRead(this.#of, uri)).result,
				link: (url) => this.#around?.link(url),
				draft: (text) => this.#around?.draft(text),
				height: (pixels) => (this.height = pixels),
				began: () => (this.#began = true),
				over: (why) => this.end(why === 'flood' ? 'flood' : 'closed'),
			},
			{ input: this.view?.input, result: this.view?.result },
		);
		this.#bridge = bridge;
		const hear = (e: MessageEvent) => {
			if (e.source === null || e.source !== frame.contentWindow) return;
			if ((e.data as { oxios?: unknown } | null)?.oxios === 'pong') this.#missed = 0;
			else bridge.hear(e.data, performance.now());
		};
		frame.addEventListener('load', () => (this.#loaded = true));
		addEventListener('message', hear);
		const themed = new MutationObserver(() => bridge.changed());
		themed.observe(document.documentElement, { attributeFilter: ['data-theme', 'lang'] });
		this.#clock = setInterval(() => this.#look(), 1000);
		return () => {
			removeEventListener('message', hear);
			themed.disconnect();
			clearInterval(this.#clock);
		};
	}

	/** look asks the app for a sign of life, as long as the page itself is seen. */
	#look(): void {
		if (document.visibilityState !== 'visible') return;
		this.#waited += 1000;
		if (!this.#began && this.#waited >= BEGIN) this.end(this.#missed >= MISSED ? 'stuck' : 'silent');
		else if (this.#loaded && ++this.#missed > MISSED) this.end('stuck');
		else this.#frame?.contentWindow?.postMessage({ oxios: 'ping', n: this.#waited }, '*');
	}

	/** end takes the frame away. */
	end(why: Ended): void {
		const at = running.indexOf(this);
		if (at >= 0) {
			running.splice(at, 1);
			mark();
		}
		this.#bridge?.end();
		this.#bridge = undefined;
		clearInterval(this.#clock);
		if (this.page !== '') void callWindow('Window', 'AppEnds', [this.#app.server, this.#app.id]).catch(() => {});
		this.page = '';
		this.ended = why;
		if (why === 'stuck' && !this.view?.stopped) void this.#kernel.mcp.stopApp(this.#of).catch(() => {});
	}

	#context(): object {
		const css = getComputedStyle(document.documentElement);
		const variables = Object.fromEntries(
			Object.entries(VARIABLES).map(([k, v]) => [k, css.getPropertyValue(v).trim()]),
		);
		return {
			theme: document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light',
			styles: { variables },
			displayMode: 'inline',
			availableDisplayModes: ['inline'],
			containerDimensions: { width: this.#frame?.clientWidth ?? 600, maxHeight: HIGHEST },
			locale: i18n.language,
			timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
			platform: 'desktop',
			userAgent: 'oxios',
		};
	}
}

/** VARIABLES are the colours and fonts that apps may use, and ours that they are. */
const VARIABLES: Record<string, string> = {
	'--color-background-primary': '--surface',
	'--color-background-secondary': '--bg',
	'--color-background-tertiary': '--sunken',
	'--color-background-danger': '--fail-soft',
	'--color-background-warning': '--wait-soft',
	'--color-text-primary': '--text',
	'--color-text-secondary': '--muted',
	'--color-text-tertiary': '--faint',
	'--color-text-danger': '--fail-text',
	'--color-text-warning': '--wait-text',
	'--color-border-primary': '--line-strong',
	'--color-border-secondary': '--line',
	'--color-ring-primary': '--accent',
};
