import type { Memory, MemoryInput, MemoryQuery, MemoryStats, SpaceInfo } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { Opened } from './opened.svelte';

/** How many memories are read at once, and how many a search shows of a space. */
export const PAGE = 100;
const FOUND = 50;
/** How many the kernel gives at most. */
const MOST = 1000;
/** The share of what was asked for that must stand in a memory; less is chance. */
export const LEAST = 0.12;
/** How long words rest before they are looked for, in milliseconds. */
const REST = 200;

export type Which = 'fact' | 'episode' | 'all' | 'replaced';

/** Remembered is what agents remember as the view shows it: one page of it or what a search found, and the one that is open. */
export class Remembered {
	entries = $state.raw<Memory[]>([]);
	loaded = $state(false);
	/** more says that others follow that are not here yet. */
	more = $state(false);
	failure = $state.raw<Failure>();
	stats = $state.raw<MemoryStats>();
	spaces = $state.raw<SpaceInfo[]>([]);

	words = $state('');
	which = $state<Which>('fact');
	/** within is the space whose memories are shown, "" the default one; undefined for all. */
	within = $state<string>();
	/** sought are the words that the entries were found by; "" for the list. */
	sought = $state('');
	opened = $state.raw<Opened>();
	/** forgetting is the one that the person is asked about; adding says that they write a new one. */
	forgetting = $state.raw<Opened>();
	adding = $state(false);
	/** importing says that they look at a file of memories. */
	importing = $state(false);
	sifting = $derived(this.sought !== '' || this.which !== 'all' || this.within !== undefined);

	#live: Live;
	#asked = 0;
	#reading = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** drafts are memories over which something is written, while others are looked at. */
	#drafts = new Map<string, Opened>();
	/** at is where the open one stood. */
	#at = 0;

	constructor(live: Live) {
		this.#live = live;
	}

	/** space is the one that a memory belongs to; none for the default one. */
	space(m: Memory): SpaceInfo | undefined {
		return this.spaces.find((s) => s.id === m.space);
	}

	/** count is how many there are of a kind that hold, or how many were replaced. */
	count(which: Which): number {
		const s = this.stats;
		if (!s) return 0;
		if (which === 'all') return s.memories;
		return which === 'replaced' ? s.replaced : (s.kinds[which] ?? 0);
	}

	#query(): MemoryQuery {
		const of = this.within === undefined ? { every: true } : { space: this.within };
		const q: MemoryQuery = { ...of, limit: PAGE };
		if (this.which === 'replaced') q.replaced = true;
		else if (this.which !== 'all') q.kind = this.which;
		return q;
	}

	/** load reads what the view shows. What was read before stays until then. */
	async load(): Promise<void> {
		clearTimeout(this.#timer);
		const mine = ++this.#asked;
		const words = this.which === 'replaced' ? '' : this.words.trim();
		this.#reading = true;
		try {
			const [stats, spaces] = await Promise.all([this.#live.kernel.memory.stats(), this.#live.kernel.space.list()]);
			const wanted = { ...this.#query(), limit: Math.min(MOST, Math.max(PAGE, this.sought ? 0 : this.entries.length)) };
			const entries = words ? await this.#find(words, stats) : await this.#live.kernel.memory.list(wanted);
			if (mine !== this.#asked) return;
			Object.assign(this, { stats, spaces, entries, sought: words, failure: undefined });
			this.more = !words && entries.length === wanted.limit;
			this.loaded = true;
		} catch (e) {
			if (mine !== this.#asked) return;
			this.failure = failureOf(e);
			this.loaded = true;
		} finally {
			if (mine === this.#asked) this.#reading = false;
		}
	}

	/** find looks in each space that holds something: of one nothing is found in another. */
	async #find(text: string, stats: MemoryStats): Promise<Memory[]> {
		const kind = this.which === 'all' ? {} : { kind: this.which };
		const of = (space: string) => this.#live.kernel.memory.search({ text, space, k: FOUND, least: LEAST, ...kind });
		const spaces = Object.keys(stats.spaces).filter((s) => this.within === undefined || s === this.within);
		const found = (await Promise.all(spaces.map(of))).flat();
		// Scores are comparable within one search only; which share of the words stands in a memory is so among all.
		return found.sort((a, b) => b.cover - a.cover);
	}

	/** older reads what stands behind the last one that is here. */
	async older(): Promise<void> {
		const last = this.entries.at(-1);
		if (!this.more || this.#reading || !last) return;
		const mine = this.#asked;
		this.#reading = true;
		try {
			const page = await this.#live.kernel.memory.list({ ...this.#query(), before: last.id });
			if (mine !== this.#asked) return;
			this.entries = [...this.entries, ...page];
			this.more = page.length === PAGE;
		} catch (e) {
			if (mine === this.#asked) this.failure = failureOf(e);
		} finally {
			if (mine === this.#asked) this.#reading = false;
		}
	}

	/** soon reads anew once what is written has come to rest. */
	soon(): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.load(), REST);
	}

	/** follow reads anew while the view is open, whenever what is remembered changes. */
	follow(): () => void {
		const again = () => {
			void this.load();
			void this.opened?.load();
		};
		again();
		const offs = [
			this.#live.onevent((e) => {
				if (e.kind === 'memory') again();
			}),
			this.#live.onreload(again),
		];
		return () => {
			offs.forEach((off) => off());
			clearTimeout(this.#timer);
		};
	}

	show(which: Which): void {
		if (which === this.which) return;
		this.which = which;
		this.entries = [];
		this.loaded = false;
		void this.load();
	}

	/** showSpace shows what one space holds; undefined what all do. */
	showSpace(space: string | undefined): void {
		if (space === this.within) return;
		this.within = space;
		this.entries = [];
		this.loaded = false;
		void this.load();
	}

	showAll(): void {
		this.words = '';
		this.within = undefined;
		this.which = 'all';
		void this.load();
	}

	/** open shows a memory beside the list, also one that is not in it. What is written over another one is kept. */
	open(id: string): void {
		if (this.opened?.id === id) return;
		this.#leave();
		const known = this.entries.find((m) => m.id === id);
		this.#at = known ? this.entries.indexOf(known) : this.#at;
		this.opened = this.#drafts.get(id) ?? new Opened(this.#live, id, known);
		this.#drafts.delete(id);
		void this.opened.load();
	}

	close(): void {
		this.#leave();
		this.opened = undefined;
	}

	#leave(): void {
		const o = this.opened;
		if (!o) return;
		if (o.changed) this.#drafts.set(o.id, o);
		else o.cancel();
	}

	/** step goes so many memories on, as far as there are any. */
	step(by: number): void {
		const at = this.entries.findIndex((m) => m.id === this.opened?.id);
		const next = this.entries[at < 0 ? 0 : Math.max(0, Math.min(this.entries.length - 1, at + by))];
		if (next) this.open(next.id);
	}

	/** forgotten takes one out that the kernel has deleted; the one that took its place is opened. */
	forgotten(id: string): void {
		this.entries = this.entries.filter((m) => m.id !== id);
		this.#drafts.delete(id);
		this.opened?.cancel();
		this.opened = undefined;
		const next = this.entries[Math.min(this.#at, this.entries.length - 1)];
		if (next) this.open(next.id);
		void this.load();
	}

	/** save exports what is remembered to a place that the person chooses. */
	async save(title: string): Promise<void> {
		const name = `oxios-memories-${new Date().toISOString().slice(0, 10)}.jsonl`;
		try {
			await this.#live.files.memories({ title, name }, (after) => this.#live.kernel.memory.export(after));
		} catch (e) {
			this.#live.tell(failureOf(e));
		}
	}

	/** remember keeps something that the person wrote, and shows it. */
	async remember(n: MemoryInput): Promise<void> {
		const m = await this.#live.kernel.memory.remember(n);
		this.words = '';
		if (this.which !== 'all') this.which = m.kind === 'episode' ? 'episode' : 'fact';
		if (this.within !== m.space) this.within = undefined;
		await this.load();
		this.open(m.id);
	}
}
