import type { VaultBacklink, VaultEntry, VaultText } from '../../kernel/api.gen';
import { i18n } from '../../ui/i18n/index.svelte';
import type { OpenNote } from './note.svelte';
import { folderOf, nameOf, placed } from './paths';
import type { Vault } from './vault.svelte';

/** How long something can be taken back with one press, in milliseconds. */
const UNDO = 10_000;

/** Changes are what the person does to whole notes and folders. What failed they are told. */
export class Changes {
	#vault: Vault;

	constructor(vault: Vault) {
		this.#vault = vault;
	}

	get #live() {
		return this.#vault.live;
	}

	get #kernel() {
		return this.#vault.live.kernel.knowledge;
	}

	/** within are the notes of which the page has the text, at a path or below it. */
	#within(path: string): OpenNote[] {
		return this.#vault.held.filter((n) => n.path === path || n.path.startsWith(`${path}/`));
	}

	/** hold does something with several notes, which is then not taken for somebody else's doing. */
	#hold<T>(notes: OpenNote[], work: () => Promise<T>): Promise<T> {
		return notes.reduce<() => Promise<T>>((next, n) => () => n.hold(next), work)();
	}

	#offer(text: string, work: () => Promise<unknown>): void {
		const run = () => void this.#vault.attempt(work);
		this.#live.offer({ text, label: i18n.t.knowledge.undo, run }, UNDO);
	}

	/** move gives a note or a folder another path. Links that lead there are rewritten, and what is open stays open. */
	async move(from: string, to: string): Promise<boolean> {
		if (from === to) return true;
		const t = i18n.t.knowledge;
		const notes = this.#within(from);
		const saved = await Promise.all(notes.map((n) => n.save()));
		if (saved.includes(false)) {
			this.#live.note(t.saveFirst);
			return false;
		}
		return this.#vault.attempt(async () => {
			const c = await this.#hold(notes, () => this.#kernel.move(from, to));
			const at = (path: string) => c.path + path.slice(from.length);
			await Promise.all(notes.map((n) => n.moved(at(n.path))));
			this.#vault.moved(from, c.path);
			const name = nameOf(c.path);
			if (folderOf(from) === folderOf(c.path)) this.#live.note(t.renamed(name, c.links));
			else this.#offer(t.moved(name, folderOf(c.path), c.links), () => this.move(c.path, from));
			await this.#vault.load();
			await this.#vault.linked();
		});
	}

	/** drop moves a note or a folder into a folder. Where links would be rewritten for it, the person is asked first. */
	async drop(entry: Pick<VaultEntry, 'path' | 'kind'>, folder: string): Promise<void> {
		const to = placed(folder, entry.path.split('/').at(-1)!, entry.kind);
		if (to === entry.path) return;
		await this.#vault.attempt(async () => {
			const { links, notes } = await this.#kernel.movePreview(entry.path, to);
			if (links > 0 || notes.length > 0) this.#vault.asked = { what: 'move', entry, to: folder };
			else await this.move(entry.path, to);
		});
	}

	/** remove puts a note, another file or a folder into the trash. For a while that can be taken back. */
	async remove(entry: Pick<VaultEntry, 'path' | 'kind'>): Promise<boolean> {
		const { path } = entry;
		const notes = this.#within(path);
		return this.#vault.attempt(async () => {
			await Promise.all(notes.map((n) => n.save()));
			const trash = await this.#hold(notes, async () => {
				if (entry.kind === 'folder') return (await this.#kernel.removeFolder(path)).trash;
				const base = notes[0]?.note.hash ?? '';
				return [(await this.#kernel.delete(path, base)).trash ?? ''];
			});
			this.#vault.removed(path);
			this.#offer(i18n.t.knowledge.deleted(nameOf(path)), () => this.#back(trash));
			await this.#vault.load();
		});
	}

	/** back puts what was deleted together back, the notes of an empty folder too. */
	async #back(trash: string[]): Promise<void> {
		if (trash.length === 1) return void (await this.untrash(trash[0]!));
		for (const id of trash) await this.#kernel.restore(id);
		await this.#vault.load();
	}

	/** untrash puts what was deleted back, and shows it when it is a note. */
	untrash(id: string): Promise<boolean> {
		return this.#vault.attempt(async () => {
			const c = await this.#kernel.restore(id);
			const said = c.notes.map((w) => i18n.either(w.en, w.ko));
			this.#live.note([i18n.t.notebook.backAs(c.path), ...said].join(' '));
			await this.#vault.load();
			if (/\.md$/i.test(c.path)) await this.#vault.show(c.path);
		});
	}

	/** makeFolder makes a folder, and opens it in the tree. It throws what the kernel says. */
	async makeFolder(path: string): Promise<void> {
		const made = await this.#kernel.makeFolder(path);
		this.#vault.reveal(`${made}/`);
		await this.#vault.load();
	}

	/** bringBack gives the open note the text that it had in a version. For a while that can be taken back. */
	async bringBack(version: VaultText, when: string): Promise<boolean> {
		const here = this.#vault.current;
		const t = i18n.t.notebook;
		if (!here) return false;
		if (!(await here.save())) {
			this.#live.note(t.saveFirst);
			return false;
		}
		return this.#vault.attempt(async () => {
			const { path, text } = here;
			const c = await this.#kernel.write({ path, text: version.text, base: here.note.hash });
			await here.look();
			this.#offer(t.restored(nameOf(path), when), async () => {
				await this.#kernel.write({ path, text, base: c.hash });
				await here.look();
			});
		});
	}

	/** undoEdit takes back what agents did to an open note, which nobody has changed since. For a while that can be taken back. */
	undoEdit(note: OpenNote): Promise<boolean> {
		const { edit, path, text } = note;
		if (!edit || !note.revertible) return Promise.resolve(false);
		const write = async (to: string, base: string) => {
			const c = await this.#kernel.write({ path, text: to, base, exact: true });
			note.edit = undefined;
			await note.look();
			return c.hash;
		};
		return this.#vault.attempt(async () => {
			const hash = await write(edit.before, edit.compared.hash);
			this.#offer(i18n.t.beside.undone(nameOf(path)), () => write(text, hash));
		});
	}

	/** linkMention makes a place that names a note a link to it. For a while that can be taken back. */
	linkMention(m: VaultBacklink, to: string): Promise<boolean> {
		return this.#vault.attempt(async () => {
			const was = await this.#kernel.read(m.path);
			const c = await this.#kernel.link(m.path, m.line, to, was.hash);
			this.#offer(i18n.t.notebook.linked(nameOf(m.path)), () =>
				this.#kernel.write({ path: m.path, text: was.text, base: c.hash }),
			);
			await this.#vault.load();
			await this.#vault.linked();
		});
	}

	/** keepBoth ends a clash with two notes, and says where the person's own is. */
	keepBoth(note: OpenNote): Promise<boolean> {
		return this.#vault.attempt(async () => {
			const path = await note.keepBoth(i18n.t.knowledge.mine);
			if (path) this.#live.note(i18n.t.knowledge.both(path));
			await this.#vault.load();
		});
	}
}
