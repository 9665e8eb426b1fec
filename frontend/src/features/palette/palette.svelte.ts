import type { Component } from 'svelte';
import type { Kept } from '../../kernel/kept.svelte';
import { fuzzy } from '../../ui/fuzzy';

/** Group is a part of the list; its name stands above it. */
export type Group =
	| 'recent'
	| 'waiting'
	| 'here'
	| 'actions'
	| 'goto'
	| 'conversations'
	| 'text'
	| 'model'
	| 'mode'
	| 'theme'
	| 'language'
	| 'folder'
	| 'export'
	| 'note'
	| 'space'
	| 'move'
	| 'memory';

/** Entry is one thing that the palette can do. */
export interface Entry {
	/** id names it for ever, so that it is found among the recent ones again. */
	id: string;
	group: Group;
	title: string;
	/** also are other words that find it: the other language, a synonym. They are not shown. */
	also?: string;
	/** below is a second line. */
	below?: string;
	/** hint stands at the end of the line. */
	hint?: string;
	/** keys are the shortcut that does the same. */
	keys?: string;
	icon: Component<{ size?: number; strokeWidth?: number }>;
	/** current says that it is in force already. */
	current?: boolean;
	/** within is the page that it stands on; without words the first page leaves it out. */
	within?: string;
	/** page is opened instead of doing something. */
	page?: string;
	run?: () => void;
}

/** Row is an entry that fits, and which characters of its title did. */
export interface Row {
	entry: Entry;
	at: [number, number][];
	score: number;
}

interface Options {
	entries: () => Entry[];
	/** more asks somebody for what the words find elsewhere: the full text, a path. */
	more: (page: string, words: string) => Promise<Entry[]>;
	kept: Kept;
}

const RECENT = 'palette.recent';
/** How many recent choices are remembered, and how many are shown first. */
const REMEMBERED = 24;
const SHOWN = 4;
/** How many rows a group has at most, without words and with them. */
const FEW: Partial<Record<Group, number>> = { conversations: 5, recent: SHOWN };
const MOST = 12;
/** What it is worth that an entry is about what is on the screen: of two that fit alike it is the one that is meant. */
const HERE = 2;
/** How long the person must have stopped typing before somebody else is asked, in milliseconds. */
const REST = 120;

/** The order of the groups while nothing is typed. */
const ORDER: Group[] = ['recent', 'waiting', 'here', 'conversations', 'actions', 'goto'];

/** Palette is one field for everything: what is typed, what fits, and what is chosen. */
export class Palette {
	words = $state('');
	/** page is what was opened inside; "" is the first one. */
	page = $state('');
	at = $state(0);
	/** asking says that an answer of more is awaited. */
	asking = $state(false);

	groups = $derived.by(() => (this.words.trim() === '' ? this.#still() : this.#found()));
	rows = $derived(this.groups.flatMap((g) => g.rows));
	chosen = $derived(this.rows[this.at]);

	#o: Options;
	#more = $state.raw<Entry[]>([]);
	#turn = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(o: Options, page = '') {
		this.#o = o;
		this.page = page;
		this.#ask();
	}

	/** type takes new words; the best of what fits is chosen. */
	type(words: string): void {
		this.words = words;
		this.at = 0;
		this.#ask();
	}

	/** move goes up or down, round the ends. */
	move(by: number): void {
		const n = this.rows.length;
		if (n > 0) this.at = (this.at + by + n) % n;
	}

	/** choose does what a row says. It reports false when a page was opened instead. */
	choose(row: Row | undefined = this.chosen): boolean {
		if (!row) return false;
		const { entry } = row;
		// What was found by asking is not there the next time.
		if (entry.group !== 'text' && entry.group !== 'memory') this.#o.kept.push(RECENT, entry.id, REMEMBERED);
		if (entry.page) {
			this.open(entry.page);
			return false;
		}
		entry.run?.();
		return true;
	}

	open(page: string): void {
		this.page = page;
		this.type('');
		const on = this.rows.findIndex((r) => r.entry.current);
		this.at = Math.max(0, on);
	}

	/** back goes to the first page, and reports whether it was on another one. */
	back(): boolean {
		if (this.page === '') return false;
		this.open('');
		return true;
	}

	close(): void {
		clearTimeout(this.#timer);
		this.#turn++;
	}

	#ask(): void {
		clearTimeout(this.#timer);
		const turn = ++this.#turn;
		this.#more = [];
		this.asking = this.words.trim() !== '' || this.page !== '';
		if (!this.asking) return;
		const { page, words } = this;
		this.#timer = setTimeout(async () => {
			const found = await this.#o.more(page, words.trim()).catch(() => []);
			if (turn !== this.#turn) return;
			this.#more = found;
			this.asking = false;
		}, REST);
	}

	#here(): Entry[] {
		return this.#o.entries().filter((e) => this.page === '' || e.within === this.page);
	}

	/** still is the list while nothing is typed: what was used last, then what can be done. */
	#still(): { name: Group; rows: Row[] }[] {
		const entries = this.#here();
		const plain = (entry: Entry): Row => ({ entry, at: [], score: 0 });
		if (this.page !== '') return grouped([...entries, ...this.#more].map(plain));
		const by = new Map(entries.map((e) => [e.id, e]));
		const recent = this.#o.kept
			.list(RECENT)
			.flatMap((id) => by.get(id) ?? [])
			.slice(0, SHOWN);
		const first = new Set(recent);
		const rest = entries.filter((e) => !e.within && !first.has(e));
		return grouped([...recent.map((e) => plain({ ...e, group: 'recent' })), ...rest.map(plain)], FEW).sort(
			(a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name),
		);
	}

	/** found is what fits, the group with the best row first. */
	#found(): { name: Group; rows: Row[] }[] {
		const fits = fuzzy(this.words);
		const recent = this.#o.kept.list(RECENT);
		const rows: Row[] = [];
		for (const entry of this.#here()) {
			const hit = fits(entry.title);
			const other = entry.also && (!hit || hit.score < 40) ? fits(entry.also) : undefined;
			if (!hit && !other) continue;
			const used = recent.indexOf(entry.id);
			const score = Math.max(hit?.score ?? 0, (other?.score ?? 0) * 0.8) + (used < 0 ? 0 : Math.max(2, 12 - used));
			const near = entry.group === 'here' ? HERE : entry.within && this.page === '' ? -4 : 0;
			rows.push({ entry, at: hit?.at ?? [], score: score + near });
		}
		rows.sort((a, b) => b.score - a.score);
		const known = new Set(rows.map((r) => r.entry.id));
		const more = this.#more
			.filter((e) => !known.has(e.id))
			.map((entry): Row => ({ entry, at: fits(entry.title)?.at ?? [], score: 0 }));
		return grouped([...rows, ...more], {}, MOST);
	}
}

/** grouped puts rows under the names of their groups, in the order in which the groups first come. */
function grouped(rows: Row[], few: Partial<Record<Group, number>> = {}, most = Infinity) {
	const out = new Map<Group, Row[]>();
	for (const row of rows) {
		const name = row.entry.group;
		const list = out.get(name) ?? [];
		if (list.length < (few[name] ?? most)) list.push(row);
		out.set(name, list);
	}
	return [...out].map(([name, rows]) => ({ name, rows }));
}
