import { flushSync } from 'svelte';

/** How far outside of the screen a turn is drawn already, in pixels. */
const MARGIN = 1600;

/** Whether the browser keeps what is read in its place, which it does without ending a scroll that goes on. WebKit does not. */
const anchors = CSS.supports('overflow-anchor', 'auto');

/**
 * Near draws the turns of a long conversation when they first come near the screen, and keeps what is read under the
 * eye when their real height is another than the one that was kept free for them.
 */
export class Near {
	#at: HTMLElement | undefined;
	#observer: IntersectionObserver | undefined;
	#due = new Map<Element, () => void>();

	attach(at: HTMLElement, follows: () => boolean): () => void {
		this.#at = at;
		const observer = new IntersectionObserver((entries) => this.#come(entries, follows()), {
			root: at,
			rootMargin: `${MARGIN}px 0px`,
		});
		for (const place of this.#due.keys()) observer.observe(place);
		this.#observer = observer;
		return () => observer.disconnect();
	}

	/** watch calls draw once, when the place comes near; it returns what ends the watch. */
	watch(place: Element, draw: () => void): () => void {
		this.#due.set(place, draw);
		this.#observer?.observe(place);
		return () => {
			this.#due.delete(place);
			this.#observer?.unobserve(place);
		};
	}

	#come(entries: IntersectionObserverEntry[], follows: boolean): void {
		const places = entries.filter((e) => e.isIntersecting).map((e) => e.target);
		if (places.length === 0) return;
		const read = follows ? undefined : this.#read();
		// No browser does it for a place that is itself drawn now.
		const ours = read && (!anchors || this.#due.has(read));
		const top = ours ? read.getBoundingClientRect().top : 0;
		flushSync(() => places.forEach((p) => this.#due.get(p)?.()));
		if (ours) this.#at!.scrollTop += read.getBoundingClientRect().top - top;
	}

	/** read is the first place that reaches into the screen, by halving: they stand one below the other. */
	#read(): Element | undefined {
		const edge = this.#at!.getBoundingClientRect().top;
		const places = this.#at!.querySelectorAll('[data-turn]');
		let [from, to] = [0, places.length];
		while (from < to) {
			const middle = (from + to) >> 1;
			if (places[middle]!.getBoundingClientRect().bottom > edge) to = middle;
			else from = middle + 1;
		}
		return places[from];
	}
}
