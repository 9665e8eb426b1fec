import { flushSync } from 'svelte';

/** How far outside of the screen a turn is drawn already, in pixels. */
const MARGIN = 1600;
/** How far outside of the screen a turn is taken off the page again, in pixels. */
const FAR = 4000;

/** Whether the browser keeps what is read in its place, which it does without ending a scroll that goes on. WebKit does not. */
const anchors = CSS.supports('overflow-anchor', 'auto');

/** inUse finds what a person has opened, holds or marks: it stays, however far away it is. */
const inUse = 'textarea, dialog[open], [aria-expanded="true"], :focus';

/**
 * Near draws the turns of a long conversation when they come near the screen, and keeps what is read under the eye when
 * their real height is another than the one that was kept free for them. What is far away again is taken off the page,
 * and its height kept: a conversation of days costs no more than one of an hour.
 */
export class Near {
	#at: HTMLElement | undefined;
	#observer: IntersectionObserver | undefined;
	#leaving: IntersectionObserver | undefined;
	#due = new Map<Element, () => void>();
	#drawn = new Map<Element, (height: number) => void>();

	attach(at: HTMLElement, follows: () => boolean): () => void {
		this.#at = at;
		const observer = new IntersectionObserver((entries) => this.#come(entries, follows()), {
			root: at,
			rootMargin: `${MARGIN}px 0px`,
		});
		const leaving = new IntersectionObserver((entries) => this.#go(entries), {
			root: at,
			rootMargin: `${FAR}px 0px`,
		});
		for (const place of this.#due.keys()) observer.observe(place);
		for (const place of this.#drawn.keys()) leaving.observe(place);
		this.#observer = observer;
		this.#leaving = leaving;
		return () => {
			observer.disconnect();
			leaving.disconnect();
		};
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

	/** leave calls remove with the height of the place when it is far away; it returns what ends the watch. */
	leave(place: Element, remove: (height: number) => void): () => void {
		this.#drawn.set(place, remove);
		this.#leaving?.observe(place);
		return () => {
			this.#drawn.delete(place);
			this.#leaving?.unobserve(place);
		};
	}

	/** keep makes a change above what is read, which stays where it is on the screen. */
	keep(change: () => void): void {
		const read = this.#at && this.#read();
		const top = read?.getBoundingClientRect().top ?? 0;
		flushSync(change);
		if (read) this.#at!.scrollTop += read.getBoundingClientRect().top - top;
	}

	/** holds says whether one of the first turns is drawn: it is near, or in use. */
	holds(first: number): boolean {
		const places = this.#at?.querySelectorAll('[data-turn]') ?? [];
		return [...places].slice(0, first).some((p) => this.#drawn.has(p));
	}

	#go(entries: IntersectionObserverEntry[]): void {
		const marked = document.getSelection();
		for (const { target, isIntersecting, boundingClientRect } of entries) {
			// A page that is not laid out, such as one behind another view, tells no height.
			if (isIntersecting || boundingClientRect.height === 0 || this.#at!.clientHeight === 0) continue;
			const used = target.querySelector(inUse) || (marked && !marked.isCollapsed && marked.containsNode(target, true));
			if (!used) this.#drawn.get(target)?.(boundingClientRect.height);
		}
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
