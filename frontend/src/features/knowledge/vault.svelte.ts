import type { Note, VaultEntry, VaultHit, VaultTag } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { later } from '../../kernel/times';
import { failureOf, type Event, type Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';
import { Changes } from './changes';
import { Finder } from './finder.svelte';
import type { Leaf } from './leaf.svelte';
import type { OpenNote } from './note.svelte';
import { above, folderOf, insideOf, joined, nameOf, rowsOf, type Target } from './paths';
import { Sides } from './sides.svelte';

const OPEN = 'vault.open';
/** How many paths an event may name so that these alone are read. */
const FEW = 50;
/** The line behind the last one, where one goes on writing. */
const END = Infinity;

/** Asked is what is asked or shown over the notes: about all of them, about the open one, or about a line of the tree. */
export type Asked =
	| { what: 'trash' | 'graph' | 'check' | 'import' | 'history' }
	| { what: 'leave'; url: string }
	| { what: 'create'; folder?: string }
	| { what: 'folder'; folder: string }
	| { what: 'rename' | 'move' | 'delete'; entry: Pick<VaultEntry, 'path' | 'kind'>; to?: string };

/** Vault is the person's notes on the screen: the tree, what is searched, and the notes that are open. */
export class Vault {
	entries = $state.raw<VaultEntry[]>([]);
	tags = $state.raw<VaultTag[]>([]);
	loaded = $state(false);
	failure = $state.raw<Failure>();
	asked = $state.raw<Asked>();
	/** row is the line of the tree that the keys stand on, by its path. */
	row = $state('');

	open = $state.raw<ReadonlySet<string>>(new Set());
	#inside = $derived(insideOf(this.entries));
	rows = $derived(rowsOf(this.#inside, this.open));
	folders = $derived(this.entries.filter((e) => e.kind === 'folder').map((e) => e.path));
	notes = $derived(this.entries.filter((e) => e.kind === 'note'));

	readonly live: Live;
	readonly sides: Sides;
	readonly finder: Finder;
	readonly changes: Changes;
	/** unsaved are notes that were left with text that could not be written yet. */
	unsaved = $state.raw<ReadonlyMap<string, OpenNote>>(new Map());
	#reading: Promise<void> | undefined;
	#begun: Promise<void> | undefined;
	#again = false;
	/** due are paths of which something new is to be read, while asking one answer after the other is waited for. */
	#due = new Set<string>();
	#asking = false;

	constructor(live: Live) {
		this.live = live;
		this.finder = new Finder(live.kernel);
		this.changes = new Changes(this);
		this.sides = new Sides(
			{
				kernel: live.kernel,
				held: (path) => this.#held(path),
				file: (path) => this.entries.some((e) => e.path === path && e.kind === 'file'),
				left: (note, by) => this.#left(note, by),
				shown: (by) => this.#shown(by),
			},
			live.kept,
		);
	}

	/** current is the note that is worked on. */
	get current(): OpenNote | undefined {
		return this.sides.active.note;
	}

	/** held are all notes of which this page has the text. */
	get held(): OpenNote[] {
		return [...new Set([...this.sides.notes, ...this.unsaved.values()])];
	}

	/** receive takes the events of the kernel. */
	receive(e: Event): void {
		if (e.kind === 'vault.switched') return this.#switched();
		if (e.kind !== 'vault' || !this.loaded) return;
		const paths = (e.data as string[] | null) ?? [];
		void this.#changed(paths);
		this.finder.again();
		for (const n of this.held) if (paths.length === 0 || paths.includes(n.path)) void n.look();
		void this.linked();
	}

	/** switched reads the notes of another folder. What was written and not saved stays: its note says that the file is another. */
	#switched(): void {
		if (!this.loaded) return;
		for (const s of this.sides.list) {
			s.broken = undefined;
			if (!s.note?.dirty) s.close();
		}
		if (this.finder.query) this.finder.search('');
		for (const n of this.held) void n.look();
		void this.load();
	}

	/** changed brings notes up to date. What comes while it asks is asked for next, so that no answer is older than the one before. */
	async #changed(paths: string[]): Promise<void> {
		if (paths.length === 0) return this.load();
		for (const p of paths) this.#due.add(p);
		if (this.#asking) return;
		this.#asking = true;
		while (this.#due.size > 0) {
			const due = [...this.#due];
			this.#due.clear();
			await this.#few(due);
		}
		this.#asking = false;
	}

	/** few reads a few notes anew, and everything where that is not enough. */
	async #few(paths: string[]): Promise<void> {
		const { knowledge } = this.live.kernel;
		if (this.#reading || paths.length > FEW) return this.load();
		try {
			const [now, tags] = await Promise.all([knowledge.entries(paths), knowledge.tags()]);
			const came = new Map((now ?? []).map((e) => [e.path, e]));
			const folders = new Set(this.folders);
			const known = paths.every((p) => came.has(p) && (!p.includes('/') || folders.has(folderOf(p))));
			if (!known || this.#reading) return await this.load();
			const rest = this.entries.map((e) => {
				const newer = came.get(e.path);
				came.delete(e.path);
				return newer ?? e;
			});
			this.entries = [...rest, ...came.values()];
			this.tags = tags ?? [];
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	/** linked reads anew what leads to the notes that are open. */
	async linked(): Promise<void> {
		await Promise.all(this.sides.list.map((s) => s.linked()));
	}

	/** begin reads the vault when it is first looked at, and opens the notes that were open last. */
	begin(): Promise<void> {
		if (this.loaded) return Promise.resolve();
		return (this.#begun ??= this.#begin().finally(() => (this.#begun = undefined)));
	}

	async #begin(): Promise<void> {
		this.open = new Set(this.live.kept.list(OPEN));
		await this.load();
		if (this.loaded)
			await this.sides.restore((path) => this.entries.some((e) => e.path === path && e.kind !== 'folder'));
	}

	/** load reads the tree and the tags, once more when it was asked for while it read. */
	load(): Promise<void> {
		if (this.#reading) {
			this.#again = true;
			return this.#reading;
		}
		return (this.#reading = this.#read().finally(() => {
			this.#reading = undefined;
			if (!this.#again) return;
			this.#again = false;
			void this.load();
		}));
	}

	async #read(): Promise<void> {
		try {
			const [entries, tags] = await Promise.all([this.live.kernel.knowledge.tree(), this.live.kernel.knowledge.tags()]);
			this.entries = entries ?? [];
			this.tags = tags ?? [];
			this.failure = undefined;
			this.loaded = true;
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	/** again reads everything anew, after events were missed. */
	async again(): Promise<void> {
		if (!this.loaded) return;
		await Promise.all([this.load(), this.linked(), ...this.held.map((n) => n.look())]);
	}

	toggle(folder: string, open = !this.open.has(folder)): void {
		const next = new Set(this.open);
		if (open) next.add(folder);
		else next.delete(folder);
		this.open = next;
		this.live.kept.set(OPEN, JSON.stringify([...next]));
	}

	/** show opens a note by its path or by the name that a link has, on the side with the focus or beside it. */
	show(name: string, line?: number, beside = false): Promise<boolean> {
		const { sides } = this;
		if (beside) sides.focus(sides.beside());
		return sides.active.show(name, line);
	}

	/** reveal opens the folders that a note lies in. */
	reveal(path: string): void {
		for (const folder of above(path)) if (!this.open.has(folder)) this.toggle(folder, true);
	}

	#held(path: string): OpenNote | undefined {
		return this.unsaved.get(path) ?? this.sides.notes.find((n) => n.path === path);
	}

	#left(note: OpenNote, by: Leaf): void {
		if (this.sides.other(by)?.note !== note) this.unsaved = new Map(this.unsaved).set(note.path, note);
	}

	#shown(by: Leaf): void {
		const { path } = by;
		if (!path) return;
		if (this.unsaved.has(path)) this.unsaved = new Map([...this.unsaved].filter(([p]) => p !== path));
		this.reveal(path);
	}

	/** moved follows a note or a folder to its new path: what is open in the tree, and what is remembered. */
	moved(from: string, to: string): void {
		const at = (path: string) => (path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path);
		for (const folder of [...this.open].filter((f) => at(f) !== f)) {
			this.toggle(folder, false);
			this.toggle(at(folder), true);
		}
		this.row = at(this.row);
		this.unsaved = new Map([...this.unsaved].map(([path, note]) => [at(path), note]));
		this.sides.keep();
		this.reveal(to);
	}

	/** removed takes what is gone off the screen. */
	removed(path: string): void {
		const gone = (p: string) => p === path || p.startsWith(`${path}/`);
		for (const s of this.sides.list) if (gone(s.path)) s.close();
		this.unsaved = new Map([...this.unsaved].filter(([p]) => !gone(p)));
	}

	/** save writes what is open on either side. */
	async save(): Promise<void> {
		await Promise.all(this.sides.notes.map((n) => n.save()));
	}

	/** make makes a note and opens it at its end. It throws what the kernel says where one of that name is there already. */
	async make(folder: string, name: string, beside = false): Promise<void> {
		const path = joined(folder, name);
		await this.live.kernel.knowledge.write({ path, text: `# ${nameOf(path)}\n\n`, base: '' });
		await this.load();
		await this.show(path, END, beside);
	}

	/** create makes a note; one that is there already is opened. It reports whether it is open. */
	async create(folder: string, name: string, beside = false): Promise<boolean> {
		if (joined(folder, name) === '.md') return false;
		return this.attempt(async () => {
			try {
				await this.make(folder, name, beside);
			} catch (e) {
				if (failureOf(e).code !== 'conflict') throw e;
				await this.load();
				await this.show(joined(folder, name), undefined, beside);
			}
		});
	}

	/** write gives the text of the note that is worked on the focus. */
	write(): void {
		this.sides.wanted = true;
	}

	/** today opens the journal of the day to be written in; it is made where it is missing. */
	today(): Promise<boolean> {
		return this.attempt(async () => {
			const c = await this.live.kernel.knowledge.journal('', '');
			await this.load();
			await this.show(c.path, END);
			this.write();
		});
	}

	/** follow goes where a link of the open note leads, on this side or beside it; a note that is missing is made. */
	async follow(t: Target, beside = false): Promise<boolean> {
		const here = this.current;
		if (t.to === '' && here) return this.show(here.path, await this.#lineOf(here.path, t.fragment), beside);
		const known = here?.note.links?.find((l) => l.target === t.to)?.to;
		if (known && !/\.md$/i.test(known)) return this.show(known, undefined, beside);
		return this.attempt(async () => {
			const found = await this.#resolve(t.to, here);
			if (!found) {
				const folder = t.to.includes('/') || !here ? '' : folderOf(here.path);
				await this.create(folder, t.to, beside);
				this.live.note(i18n.t.knowledge.made(nameOf(t.to)));
				return;
			}
			await this.show(found.path, t.fragment ? await this.#lineOf(found.path, t.fragment) : undefined, beside);
		});
	}

	/** lineOf is the line of a note at which the part of it begins that a link names. */
	async #lineOf(path: string, fragment: string): Promise<number | undefined> {
		const part = await this.live.kernel.knowledge.embed(path, `![[#${fragment}]]`).catch(() => undefined);
		return part?.missing ? undefined : part?.line;
	}

	/** resolve finds the note of a link: as the kernel did when it read the note, then by its name. */
	async #resolve(to: string, here: OpenNote | undefined): Promise<Note | undefined> {
		const known = here?.note.links?.find((l) => l.target === to)?.to;
		for (const name of [known, here && to.endsWith('.md') ? joined(folderOf(here.path), to) : '', to]) {
			if (!name) continue;
			try {
				return await this.live.kernel.knowledge.read(name);
			} catch (e) {
				if (failureOf(e).code !== 'not_found') throw e;
			}
		}
		return undefined;
	}

	/** visit shows a note by its path; one that is missing is made. */
	visit(path: string, line?: number, beside = false): Promise<boolean> {
		return this.entries.some((e) => e.path === path) ? this.show(path, line, beside) : this.create('', path, beside);
	}

	/** names are the notes whose names fit what is typed, for a link. */
	async names(words: string): Promise<VaultHit[]> {
		if (words) return (await this.live.kernel.knowledge.find(words, 12)) ?? [];
		const newest = [...this.notes].sort((a, b) => later(a.modified, b.modified));
		return newest.slice(0, 12).map((e) => ({ path: e.path, title: e.title ?? e.name, score: 0 }));
	}

	/** linkTo is how a link names a note: by its name, or by its path where two have that name. */
	linkTo(path: string): string {
		const name = nameOf(path);
		const twins = this.notes.filter((e) => e.name === name).length;
		return twins > 1 ? path.replace(/\.md$/i, '') : name;
	}

	/** attempt reports whether something was done; why it was not, the person is told. */
	async attempt(work: () => Promise<unknown>): Promise<boolean> {
		try {
			await work();
			return true;
		} catch (e) {
			this.live.tell(failureOf(e));
			return false;
		}
	}
}
