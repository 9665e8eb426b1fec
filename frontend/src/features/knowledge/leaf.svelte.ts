import type { Kernel, VaultBacklink } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';
import { OpenNote } from './note.svelte';

/** Shelf is what a side needs to know of the others. */
export interface Shelf {
	kernel: Kernel;
	/** held is a note that is open on a side, or that was left with text that could not be written. */
	held: (path: string) => OpenNote | undefined;
	/** file reports whether a path is another file than a note. */
	file: (path: string) => boolean;
	/** left takes a note that a side leaves with such text. */
	left: (note: OpenNote, by: Leaf) => void;
	/** shown is called when a side shows another note, or none. */
	shown: (by: Leaf) => void;
}

/**
 * Leaf is one side of the notes: which note it shows, and where in it. A note that both sides show is one OpenNote, so that
 * two editors never write over each other.
 */
export class Leaf {
	note = $state.raw<OpenNote>();
	/** file is another file than a note that is shown in the place of one, by its path. */
	file = $state('');
	/** broken is why the note that was asked for could not be opened. */
	broken = $state.raw<{ path: string; failure: Failure }>();
	opening = $state(false);
	/** line is to be brought onto the screen, from 1. */
	line = $state<number>();
	backlinks = $state.raw<VaultBacklink[]>([]);
	/** memory is what the editor of this side keeps between two showings of a note: undo, the place of the cursor. */
	readonly memory = new WeakMap<OpenNote, unknown>();

	#shelf: Shelf;
	#turn = 0;

	constructor(shelf: Shelf) {
		this.#shelf = shelf;
	}

	/** path is where lies what is shown, "" for nothing. */
	get path(): string {
		return this.note?.path ?? this.file;
	}

	/** show opens a note by its path or by the name that a link has; line is brought onto the screen. */
	async show(name: string, line?: number): Promise<boolean> {
		const turn = ++this.#turn;
		const here = this.note;
		if (here && here.path === name) {
			this.opening = false;
			this.broken = undefined;
			if (line) this.line = line;
			return true;
		}
		this.opening = true;
		await this.leave();
		const { held, file, kernel } = this.#shelf;
		try {
			if (file(name)) {
				if (turn === this.#turn) this.#put(undefined, undefined, name);
				return turn === this.#turn;
			}
			const read = held(name) ? undefined : await kernel.knowledge.read(name);
			if (turn !== this.#turn) return false;
			this.#put(held(read?.path ?? name) ?? new OpenNote(kernel, read!), line);
			return true;
		} catch (e) {
			if (turn === this.#turn) this.broken = { path: name, failure: failureOf(e) };
			return false;
		} finally {
			if (turn === this.#turn) this.opening = false;
		}
	}

	#put(note: OpenNote | undefined, line?: number, file = ''): void {
		this.broken = undefined;
		this.file = file;
		this.backlinks = [];
		this.line = line;
		this.note = note;
		this.#shelf.shown(this);
		void this.linked();
	}

	/** leave writes what is open. What cannot be written is kept, and is there when the note is opened again. */
	async leave(): Promise<void> {
		const here = this.note;
		if (here && !(await here.save())) this.#shelf.left(here, this);
	}

	/** linked reads anew what leads to the note. */
	async linked(): Promise<void> {
		const here = this.note;
		if (!here) return;
		const list = await this.#shelf.kernel.knowledge.backlinks(here.path).catch(() => undefined);
		if (list !== undefined && this.note === here) this.backlinks = list ?? [];
	}

	/** close takes the note off the screen. */
	close(): void {
		this.#turn++;
		this.note = this.broken = this.line = undefined;
		this.file = '';
		this.opening = false;
		this.#shelf.shown(this);
	}
}
