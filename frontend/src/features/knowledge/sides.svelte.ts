import type { Kept } from '../../kernel/kept.svelte';
import { Leaf, type Shelf } from './leaf.svelte';
import type { OpenNote } from './note.svelte';

const FIRST = 'vault.note';
const SECOND = 'vault.beside';
const FOCUS = 'vault.focus';
const SHARE = 'vault.share';
/** How much of the width the first side has, in percent. */
export const share = { least: 25, usual: 50, most: 75 };

/** Sides are the one or two notes that stand side by side, and which of them is worked on. */
export class Sides {
	list = $state.raw<Leaf[]>([]);
	/** active is the side that had the focus last: the tree, links and the side panel are about it. */
	active = $state.raw<Leaf>() as Leaf;
	/** first is how much of the width the first side has, in percent. */
	first = $state(share.usual);
	two = $derived(this.list.length > 1);
	/** wanted says that the text of the active side is to get the focus. */
	wanted = $state(false);

	#shelf: Shelf;
	#kept: Kept;
	/** What is open is remembered once it is known what was open before. */
	#known = false;

	constructor(shelf: Shelf, kept: Kept) {
		this.#kept = kept;
		this.#shelf = {
			...shelf,
			shown: (by) => {
				this.keep();
				shelf.shown(by);
			},
		};
		this.active = new Leaf(this.#shelf);
		this.list = [this.active];
	}

	/** notes are those that are open, each once. */
	get notes(): OpenNote[] {
		return [...new Set(this.list.flatMap((s) => s.note ?? []))];
	}

	/** other is the side beside that one. */
	other(than: Leaf): Leaf | undefined {
		return this.list.find((s) => s !== than);
	}

	/** beside is the side next to the active one, which is made when there is none. */
	beside(): Leaf {
		const other = this.other(this.active);
		if (other) return other;
		const made = new Leaf(this.#shelf);
		this.list = [...this.list, made];
		return made;
	}

	focus(side: Leaf): void {
		if (this.active === side || !this.list.includes(side)) return;
		this.active = side;
		this.keep();
	}

	/** split puts the note of now beside itself, and goes there. */
	async split(): Promise<void> {
		if (this.two) return;
		const { path } = this.active;
		const made = this.beside();
		this.focus(made);
		if (path) await made.show(path);
		this.wanted = true;
	}

	/** close takes a side away when there are two. What is written there is saved first, or kept. */
	async close(side: Leaf): Promise<void> {
		if (!this.two) return;
		await side.leave();
		const rest = this.other(side);
		if (!rest || !this.list.includes(side)) return;
		this.list = [rest];
		this.active = rest;
		this.wanted = true;
		this.keep();
	}

	/** resize gives the first side so many percent of the width; with done it is remembered. */
	resize(percent: number, done: boolean): void {
		this.first = Math.round(Math.max(share.least, Math.min(percent, share.most)));
		if (done) this.#kept.set(SHARE, String(this.first));
	}

	/** restore opens what was open last, where it is still there. */
	async restore(there: (path: string) => boolean): Promise<void> {
		const get = (key: string) => this.#kept.get(key);
		const [first, second] = [get(FIRST), get(SECOND)].filter(there);
		const focus = get(FOCUS);
		this.first = Math.max(share.least, Math.min(Number(get(SHARE)) || share.usual, share.most));
		const one = this.active;
		if (!one.path && !one.opening) {
			if (first) await one.show(first);
			// Both may show one note, which the first holds by then.
			if (second && !this.two) {
				const two = this.beside();
				await two.show(second);
				if (focus === SECOND) this.active = two;
			}
		}
		this.#known = true;
		this.keep();
	}

	/** keep remembers what is open. */
	keep(): void {
		if (!this.#known) return;
		const [first, second] = this.list;
		const set = (key: string, value: string) => {
			if (this.#kept.get(key) !== value) this.#kept.set(key, value);
		};
		set(FIRST, first?.path ?? '');
		set(SECOND, second?.path ?? '');
		set(FOCUS, second && this.active === second ? SECOND : '');
	}
}
