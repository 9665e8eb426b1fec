import type { SpaceInfo, SpaceMerge, SpaceView } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';
import { labelOf } from '../../ui/space';
import { draftOf, patchOf, type Draft } from './draft';
import { turns } from '../../kernel/turns';

/** How long something offers to be taken back, in milliseconds; it can be afterwards, in the pane. */
const UNDO = 8000;
const DAY = 24 * 3_600_000;

export type Which = 'active' | 'archived';
/** Asked is what the person is asked about in a dialog. */
export type Asked =
	| { kind: 'create' }
	| { kind: 'stale' }
	| { kind: 'remove'; space: SpaceInfo; merged: boolean }
	| { kind: 'merge'; space: SpaceInfo; into?: string };

/** Managed is the spaces as their view shows them, and the one that is open beside the table. */
export class Managed {
	which = $state<Which>('active');
	/** opened is the id of the space beside the table, "" the default one. */
	opened = $state<string>();
	view = $state.raw<SpaceView>();
	failure = $state.raw<Failure>();
	/** gone says that the open one is not there any more. */
	gone = $derived(this.failure?.code === 'not_found');
	/** missing are the spaces whose folders are not there. */
	missing = $state.raw<string[]>([]);
	asked = $state.raw<Asked>();
	/** draft is there while a space is edited. It outlives what the kernel refuses. */
	draft = $state<Draft>();
	saving = $state(false);
	refused = $state.raw<Failure>();

	#live: Live;
	#turn = turns();

	constructor(live: Live) {
		this.#live = live;
	}

	readonly rows = $derived.by(() => {
		const { spaces } = this.#live;
		return this.which === 'archived' ? spaces.archived : [...spaces.open, ...(spaces.rest ? [spaces.rest] : [])];
	});

	/** nothing says that there is only the default space. */
	readonly nothing = $derived.by(() => this.#live.spaces.list.length === 0);
	readonly patch = $derived(this.draft && this.view ? patchOf(this.draft, this.view.space) : {});
	readonly changed = $derived(Object.keys(this.patch).length > 0);

	/** stale are the spaces that nobody wrote in for so many days: those that the kernel would archive. */
	stale(days: number, now = Date.now()): SpaceInfo[] {
		if (!Number.isInteger(days) || days < 1) return [];
		return this.#live.spaces.open.filter((s) => now - Date.parse(s.used_at) >= days * DAY);
	}

	show(which: Which): void {
		this.which = which;
	}

	/** open shows a space beside the table. */
	open(id: string): void {
		if (this.opened !== id) {
			this.view = undefined;
			this.cancel();
		}
		this.opened = id;
		void this.load();
	}

	close(): void {
		this.opened = undefined;
		this.view = undefined;
		this.cancel();
	}

	/** step goes so many spaces on, as far as there are any. */
	step(by: number): void {
		const at = this.rows.findIndex((s) => s.id === this.opened);
		const next = this.rows[at < 0 ? 0 : Math.max(0, Math.min(this.rows.length - 1, at + by))];
		if (next) this.open(next.id);
	}

	/** load reads the open space anew. What was read before stays until then, and what is written stays in any case. */
	async load(): Promise<void> {
		const id = this.opened;
		if (id === undefined) return;
		const newest = this.#turn();
		try {
			const view = await this.#live.kernel.space.get(id);
			if (!newest()) return;
			this.view = view;
			this.failure = undefined;
		} catch (e) {
			if (newest()) this.failure = failureOf(e);
		}
	}

	/** look finds out whose folders are not there any more. One that cannot be looked at counts as there. */
	async look(): Promise<void> {
		const of = this.#live.spaces.list.filter((s) => s.folder);
		const there = await Promise.all(
			of.map((s) =>
				this.#live.kernel.exec.folder(s.folder).then(
					(f) => f.exists,
					() => true,
				),
			),
		);
		this.missing = of.filter((_, i) => !there[i]).map((s) => s.id);
	}

	edit(): void {
		if (this.view?.space.id) this.draft ??= draftOf(this.view.space);
	}

	cancel(): void {
		this.draft = undefined;
		this.refused = undefined;
	}

	/** save keeps what was written, and reports whether it did. */
	async save(): Promise<boolean> {
		const id = this.opened;
		if (!id || !this.draft || this.saving) return false;
		this.saving = true;
		this.refused = undefined;
		try {
			if (this.changed) await this.#live.kernel.space.update(id, this.patch);
			if (this.opened === id) this.draft = undefined;
		} catch (e) {
			this.refused = failureOf(e);
			return false;
		} finally {
			this.saving = false;
		}
		await this.load();
		return true;
	}

	/** useFolder gives the open space another folder, "" one of its own. */
	async useFolder(path: string): Promise<void> {
		const id = this.opened;
		if (id) await this.#do(this.#live.kernel.space.update(id, { folder: path }));
	}

	/** activate has new conversations begin in a space, or, with none, find theirs. */
	async activate(s?: SpaceInfo): Promise<void> {
		if (!(await this.#do(this.#live.kernel.space.activate(s?.id ?? '')))) return;
		const t = i18n.t.spaces;
		this.#live.note(s ? t.activated(labelOf(s)) : t.deactivated);
	}

	async archive(s: SpaceInfo): Promise<void> {
		if (!(await this.#do(this.#live.kernel.space.archive(s.id)))) return;
		const t = i18n.t.spaces;
		const back = async () => {
			await this.restore(s);
			if (s.active) await this.#do(this.#live.kernel.space.activate(s.id));
		};
		this.#live.offer({ text: t.archivedNow(labelOf(s)), label: t.undo, run: () => void back() }, UNDO);
	}

	async restore(s: SpaceInfo): Promise<void> {
		if (await this.#do(this.#live.kernel.space.restore(s.id))) this.which = 'active';
	}

	/** create makes a space and opens it. */
	async create(d: Draft): Promise<void> {
		const { name, emoji, folder, words } = d;
		const made = await this.#live.kernel.space.create({
			name: name.trim(),
			emoji: emoji.trim(),
			folder,
			words: words.split(',').map((w) => w.trim()),
		});
		this.which = 'active';
		this.open(made.id);
		await this.#live.spaces.load();
	}

	async archiveStale(days: number): Promise<void> {
		const t = i18n.t.spaces;
		const done = await this.#live.kernel.space.archiveStale(days);
		const back = async () => {
			for (const s of done) await this.#do(this.#live.kernel.space.restore(s.id));
		};
		this.#live.offer({ text: t.staleDone(done.length), label: t.undo, run: () => void back() }, UNDO);
		void this.load();
	}

	async remove(s: SpaceInfo): Promise<void> {
		await this.#live.kernel.space.remove(s.id);
		if (this.opened === s.id) this.close();
		this.#live.note(i18n.t.spaces.removed(labelOf(s)));
	}

	/** merge puts one space into another, shows that, and offers to take it back. */
	async merge(from: string, into: string): Promise<void> {
		const t = i18n.t.spaces;
		const m = await this.#live.kernel.space.merge(from, into);
		this.which = 'active';
		this.open(into);
		this.#live.offer(
			{ text: t.merged(m.from_name, m.into_name), label: t.undo, run: () => void this.unmerge(m.id) },
			UNDO,
		);
	}

	async unmerge(id: string): Promise<void> {
		let m: SpaceMerge | undefined;
		if (!(await this.#do(this.#live.kernel.space.unmerge(id).then((done) => (m = done))))) return;
		this.which = 'active';
		this.open(m!.from);
		this.#live.note(i18n.t.spaces.unmerged(m!.from_name, m!.sessions));
	}

	/** notNow sees to it that a merge is not proposed again. */
	async notNow(proposal: string): Promise<void> {
		await this.#do(this.#live.kernel.space.answerProposal(proposal, false, ''));
	}

	/** do reports whether the work succeeded; a failure is told in passing. */
	async #do(work: Promise<unknown>): Promise<boolean> {
		try {
			await work;
		} catch (e) {
			this.#live.tell(failureOf(e));
			return false;
		}
		await this.load();
		return true;
	}
}
