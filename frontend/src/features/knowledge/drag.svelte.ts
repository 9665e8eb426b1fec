import type { VaultEntry } from '../../kernel/api.gen';
import { folderOf } from './paths';

/** How far the pointer must go before it drags, in pixels. */
const FAR = 6;
/** How long a folder must be pointed at before it opens, in milliseconds. */
const REST = 700;
/** How near to its edge the list scrolls, and how far each time, in pixels. */
const EDGE = 28;
const STEP = 10;

/** Drag moves a line of the tree with the pointer. The keys have a dialog for the same. */
export class Drag {
	/** entry is what is moved, once the pointer has gone far enough. */
	entry = $state.raw<VaultEntry>();
	/** over is the folder that it would go into, "" for the top; undefined is none. */
	over = $state<string>();
	x = $state(0);
	y = $state(0);

	#from: { entry: VaultEntry; x: number; y: number } | undefined;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** A drag ends with a click on what was dragged, which is none. */
	#clicked = false;
	#open: (folder: string) => void;
	#drop: (entry: VaultEntry, folder: string) => void;

	/** open opens a folder that is pointed at for a while. */
	constructor(open: (folder: string) => void, drop: (entry: VaultEntry, folder: string) => void) {
		this.#open = open;
		this.#drop = drop;
	}

	down(e: PointerEvent, entry: VaultEntry): void {
		this.#clicked = false;
		if (e.button === 0 && e.pointerType !== 'touch') this.#from = { entry, x: e.clientX, y: e.clientY };
	}

	move(e: PointerEvent, list: HTMLElement | undefined): void {
		const from = this.#from;
		if (!from || !list) return;
		if (!this.entry && Math.hypot(e.clientX - from.x, e.clientY - from.y) < FAR) return;
		if (!this.entry) list.setPointerCapture(e.pointerId);
		this.entry = from.entry;
		[this.x, this.y] = [e.clientX, e.clientY];
		const scroller = list.parentElement!;
		const { top, bottom, left, right } = scroller.getBoundingClientRect();
		if (e.clientY < top + EDGE) scroller.scrollBy(0, -STEP);
		else if (e.clientY > bottom - EDGE) scroller.scrollBy(0, STEP);
		const inside = e.clientX >= left && e.clientX <= right && e.clientY >= top && e.clientY <= bottom;
		const line = document.elementFromPoint(e.clientX, e.clientY)?.closest<HTMLElement>('[role=treeitem]');
		this.#point(inside ? this.#folderAt(line) : undefined);
	}

	/** folderAt is the folder of a line: itself, or the one that a note lies in. */
	#folderAt(line: HTMLElement | null | undefined): string | undefined {
		const { path = '', kind } = line?.dataset ?? {};
		const folder = kind === 'folder' ? path : folderOf(path);
		const own = this.entry!.path;
		const useless = folder === folderOf(own) || folder === own || folder.startsWith(`${own}/`);
		return useless ? undefined : folder;
	}

	#point(folder: string | undefined): void {
		if (folder === this.over) return;
		this.over = folder;
		clearTimeout(this.#timer);
		if (folder) this.#timer = setTimeout(() => this.#open(folder), REST);
	}

	up(): void {
		const { entry, over } = this;
		this.cancel();
		this.#clicked = entry !== undefined;
		if (entry && over !== undefined) this.#drop(entry, over);
	}

	cancel(): void {
		clearTimeout(this.#timer);
		this.#clicked = this.entry !== undefined;
		this.#from = this.entry = this.over = undefined;
	}

	/** swallow reports whether a click is the end of a drag. */
	swallow(): boolean {
		const was = this.#clicked;
		this.#clicked = false;
		return was;
	}
}
