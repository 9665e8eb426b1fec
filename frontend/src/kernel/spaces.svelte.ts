import type { Kernel, Session, SpaceInfo, SpaceProposal } from './api.gen';
import type { Kept } from './kept.svelte';
import type { Sessions } from './sessions.svelte';
import { failureOf, type Event, type Failure } from './transport';
import { turns } from './turns';

/** Where the space is kept that was looked at last. An id is never one of these two words. */
const KEPT = 'space';
const DEFAULT = 'default';

/** Spaces are the contexts of work, kept as the kernel has them. The default one has no row; its id is "". */
export class Spaces {
	/** list are all but the default one, archived ones too, the one that was used last first. */
	list = $state.raw<SpaceInfo[]>([]);
	loaded = $state(false);
	failure = $state.raw<Failure>();
	/** rest is the default space: what is in no other. */
	rest = $state.raw<SpaceInfo>();
	/** merges are the pairs that could be one space. */
	merges = $state.raw<SpaceProposal[]>([]);
	/** version is another one after each change of the spaces, and of what is proposed of them. */
	version = $state(0);

	/** open are those that conversations can be put into. */
	readonly open = $derived(this.list.filter((s) => !s.archived_at));
	readonly archived = $derived(this.list.filter((s) => s.archived_at));
	/** active is the one that conversations begin in whose first message names no other. */
	readonly active = $derived(this.list.find((s) => s.active));
	/** any says that there is something to choose from. */
	readonly any = $derived(this.open.length > 0);

	#kernel: Kernel;
	#kept: Kept;
	#sessions: Sessions;
	#turn = turns();

	constructor(kernel: Kernel, kept: Kept, sessions: Sessions) {
		this.#kernel = kernel;
		this.#kept = kept;
		this.#sessions = sessions;
	}

	get(id: string): SpaceInfo | undefined {
		return this.list.find((s) => s.id === id);
	}

	/** chosen is the space that is looked at and that new conversations begin in, "" the default one; null for all. */
	get chosen(): string | null {
		return this.#sessions.space;
	}

	/** load reads the spaces anew. What was read before stays until then. */
	async load(): Promise<void> {
		const newest = this.#turn();
		try {
			const [list, rest, merges] = await Promise.all([
				this.#kernel.space.list(),
				this.#kernel.space.get(''),
				this.#kernel.space.proposals(''),
			]);
			if (!newest()) return;
			this.list = list;
			this.rest = rest.space;
			this.merges = merges;
			this.failure = undefined;
		} catch (e) {
			if (!newest()) return;
			this.failure = failureOf(e);
		}
		this.version++;
		this.loaded = true;
		this.#keepTo();
	}

	/** keepTo goes to what was chosen the last time, and to all where that space is not there any more. */
	#keepTo(): void {
		const kept = this.#kept.get(KEPT);
		if (this.failure) return;
		const to = kept === DEFAULT ? '' : kept;
		const there = kept === '' ? null : to === '' || this.open.some((s) => s.id === to) ? to : null;
		const wanted = this.any ? there : null;
		if (wanted !== this.chosen) void this.#sessions.narrow(wanted);
	}

	/** choose shows the conversations of one space, or of all, and remembers it. */
	choose(id: string | null): void {
		this.#kept.set(KEPT, id === null ? '' : id || DEFAULT);
		void this.#sessions.narrow(id);
	}

	/** move puts conversations into another space. The kernel learns from it. */
	async move(ids: string[], to: string): Promise<Session[]> {
		const moved = await this.#kernel.space.move(ids, to);
		for (const s of moved) this.#sessions.put(s);
		return moved;
	}

	receive(e: Event): void {
		if (e.kind === 'space') void this.load();
	}
}
