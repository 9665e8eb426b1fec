import type { Note, VaultBacklink, VaultChange, VaultEntry, VaultHit, VaultTag, VaultText } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Event, type Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';
import { OpenNote } from './note.svelte';
import { above, folderOf, joined, lineOf, nameOf, rowsOf, type Target } from './paths';

const OPEN = 'vault.open';
const LAST = 'vault.note';
/** How many notes a search shows. */
const FOUND = 50;
/** How long the person must have stopped typing before it is searched, in milliseconds. */
const REST = 150;
/** How long a deleted note can be put back with one press, in milliseconds. */
const UNDO = 10_000;

/** Vault is the person's notes on the screen: the tree, what is searched, and the note that is open. */
export class Vault {
	entries = $state.raw<VaultEntry[]>([]);
	tags = $state.raw<VaultTag[]>([]);
	loaded = $state(false);
	failure = $state.raw<Failure>();
	/** current is the note in the editor; broken is why the one that was asked for could not be opened. */
	current = $state.raw<OpenNote>();
	broken = $state.raw<{ path: string; failure: Failure }>();
	opening = $state(false);
	backlinks = $state.raw<VaultBacklink[]>([]);
	query = $state('');
	hits = $state.raw<VaultHit[]>();
	searchFailure = $state.raw<Failure>();
	/** dialog is what is asked or shown over the notes. */
	dialog = $state<'history' | 'rename' | 'trash' | 'graph' | 'check' | 'import'>();

	open = $state.raw<ReadonlySet<string>>(new Set());
	rows = $derived(rowsOf(this.entries, this.open));
	folders = $derived(this.entries.filter((e) => e.kind === 'folder').map((e) => e.path));
	notes = $derived(this.entries.filter((e) => e.kind === 'note'));

	readonly live: Live;
	/** unsaved are notes that were left with text that could not be written yet. */
	unsaved = $state.raw<ReadonlyMap<string, OpenNote>>(new Map());
	#reading: Promise<void> | undefined;
	#begun: Promise<void> | undefined;
	#again = false;
	#turn = 0;
	#asked = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(live: Live) {
		this.live = live;
	}

	/** receive takes the events of the kernel. */
	receive(e: Event): void {
		if (e.kind === 'vault.switched') return this.#moved();
		if (e.kind !== 'vault' || !this.loaded) return;
		const paths = (e.data as string[] | null) ?? [];
		void this.load();
		if (this.query.trim()) this.search(this.query);
		for (const n of this.unsaved.values()) if (paths.includes(n.path)) void n.look();
		const here = this.current;
		if (!here) return;
		if (paths.length === 0 || paths.includes(here.path)) void here.look();
		void this.#linked();
	}

	/** moved reads the notes of another folder. What was written and not saved stays: its note says that the file is another. */
	#moved(): void {
		if (!this.loaded) return;
		const here = this.current;
		if (here && !here.dirty) this.close();
		this.broken = undefined;
		if (this.query) this.search('');
		for (const n of [this.current, ...this.unsaved.values()]) void n?.look();
		void this.load();
	}

	/** begin reads the vault when it is first looked at, and opens the note that was open last. */
	begin(): Promise<void> {
		if (this.loaded) return Promise.resolve();
		return (this.#begun ??= this.#begin().finally(() => (this.#begun = undefined)));
	}

	async #begin(): Promise<void> {
		this.open = new Set(this.live.kept.list(OPEN));
		await this.load();
		const last = this.live.kept.get(LAST);
		if (!this.current && last && this.notes.some((e) => e.path === last)) await this.show(last);
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
		await Promise.all([this.load(), this.current?.look(), this.#linked()]);
	}

	toggle(folder: string, open = !this.open.has(folder)): void {
		const next = new Set(this.open);
		if (open) next.add(folder);
		else next.delete(folder);
		this.open = next;
		this.live.kept.set(OPEN, JSON.stringify([...next]));
	}

	/** show opens a note by its path or by the name that a link has; line is brought onto the screen. */
	async show(name: string, line?: number): Promise<boolean> {
		const turn = ++this.#turn;
		const here = this.current;
		if (here && here.path === name) {
			this.broken = undefined;
			if (line) here.line = line;
			return true;
		}
		this.opening = true;
		await this.leave();
		try {
			const read = this.unsaved.has(name) ? undefined : await this.live.kernel.knowledge.read(name);
			if (turn !== this.#turn) return false;
			const kept = this.unsaved.get(read?.path ?? name);
			const same = here && read?.path === here.path ? here : undefined;
			this.#put(kept ?? same ?? new OpenNote(this.live.kernel, read!), line);
			return true;
		} catch (e) {
			if (turn === this.#turn) this.broken = { path: name, failure: failureOf(e) };
			return false;
		} finally {
			if (turn === this.#turn) this.opening = false;
		}
	}

	#put(note: OpenNote, line?: number): void {
		this.broken = undefined;
		this.backlinks = [];
		if (line) note.line = line;
		this.current = note;
		if (this.unsaved.has(note.path)) this.#forget(note.path);
		this.live.kept.set(LAST, note.path);
		for (const folder of above(note.path)) if (!this.open.has(folder)) this.toggle(folder, true);
		void this.#linked();
	}

	/** leave writes what is open; what cannot be written is kept here, and is there when the note is opened again. */
	async leave(): Promise<void> {
		const here = this.current;
		if (!here || (await here.save())) return;
		this.unsaved = new Map(this.unsaved).set(here.path, here);
	}

	#forget(path: string): void {
		const next = new Map(this.unsaved);
		next.delete(path);
		this.unsaved = next;
	}

	async #linked(): Promise<void> {
		const here = this.current;
		if (!here) return;
		const list = await this.live.kernel.knowledge.backlinks(here.path).catch(() => undefined);
		if (list !== undefined && this.current === here) this.backlinks = list ?? [];
	}

	/** search finds as one types. */
	search(query: string): void {
		this.query = query;
		clearTimeout(this.#timer);
		const turn = ++this.#asked;
		if (query.trim() === '') {
			this.hits = this.searchFailure = undefined;
			return;
		}
		this.#timer = setTimeout(async () => {
			try {
				const hits = (await this.live.kernel.knowledge.search(query.trim(), FOUND)) ?? [];
				if (turn !== this.#asked) return;
				this.hits = hits;
				this.searchFailure = undefined;
			} catch (e) {
				if (turn === this.#asked) this.searchFailure = failureOf(e);
			}
		}, REST);
	}

	/** create makes a note; one that is there already is opened. It reports whether it is open. */
	async create(folder: string, name: string): Promise<boolean> {
		const path = joined(folder, name);
		if (path === '.md') return false;
		return this.#attempt(async () => {
			try {
				await this.live.kernel.knowledge.write({ path, text: `# ${nameOf(path)}\n\n`, base: '' });
			} catch (e) {
				if (failureOf(e).code !== 'conflict') throw e;
			}
			await this.load();
			await this.show(path);
		});
	}

	/** today opens the journal of the day, which is made where it is missing. */
	today(): Promise<boolean> {
		return this.#attempt(async () => {
			const c = await this.live.kernel.knowledge.journal('', '');
			await this.load();
			await this.show(c.path);
		});
	}

	/** follow goes where a link of the open note leads; a note that is missing is made. */
	async follow(t: Target): Promise<boolean> {
		const here = this.current;
		if (t.to === '' && here) {
			here.line = lineOf(here.note, t.fragment);
			return true;
		}
		return this.#attempt(async () => {
			const found = await this.#resolve(t.to, here);
			if (!found) {
				const folder = t.to.includes('/') || !here ? '' : folderOf(here.path);
				await this.create(folder, t.to);
				this.live.note(i18n.t.knowledge.made(nameOf(t.to)));
				return;
			}
			await this.show(found.path, t.fragment ? lineOf(found, t.fragment) : undefined);
		});
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
	visit(path: string, line?: number): Promise<boolean> {
		return this.entries.some((e) => e.path === path) ? this.show(path, line) : this.create('', path);
	}

	/** rename gives the open note another name or folder; links that lead to it are rewritten. */
	rename(name: string, folder = folderOf(this.current?.path ?? '')): Promise<boolean> {
		const here = this.current;
		const wanted = name.trim().replace(/\.md$/i, '');
		const to = joined(folder, wanted);
		if (!here || !wanted || to === here.path) return Promise.resolve(true);
		const from = here.path;
		return this.#attempt(async () => {
			if (!(await here.save())) return this.live.note(i18n.t.knowledge.saveFirst);
			const c = await here.hold(() => this.live.kernel.knowledge.move(from, to));
			await here.moved(c.path);
			this.live.kept.set(LAST, c.path);
			this.live.note(i18n.t.knowledge.renamed(nameOf(c.path), c.links));
			await this.load();
			await this.#linked();
		});
	}

	/** remove deletes the open note. For a while its text can be written back. */
	remove(): Promise<boolean> {
		const here = this.current;
		if (!here) return Promise.resolve(false);
		const { path } = here;
		return this.#attempt(async () => {
			await here.save();
			const c = await here.hold(() => this.live.kernel.knowledge.delete(path, here.note.hash));
			if (this.current === here) this.current = undefined;
			this.live.kept.set(LAST, '');
			const run = () => void this.untrash(c.trash ?? '');
			const t = i18n.t.knowledge;
			this.live.offer({ text: t.deleted(nameOf(path)), label: t.undo, run }, UNDO);
			await this.load();
		});
	}

	/** untrash puts what was deleted back, and shows it when it is a note. */
	untrash(id: string): Promise<boolean> {
		return this.#attempt(async () => {
			const c = await this.live.kernel.knowledge.restore(id);
			const said = c.notes.map((w) => i18n.either(w.en, w.ko));
			this.live.note([i18n.t.notebook.backAs(c.path), ...said].join(' '));
			await this.load();
			if (/\.md$/i.test(c.path)) await this.show(c.path);
		});
	}

	/** bringBack gives the open note the text that it had in a version. For a while that can be taken back. */
	async bringBack(version: VaultText, when: string): Promise<boolean> {
		const here = this.current;
		const t = i18n.t.notebook;
		if (!here) return false;
		if (!(await here.save())) {
			this.live.note(t.saveFirst);
			return false;
		}
		return this.#attempt(async () => {
			const { path, text } = here;
			const c = await this.live.kernel.knowledge.write({ path, text: version.text, base: here.note.hash });
			await here.look();
			const run = () =>
				void this.#attempt(async () => {
					await this.live.kernel.knowledge.write({ path, text, base: c.hash });
					await this.current?.look();
				});
			this.live.offer({ text: t.restored(nameOf(path), when), label: i18n.t.knowledge.undo, run }, UNDO);
		});
	}

	/** linkMention makes a place that names a note a link to it. For a while that can be taken back. */
	linkMention(m: VaultBacklink, to: string): Promise<boolean> {
		return this.#attempt(async () => {
			const was = await this.live.kernel.knowledge.read(m.path);
			const c = await this.live.kernel.knowledge.link(m.path, m.line, to, was.hash);
			const run = () =>
				void this.#attempt(async () => {
					await this.live.kernel.knowledge.write({ path: m.path, text: was.text, base: c.hash });
				});
			const text = i18n.t.notebook.linked(nameOf(m.path));
			this.live.offer({ text, label: i18n.t.knowledge.undo, run }, UNDO);
			await this.load();
			await this.#linked();
		});
	}

	/** keepBoth ends a clash with two notes, and says where the person's own is. */
	keepBoth(): Promise<boolean> {
		return this.#attempt(async () => {
			const path = await this.current?.keepBoth(i18n.t.knowledge.mine);
			if (path) this.live.note(i18n.t.knowledge.both(path));
			await this.load();
		});
	}

	/** names are the notes whose names fit what is typed, for a link. */
	async names(words: string): Promise<VaultHit[]> {
		if (words) return (await this.live.kernel.knowledge.find(words, 12)) ?? [];
		const newest = [...this.notes].sort((a, b) => (b.modified ?? '').localeCompare(a.modified ?? ''));
		return newest.slice(0, 12).map((e) => ({ path: e.path, title: e.title ?? e.name, score: 0 }));
	}

	/** close takes a note that is gone off the screen. */
	close(): void {
		this.current = undefined;
		this.broken = undefined;
		this.live.kept.set(LAST, '');
	}

	/** linkTo is how a link names a note: by its name, or by its path where two have that name. */
	linkTo(path: string): string {
		const name = nameOf(path);
		const twins = this.notes.filter((e) => e.name === name).length;
		return twins > 1 ? path.replace(/\.md$/i, '') : name;
	}

	async #attempt(work: () => Promise<VaultChange | void>): Promise<boolean> {
		try {
			await work();
			return true;
		} catch (e) {
			this.live.tell(failureOf(e));
			return false;
		}
	}
}
