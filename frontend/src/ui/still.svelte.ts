import { untrack } from 'svelte';

/** How long a request has to stand still on the screen before it can be answered, in milliseconds. */
export const STILL = 800;
/** How often is looked whether it still does, in milliseconds. */
const LOOK = 100;
/** What passed between two looks counts for no more than this: while a page hangs, nobody sees what it shows. */
const GAP = 2 * LOOK;

/** Eyes are how the place is seen: with other ones a test has its own time and its own screen. */
export interface Eyes {
	now: () => number;
	/** place says where all of the element is and how it is scrolled; undefined while a part of it cannot be seen. */
	place: (at: HTMLElement) => string | undefined;
	/** front reports whether the window is visible and has the focus. */
	front: () => boolean;
	/** when is the time of an event, which may have waited for the page. */
	when: (e: Event) => number;
}

const own: Eyes = {
	now: () => performance.now(),
	place,
	front: () => document.visibilityState === 'visible' && document.hasFocus(),
	// What has another clock than the page is taken as of now.
	when: (e) => (e.timeStamp > 0 && e.timeStamp <= performance.now() ? e.timeStamp : performance.now()),
};

/** shown are the cards in the page. */
const shown = new Set<Still>();

/**
 * Still decides whether what asks a person for a yes can be answered: not before it has been wholly visible, uncovered
 * and in one place of the window for STILL, in a window that is in front, as the first of its kind. A press or a key
 * that began earlier counts for nothing, whenever it ends. Everything in the page that answers a request is marked with
 * data-answers and stands in an element that is watched.
 */
export class Still {
	/** open says that an answer counts now. */
	open = $state(false);

	#eyes: Eyes;
	/** card says that it stands in a row with others, of which the first can be answered. */
	#card: boolean;
	#at: HTMLElement | undefined;
	#place: string | undefined;
	#held = 0;
	#looked = 0;
	#opened = Infinity;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** meant says that the last press or key began when an answer counted. */
	#meant = false;
	/** key says that a key is down. */
	#key = false;

	constructor(kind: 'card' | 'question' = 'card', eyes: Eyes = own) {
		this.#card = kind === 'card';
		this.#eyes = eyes;
	}

	/** moved starts the time again: what is shown is not what it was. */
	moved(): void {
		this.#held = 0;
		this.#opened = Infinity;
		this.#looked = this.#eyes.now();
		this.open = false;
	}

	/** look sees where it stands, and opens or closes. */
	look(): void {
		if (!this.#at) return;
		const now = this.#eyes.now();
		const place = this.#eyes.front() && this.#first() ? this.#eyes.place(this.#at) : undefined;
		if (place === undefined || place !== this.#place) this.moved();
		else this.#held += Math.min(now - this.#looked, GAP);
		this.#place = place;
		this.#looked = now;
		if (this.#held >= STILL && !this.open) {
			this.#opened = now;
			this.open = true;
		}
	}

	/** watch keeps an eye on the element until the returned function is called. */
	watch = (at: HTMLElement): (() => void) => untrack(() => this.#watch(at));

	#watch(at: HTMLElement): () => void {
		this.#at = at;
		this.#place = undefined;
		this.moved();
		if (this.#card) shown.add(this);
		const look = () => this.look();
		const again = () => {
			this.look();
			const soon = this.open ? LOOK : Math.max(1, Math.min(LOOK, STILL - this.#held));
			// Nothing is looked for behind the person's back: the focus comes with an event.
			this.#timer = this.#eyes.front() ? setTimeout(again, soon) : undefined;
		};
		const fronted = () => {
			look();
			if (this.#timer === undefined) again();
		};
		const scrolled = (e: Event) => {
			const where = e.target as Node;
			if (where.contains(at) || at.contains(where)) look();
		};
		const began = (e: Event) => this.#begin(e);
		// The click that a space bar makes comes right after its end.
		const ended = () => {
			this.#older();
			setTimeout(() => (this.#key = false));
		};
		const answered = (e: Event) => {
			if (!this.#answers(e) || this.mayAnswer(e)) return;
			e.preventDefault();
			e.stopImmediatePropagation();
			// Where a part of it is out of sight, the press shows the whole.
			if (this.#place === undefined) at.scrollIntoView({ block: 'nearest' });
		};
		const heard: [string, (e: Event) => void][] = [
			['pointerdown', began],
			['keydown', began],
			['keyup', ended],
			['click', answered],
			['pointerup', answered],
		];
		for (const kind of ['blur', 'focus', 'resize']) window.addEventListener(kind, fronted);
		document.addEventListener('visibilitychange', fronted);
		window.addEventListener('scroll', scrolled, { capture: true, passive: true });
		for (const [kind, fn] of heard) window.addEventListener(kind, fn, { capture: true });
		// A card that grows closes in the same frame: a button never looks ready when it is not.
		const size = new ResizeObserver(look);
		size.observe(at);
		again();
		return () => {
			size.disconnect();
			clearTimeout(this.#timer);
			this.#timer = undefined;
			this.#at = undefined;
			this.open = false;
			shown.delete(this);
			for (const kind of ['blur', 'focus', 'resize']) window.removeEventListener(kind, fronted);
			document.removeEventListener('visibilitychange', fronted);
			window.removeEventListener('scroll', scrolled, { capture: true });
			for (const [kind, fn] of heard) window.removeEventListener(kind, fn, { capture: true });
		};
	}

	/** answers reports whether the event would answer what is watched. */
	#answers(e: Event): boolean {
		const on = e.target instanceof Element ? e.target.closest('[data-answers]') : null;
		return on !== null && this.#at !== undefined && this.#at.contains(on);
	}

	/** mayAnswer reports whether an event may: its press or key began when an answer counted, and one counts still. */
	mayAnswer(e: Event): boolean {
		this.look();
		// A click without a press or a key is a tool's, such as a screen reader's: it begins and ends at once.
		const tool = e instanceof MouseEvent && e.type === 'click' && e.detail === 0 && !this.#key;
		return this.open && (tool || this.#meant);
	}

	/** older takes notice of a key that went down before this was watched. */
	#older(): void {
		if (this.#key) return;
		this.#key = true;
		this.#meant = false;
	}

	#begin(e: Event): void {
		const key = e instanceof KeyboardEvent;
		// A key that is held down began when it went down.
		if (key && e.repeat) return this.#older();
		this.look();
		this.#key = key;
		this.#meant = this.open && this.#eyes.when(e) >= this.#opened;
	}

	/** first reports whether no other card stands before it in the page. */
	#first(): boolean {
		const at = this.#at!;
		for (const o of shown) {
			const before = o !== this && o.#at ? at.compareDocumentPosition(o.#at) : 0;
			if (this.#card && before & Node.DOCUMENT_POSITION_PRECEDING) return false;
		}
		return true;
	}
}

/** How near to the edge is looked whether something covers it, and how far apart at the most, in pixels. */
const EDGE = 4;
const [ACROSS, DOWN] = [120, 28];

function place(at: HTMLElement): string | undefined {
	const box = at.getBoundingClientRect();
	if (box.width === 0 || box.height === 0) return undefined;
	const within = { left: 0, top: 0, right: window.innerWidth, bottom: window.innerHeight };
	for (let up = at.parentElement; up; up = up.parentElement) {
		const { overflowX, overflowY } = getComputedStyle(up);
		if (overflowX === 'visible' && overflowY === 'visible') continue;
		const clip = up.getBoundingClientRect();
		within.left = Math.max(within.left, clip.left);
		within.top = Math.max(within.top, clip.top);
		within.right = Math.min(within.right, clip.right);
		within.bottom = Math.min(within.bottom, clip.bottom);
	}
	// Half a pixel is lost in rounding.
	if (box.left < within.left - 0.5 || box.top < within.top - 0.5) return undefined;
	if (box.right > within.right + 0.5 || box.bottom > within.bottom + 0.5) return undefined;
	for (const x of spread(box.left, box.right, ACROSS))
		for (const y of spread(box.top, box.bottom, DOWN)) {
			const hit = document.elementFromPoint(x, y);
			if (!hit || !at.contains(hit)) return undefined;
		}
	const inside = [at, ...at.querySelectorAll('[data-scrolls], pre')];
	const acts = [...at.querySelectorAll('[data-answers]')].map((e) => e.getBoundingClientRect());
	const numbers = [box, ...acts].flatMap((r) => [r.left, r.top, r.width, r.height]);
	return [...numbers.map(Math.round), ...inside.map((e) => Math.round(e.scrollTop))].join();
}

/** spread are places between two edges. */
function spread(from: number, to: number, apart: number): number[] {
	const parts = Math.max(1, Math.ceil((to - from - 2 * EDGE) / apart));
	return Array.from({ length: parts + 1 }, (_, i) => from + EDGE + ((to - from - 2 * EDGE) * i) / parts);
}
