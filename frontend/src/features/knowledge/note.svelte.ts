import type { Kernel, Note, VaultCompared } from '../../kernel/api.gen';
import { writeNew } from '../../kernel/notes';
import { failureOf, type Failure } from '../../kernel/transport';

/** How long after the last key the text is written, in milliseconds. */
const REST = 800;

/** Clash is what stands in the file while the person has another text; without theirs the note is gone. */
interface Clash {
	theirs?: Note;
}

/** Edit is what agents did to the note while it was open: how it was before, and what came of it. */
interface Edit {
	before: string;
	compared: VaultCompared;
}

/** place is where a note was read from: a link finds one of that name elsewhere too, which is another note. */
async function readAt(kernel: Kernel, path: string): Promise<Note | undefined> {
	try {
		const note = await kernel.knowledge.read(path);
		return note.path === path ? note : undefined;
	} catch (e) {
		if (failureOf(e).code === 'not_found') return undefined;
		throw e;
	}
}

/**
 * OpenNote is a note in the editor. What is typed is written by itself, only over the text that it was made from: whoever
 * else changes the note in between is never overwritten, and what the person wrote is never thrown away.
 */
export class OpenNote {
	/** note is what stands in the file, as far as is known. */
	note = $state.raw<Note>() as Note;
	path = $state('');
	text = $state.raw('');
	/** revision rises when the text changes in another place than the editor that has it. */
	revision = $state(0);
	saving = $state(false);
	clash = $state.raw<Clash>();
	failure = $state.raw<Failure>();
	/** edit is there until the person has dealt with it. */
	edit = $state.raw<Edit>();
	#written = $state.raw('');
	dirty = $derived(this.text !== this.#written);
	/** fixed says that the note can be read only. */
	fixed = $derived(this.note.encoding !== 'UTF-8');
	/** revertible says that nobody has written since the agents did. */
	revertible = $derived(!this.dirty && !this.clash && this.edit?.compared.hash === this.note.hash);
	state = $derived.by(() => {
		if (this.saving) return 'saving' as const;
		return this.dirty ? ('unsaved' as const) : ('saved' as const);
	});
	/** shown is on how many sides the note is edited: what is typed on one appears on the other. */
	shown = 0;

	#kernel: Kernel;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#work: Promise<void> | undefined;
	#looks = 0;
	#held = false;

	constructor(kernel: Kernel, note: Note) {
		this.#kernel = kernel;
		this.#accept(note);
		this.text = note.text;
	}

	/** type takes what the person has written by now. */
	type(text: string): void {
		if (this.fixed || text === this.text) return;
		this.text = text;
		if (this.shown > 1) this.revision++;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.save(), REST);
	}

	/** save writes at once what is not written yet, and reports whether all of it is. */
	async save(): Promise<boolean> {
		clearTimeout(this.#timer);
		while (this.#work) await this.#work;
		if (!this.dirty) return true;
		if (this.clash) return false;
		this.#work = this.#write().finally(() => (this.#work = undefined));
		await this.#work;
		return !this.dirty;
	}

	async #write(): Promise<void> {
		this.saving = true;
		this.failure = undefined;
		const text = this.text;
		try {
			const c = await this.#kernel.knowledge.write({ path: this.path, text, base: this.note.hash });
			this.note = { ...this.note, hash: c.hash };
			this.#written = text;
		} catch (e) {
			const f = failureOf(e);
			if (f.code === 'conflict') await this.#meet();
			else this.failure = f;
		} finally {
			this.saving = false;
		}
		if (!this.clash && !this.failure) await this.#look();
		// More may have been typed meanwhile.
		if (this.dirty && !this.clash && !this.failure) this.#timer = setTimeout(() => void this.save(), REST);
	}

	/** look reads the note again, after something may have changed it. */
	async look(): Promise<void> {
		while (this.#work) await this.#work;
		await this.#look();
	}

	async #look(): Promise<void> {
		const turn = ++this.#looks;
		const path = this.path;
		const theirs = await readAt(this.#kernel, path).catch((e: unknown) => {
			this.failure = failureOf(e);
			return null;
		});
		if (theirs === null || turn !== this.#looks || path !== this.path || this.saving || this.#held) return;
		if (!this.dirty) this.failure = undefined;
		if (theirs?.hash === this.note.hash) {
			this.clash = undefined;
			this.note = theirs;
			// The kernel keeps lines of its own in the head of a note.
			if (!this.dirty && theirs.text !== this.text) this.#take(theirs);
			return;
		}
		if (theirs && !this.dirty) void this.#changed(theirs);
		else if (theirs?.text === this.text) this.#take(theirs);
		else this.clash = theirs ? { theirs } : {};
	}

	/** changed takes what somebody else wrote. Where that was an agent, the person can look at it, and take it back. */
	async #changed(theirs: Note): Promise<void> {
		const before = this.edit?.compared.hash === this.note.hash ? this.edit.before : this.text;
		this.#take(theirs);
		const compared = await this.#kernel.knowledge.compare(this.path, before).catch(() => undefined);
		if (compared?.hash !== theirs.hash) return; // it was changed again, which is looked at too
		this.edit = compared.by.length > 0 && compared.diff ? { before, compared } : undefined;
	}

	/** compare is how what stands in the file differs from what the person has. */
	compare(): Promise<VaultCompared> {
		return this.#kernel.knowledge.compare(this.path, this.text);
	}

	async #meet(): Promise<void> {
		try {
			const theirs = await readAt(this.#kernel, this.path);
			if (theirs && theirs.text === this.text) this.#take(theirs);
			else this.clash = theirs ? { theirs } : {};
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	/** takeTheirs shows what the others wrote. What the person wrote is one undo away. */
	takeTheirs(): void {
		if (this.clash?.theirs) this.#take(this.clash.theirs);
	}

	/** keepMine writes the person's text over what the others wrote. */
	async keepMine(): Promise<boolean> {
		const theirs = this.clash?.theirs;
		if (!this.clash) return true;
		this.note = { ...this.note, hash: theirs?.hash ?? '' };
		this.#written = theirs?.text ?? `${this.text}\n`; // other than the text, so that it is written
		this.clash = undefined;
		return this.save();
	}

	/** keepBoth writes the person's text as a note of its own beside, and shows the others'. It returns where it is. */
	async keepBoth(word: string): Promise<string | undefined> {
		const { clash, text } = this;
		if (!clash) return undefined;
		if (!clash.theirs) return (await this.keepMine()) ? this.path : undefined;
		const path = await writeNew(this.#kernel, `${this.path.replace(/\.md$/i, '')} (${word})`, text);
		// What was typed while that was written stays here, and the question with it.
		if (this.text === text) this.#take(clash.theirs);
		return path;
	}

	/** hold does something with the whole note, which is then not taken for somebody else's doing. */
	async hold<T>(work: () => Promise<T>): Promise<T> {
		this.#held = true;
		try {
			return await work();
		} finally {
			this.#held = false;
		}
	}

	/** moved says that the note has another path, and another head. */
	async moved(path: string): Promise<void> {
		this.path = path;
		await this.look();
	}

	#take(note: Note): void {
		this.#accept(note);
		this.clash = undefined;
		if (this.text === note.text) return;
		this.text = note.text;
		this.revision++;
	}

	#accept(note: Note): void {
		this.note = note;
		this.path = note.path;
		this.#written = note.text;
	}
}
