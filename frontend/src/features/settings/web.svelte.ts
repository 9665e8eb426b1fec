import type { SearchService, WebResult } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { turns } from '../../kernel/turns';

/** How many results a test shows. */
const SHOWN = 3;

export const services = ['duckduckgo', 'searxng', 'brave', 'tavily'] as const;
export type Kind = (typeof services)[number];
/** names are what the services call themselves, in every language. */
export const names: Record<string, string> = {
	duckduckgo: 'DuckDuckGo',
	searxng: 'SearXNG',
	brave: 'Brave Search',
	tavily: 'Tavily',
};
/** These ask for a key. */
const keyed: string[] = ['brave', 'tavily'];

/** WebPage knows who answers searches of the web, and whether that works. */
export class WebPage {
	/** service is the one in use. */
	service = $state.raw<SearchService>();
	failure = $state.raw<Failure>();
	/** kind, url and key are what stands on the page. */
	kind = $state<Kind>('duckduckgo');
	url = $state('');
	key = $state('');
	busy = $state<'' | 'save' | 'test' | 'forget'>('');
	/** refused is why what was chosen is not in use. */
	refused = $state.raw<Failure>();
	words = $state('');
	/** found is what a test brought; failed is why it brought nothing. */
	found = $state.raw<WebResult[]>();
	failed = $state.raw<Failure>();

	#live: Live;
	#turn = turns();

	constructor(live: Live) {
		this.#live = live;
	}

	needsKey = $derived(keyed.includes(this.kind));
	needsURL = $derived(this.kind === 'searxng');
	/** hasKey says that the one in use has a key, and that it is the one on the page. */
	hasKey = $derived(this.service?.kind === this.kind && this.service.key);
	changed = $derived(
		!!this.service &&
			(this.kind !== this.service.kind || this.url.trim() !== this.service.url || this.key.trim() !== ''),
	);
	/** whole says that all is there that the service needs. */
	whole = $derived(
		(!this.needsURL || /^https?:\/\/./.test(this.url.trim())) &&
			(!this.needsKey || this.hasKey || this.key.trim() !== ''),
	);

	/** follow reads who answers, anew when the settings change, until the returned function is called. */
	follow(): () => void {
		void this.load();
		const off = [
			this.#live.onevent((e) => {
				if (e.kind === 'config' && !this.busy) void this.load();
			}),
			this.#live.onreload(() => void this.load()),
		];
		return () => off.forEach((fn) => fn());
	}

	async load(): Promise<void> {
		const newest = this.#turn();
		try {
			const now = await this.#live.kernel.browser.service();
			if (!newest()) return;
			this.#take(now);
			this.failure = undefined;
		} catch (e) {
			if (newest()) this.failure = failureOf(e);
		}
	}

	#take(s: SearchService): void {
		const touched = this.changed;
		this.service = s;
		if (touched) return;
		this.kind = s.kind as Kind;
		this.url = s.url;
	}

	/** pick looks at a service. An address of one is none of another. */
	pick(kind: Kind): void {
		this.kind = kind;
		this.url = this.service?.kind === kind ? this.service.url : '';
		this.key = '';
		this.refused = this.found = this.failed = undefined;
	}

	/** save has the service on the page answer from now on. The key goes where keys are kept. */
	save(): Promise<boolean> {
		return this.#work('save', async () => {
			const { kernel } = this.#live;
			const url = this.url.trim();
			if (url !== this.#live.setting('search_url')) this.#live.config = await kernel.infra.setConfig('search_url', url);
			if (this.kind !== this.#live.setting('search_service'))
				this.#live.config = await kernel.infra.setConfig('search_service', this.kind);
			const key = this.key.trim();
			const now = key ? await kernel.browser.setKey(key) : await kernel.browser.service();
			this.key = '';
			this.service = now;
			this.url = now.url;
		});
	}

	/** forget deletes the key of the service in use. */
	forget(): Promise<boolean> {
		return this.#work('forget', async () => {
			this.service = await this.#live.kernel.browser.setKey('');
		});
	}

	async #work(what: 'save' | 'forget', work: () => Promise<void>): Promise<boolean> {
		this.busy = what;
		this.refused = this.found = this.failed = undefined;
		try {
			await work();
			return true;
		} catch (e) {
			this.refused = failureOf(e);
			return false;
		} finally {
			this.busy = '';
		}
	}

	/** test really searches, as an agent would. */
	async test(usual: string): Promise<void> {
		this.busy = 'test';
		this.found = this.failed = undefined;
		try {
			this.found = (await this.#live.kernel.browser.search({ query: this.words.trim() || usual, count: SHOWN })) ?? [];
		} catch (e) {
			this.failed = failureOf(e);
		} finally {
			this.busy = '';
		}
	}
}
