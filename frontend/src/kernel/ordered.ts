import type { Event } from './transport';

/** How long a hole in the numbers may stay open before what came after it is delivered, in milliseconds. */
const PATIENCE = 400;

/**
 * Ordered delivers events once each and in the order of their numbers, however they arrive.
 * A number that never comes holds the others back for a moment only: the kernel leaves out what a slow reader missed.
 */
export class Ordered {
	#next = 0;
	#held = new Map<number, Event>();
	#timer: ReturnType<typeof setTimeout> | undefined;
	#deliver: (e: Event) => void;

	constructor(deliver: (e: Event) => void, from = 0) {
		this.#deliver = deliver;
		this.#next = from > 0 ? from + 1 : 0;
	}

	/** last is the number of the newest event that was delivered. */
	get last(): number {
		return Math.max(0, this.#next - 1);
	}

	push(e: Event): void {
		// Notices of the window itself and gaps carry no number in the row.
		if (!e.seq || e.kind === 'gap') {
			this.#deliver(e);
			return;
		}
		if (this.#next === 0) this.#next = e.seq;
		if (e.seq < this.#next) return;
		this.#held.set(e.seq, e);
		this.#drain();
		if (this.#held.size > 0 && this.#timer === undefined) this.#timer = setTimeout(() => this.#skip(), PATIENCE);
	}

	#drain(): void {
		for (let e = this.#held.get(this.#next); e; e = this.#held.get(this.#next)) {
			this.#held.delete(this.#next);
			this.#next++;
			this.#deliver(e);
		}
		if (this.#held.size === 0 && this.#timer !== undefined) {
			clearTimeout(this.#timer);
			this.#timer = undefined;
		}
	}

	#skip(): void {
		this.#timer = undefined;
		if (this.#held.size === 0) return;
		this.#next = Math.min(...this.#held.keys());
		this.#drain();
		if (this.#held.size > 0) this.#timer = setTimeout(() => this.#skip(), PATIENCE);
	}
}
