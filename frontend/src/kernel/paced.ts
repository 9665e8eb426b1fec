import type { Event } from './transport';

/** For how long events are passed on as they come before the page has drawn, in milliseconds. */
const AT_ONCE = 30;
/** The longest rest between two drawings, in milliseconds. */
const REST = 250;
/** After how long without a drawing the window counts as unseen, in milliseconds. */
const UNSEEN = 1000;

/**
 * Paced passes events on as they come, as long as the page keeps up. What comes faster waits until the page has drawn what
 * it was told, and once more as long as that took, and is then told together: half of the time is left for the person's
 * keys, however much happens.
 */
export class Paced {
	#pass: (e: Event) => void;
	#waiting: Event[] = [];
	/** began is when the first event was passed on that is not drawn yet. */
	#began: number | undefined;
	/** full says that the others wait for the drawing. */
	#full = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#frame = 0;

	constructor(pass: (e: Event) => void) {
		this.#pass = pass;
	}

	receive(e: Event): void {
		this.#full ||= this.#began !== undefined && performance.now() - this.#began >= AT_ONCE;
		if (this.#full) {
			this.#waiting.push(e);
			return;
		}
		if (this.#began === undefined) this.#begin();
		this.#pass(e);
	}

	stop(): void {
		this.#cancel();
		this.#waiting = [];
	}

	#cancel(): void {
		clearTimeout(this.#timer);
		cancelAnimationFrame(this.#frame);
	}

	/** begin waits for the drawing of what is passed on from now. */
	#begin(): void {
		const began = (this.#began = performance.now());
		const drawn = () => {
			const rest = this.#full ? Math.min(REST, performance.now() - began) : 0;
			this.#timer = setTimeout(() => this.#next(), rest);
		};
		const soon = () => {
			this.#cancel();
			this.#timer = setTimeout(drawn);
		};
		// Nothing is drawn in a window that nobody sees, or sees no longer.
		if (document.hidden) return soon();
		this.#frame = requestAnimationFrame(soon);
		this.#timer = setTimeout(soon, UNSEEN);
	}

	#next(): void {
		const waiting = this.#waiting.splice(0);
		this.#began = undefined;
		this.#full = waiting.length > 0;
		if (!this.#full) return;
		this.#begin();
		for (const e of waiting) this.#pass(e);
	}
}
