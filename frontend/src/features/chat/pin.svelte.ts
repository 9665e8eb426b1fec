/** How near to the end counts as the end, in pixels. */
const NEAR = 48;
/** For how long after a wheel, a touch or a key a scroll is a person's, in milliseconds. */
const HAND = 1000;

/**
 * Pin keeps a list at its end while it grows, unless the person scrolled away from there. A card in sight keeps its place
 * in the window meanwhile: nobody presses where something else stood a moment ago.
 */
export class Pin {
	down = $state(true);
	/** under says that a card is where the way to the end would stand. */
	under = $state(false);
	#at: HTMLElement | undefined;
	#card: () => HTMLElement | undefined;
	#last = 0;
	#held = false;
	#hand = -Infinity;
	/** size is that of the list and of all that is in it, when it last came to rest. */
	#size = '';
	/** stood is where the card was when the list last came to rest. */
	#stood: { card: HTMLElement; top: number; height: number; list: number } | undefined;

	constructor(card: () => HTMLElement | undefined = () => undefined) {
		this.#card = card;
	}

	attach(at: HTMLElement): () => void {
		this.#at = at;
		const grow = new ResizeObserver(() => this.#follow());
		grow.observe(at);
		for (const child of at.children) grow.observe(child);
		const moved = () => (this.#hand = performance.now());
		const scrolled = () => {
			// A window of another size moves the top as well, and a person meant nothing by it.
			if (this.#sizes() !== this.#size && performance.now() - this.#hand > HAND) return this.#follow();
			const rest = at.scrollHeight - at.scrollTop - at.clientHeight;
			// Only a move upwards is a person's; growth never moves the top.
			if (at.scrollTop < this.#last - 1 && rest > NEAR) this.down = false;
			else if (rest <= NEAR) this.down = true;
			this.#rest();
		};
		// What a person opens stays under the eye: the list does not run to its end then.
		const opened = (e: Event) => {
			if (!(e.target as Element).closest('[aria-expanded]')) return;
			this.#held = true;
			setTimeout(() => {
				this.#held = false;
				this.down = at.scrollHeight - at.scrollTop - at.clientHeight <= NEAR;
				this.#rest();
			}, 250);
		};
		const hands = ['wheel', 'touchmove', 'keydown', 'pointerdown'];
		for (const kind of hands) at.addEventListener(kind, moved, { passive: true });
		at.addEventListener('click', opened, { capture: true });
		at.addEventListener('scroll', scrolled, { passive: true });
		this.#follow();
		return () => {
			grow.disconnect();
			for (const kind of hands) at.removeEventListener(kind, moved);
			at.removeEventListener('click', opened, { capture: true });
			at.removeEventListener('scroll', scrolled);
		};
	}

	jump(): void {
		this.down = true;
		this.#follow(true);
	}

	#follow(jump = false): void {
		const at = this.#at;
		if (!at) return;
		const drift = jump || this.#held ? undefined : this.#drift(at);
		if (drift !== undefined) at.scrollTop += drift;
		else if (this.down && !this.#held) at.scrollTop = at.scrollHeight;
		this.#rest();
	}

	/** drift is how far the card was moved by what came above it; undefined where there is none to keep in its place. */
	#drift(at: HTMLElement): number | undefined {
		const [was, card] = [this.#stood, this.#card()];
		if (!was || !card || was.card !== card || was.list !== at.clientHeight) return undefined;
		const box = card.getBoundingClientRect();
		return Math.round(box.height) === was.height ? box.top - was.top : undefined;
	}

	#sizes(): string {
		const at = this.#at!;
		return [at.clientHeight, at.clientWidth, at.scrollHeight].join();
	}

	/** rest remembers how things stand now. */
	#rest(): void {
		const at = this.#at!;
		const card = this.#card();
		this.#last = at.scrollTop;
		this.#size = this.#sizes();
		this.#stood = undefined;
		this.under = false;
		if (!card) return;
		const [list, box] = [at.getBoundingClientRect(), card.getBoundingClientRect()];
		if (box.top >= list.bottom || box.bottom <= list.top) return;
		this.#stood = { card, top: box.top, height: Math.round(box.height), list: at.clientHeight };
		this.under = box.bottom > list.bottom - NEAR;
	}
}
