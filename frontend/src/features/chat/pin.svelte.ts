/** How near to the end counts as the end, in pixels. */
const NEAR = 48;

/** Pin keeps a list at its end while it grows, unless the person scrolled away from there. */
export class Pin {
	down = $state(true);
	#at: HTMLElement | undefined;
	#last = 0;
	#held = false;

	attach(at: HTMLElement): () => void {
		this.#at = at;
		const grow = new ResizeObserver(() => this.#follow());
		grow.observe(at);
		for (const child of at.children) grow.observe(child);
		const scrolled = () => {
			const rest = at.scrollHeight - at.scrollTop - at.clientHeight;
			// Only a move upwards is a person's; growth never moves the top.
			if (at.scrollTop < this.#last - 1 && rest > NEAR) this.down = false;
			else if (rest <= NEAR) this.down = true;
			this.#last = at.scrollTop;
		};
		// What a person opens stays under the eye: the list does not run to its end then.
		const opened = (e: Event) => {
			if (!(e.target as Element).closest('[aria-expanded]')) return;
			this.#held = true;
			setTimeout(() => {
				this.#held = false;
				this.down = at.scrollHeight - at.scrollTop - at.clientHeight <= NEAR;
			}, 250);
		};
		at.addEventListener('click', opened, { capture: true });
		at.addEventListener('scroll', scrolled, { passive: true });
		this.#follow();
		return () => {
			grow.disconnect();
			at.removeEventListener('click', opened, { capture: true });
			at.removeEventListener('scroll', scrolled);
		};
	}

	jump(): void {
		this.down = true;
		this.#follow();
	}

	#follow(): void {
		if (!this.down || this.#held || !this.#at) return;
		this.#at.scrollTop = this.#at.scrollHeight;
		this.#last = this.#at.scrollTop;
	}
}
