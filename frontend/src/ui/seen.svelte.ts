/** How many rows are drawn outside of the screen, on each side. */
const MARGIN = 12;

/** Seen is the part of a long list that is on the screen: of rows that are all equally high, in pixels. */
export class Seen {
	readonly #tall: () => number;
	#top = $state(0);
	#height = $state(800);

	constructor(tall: () => number) {
		this.#tall = tall;
	}

	/** watch measures while the list, whose rows are in body, scrolls in scroller, and returns what ends it. */
	watch(scroller: HTMLElement | undefined, body: () => HTMLElement | undefined): (() => void) | undefined {
		if (!scroller) return undefined;
		const place = () => {
			const of = body();
			if (!of) return;
			this.#top = scroller.getBoundingClientRect().top - of.getBoundingClientRect().top;
			this.#height = scroller.clientHeight;
		};
		scroller.addEventListener('scroll', place, { passive: true });
		const size = new ResizeObserver(place);
		size.observe(scroller);
		return () => {
			scroller.removeEventListener('scroll', place);
			size.disconnect();
		};
	}

	/** near reports whether the end of so many rows comes near. */
	near(count: number): boolean {
		return (this.#top + this.#height) / this.#tall() > count - 2 * MARGIN;
	}

	/**
	 * drawn are the rows near the screen, and one more, which may have the focus; -1 for none. Each says how many rows are
	 * left out above it.
	 */
	drawn(count: number, also: number): { index: number; gap: number }[] {
		const tall = this.#tall();
		const from = Math.max(0, Math.min(count, Math.floor(this.#top / tall) - MARGIN));
		const to = Math.min(count, Math.ceil((this.#top + this.#height) / tall) + MARGIN);
		const at: number[] = [];
		for (let i = from; i < to; i++) at.push(i);
		if (also >= 0 && also < from) at.unshift(also);
		else if (also >= to && also < count) at.push(also);
		return at.map((index, i) => ({ index, gap: index - (i === 0 ? 0 : at[i - 1]! + 1) }));
	}
}
