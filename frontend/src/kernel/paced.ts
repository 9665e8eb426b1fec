import type { Event } from './transport';

/** How many events are passed on between two drawings before the others wait. */
const AT_ONCE = 4;
/** The longest rest between two drawings, in milliseconds. */
const REST = 250;

/**
 * Paced passes events on as they come, as long as the page keeps up. What comes faster waits until the page has drawn what
 * it was told, and once more as long as that took, and is then told together: half of the time is left for the person's
 * keys, however much happens.
 */
export class Paced {
	#pass: (e: Event) => void;
	#waiting: Event[] = [];
	#passed = 0;
	#began = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#frame = 0;

	constructor(pass: (e: Event) => void) {
		this.#pass = pass;
	}

	receive(e: Event): void {
		if (this.#passed >= AT_ONCE) {
			this.#waiting.push(e);
			return;
		}
		if (this.#passed++ === 0) this.#begin();
		this.#pass(e);
	}

	stop(): void {
		clearTimeout(this.#timer);
		cancelAnimationFrame(this.#frame);
		this.#waiting = [];
	}

	/** begin waits for the drawing of what is passed on from now. */
	#begin(): void {
		this.#began = performance.now();
		const drawn = () => {
			const rest = Math.min(REST, performance.now() - this.#began);
			this.#timer = setTimeout(() => this.#next(), this.#passed < AT_ONCE ? 0 : rest);
		};
		// Nothing is drawn in a window that nobody sees.
		if (document.hidden) this.#timer = setTimeout(drawn);
		else this.#frame = requestAnimationFrame(() => (this.#timer = setTimeout(drawn)));
	}

	#next(): void {
		const waiting = this.#waiting.splice(0);
		this.#passed = 0;
		if (waiting.length === 0) return;
		this.#passed = AT_ONCE;
		this.#begin();
		for (const e of waiting) this.#pass(e);
	}
}
