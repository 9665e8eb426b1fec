import type { Deletion, Kernel, Run, Session, SessionPatch, SessionQuery } from './api.gen';
import { later } from './times';
import { failureOf, type Event, type Failure } from './transport';
import { turns } from './turns';

const PAGE = 50;
/** MOST is how many conversations the kernel gives at once. */
const MOST = 500;

/** again is how many are read anew of a list: as many as were shown, so that it does not get shorter under the person. */
const again = (list: Session[] | undefined) => Math.min(MOST, Math.max(PAGE, list?.length ?? 0));

/** order puts pinned conversations first, then the one that changed last, as the kernel does. */
function order(a: Session, b: Session): number {
	if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
	return later(a.updated_at, b.updated_at) || (a.id < b.id ? 1 : -1);
}

/** Sessions is the list of conversations, kept as the kernel has it. */
export class Sessions {
	list = $state.raw<Session[]>([]);
	/** archived are those that were taken out of the list. */
	archived = $state.raw<Session[]>([]);
	loaded = $state(false);
	more = $state(false);
	/** space is the one whose conversations are shown, "" the default one; null shows all. */
	space = $state<string | null>(null);
	/** inSpace are those of that space, as far as they were read. */
	inSpace = $state.raw<Session[]>();
	moreInSpace = $state(false);
	failure = $state.raw<Failure>();
	/** words narrow the list to what the full-text search finds. */
	words = $state('');
	found = $state.raw<Session[]>();

	/** shown are the conversations of the list, and away those that were taken out of it. */
	readonly shown = $derived.by(() => {
		const { space } = this;
		return space === null ? this.list : (this.inSpace ?? this.list.filter((s) => s.space === space));
	});
	readonly shownMore = $derived(this.space === null ? this.more : this.moreInSpace);
	readonly away = $derived(this.space === null ? this.archived : this.archived.filter((s) => s.space === this.space));

	#kernel: Kernel;
	#turn = turns();
	#search = 0;
	#narrowed = 0;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	get(id: string): Session | undefined {
		const by = (s: Session) => s.id === id;
		return this.list.find(by) ?? this.found?.find(by) ?? this.inSpace?.find(by) ?? this.archived.find(by);
	}

	async load(): Promise<void> {
		const newest = this.#turn();
		const limit = again(this.list);
		try {
			const [list, archived] = await Promise.all([
				this.#kernel.state.sessions({ limit }),
				this.#kernel.state.sessions({ limit: MOST, archived: true }),
				this.narrow(this.space),
			]);
			if (!newest()) return;
			if (again(this.list) > limit) return await this.load(); // a page came meanwhile
			this.list = [...list].sort(order);
			this.archived = archived;
			this.more = list.length === limit;
			this.failure = undefined;
		} catch (e) {
			if (!newest()) return;
			this.failure = failureOf(e);
		}
		this.loaded = true;
	}

	/** narrow shows the conversations of one space, or of all. What was searched for is searched for there. */
	async narrow(space: string | null): Promise<void> {
		const turn = ++this.#narrowed;
		if (space !== this.space) {
			this.space = space;
			this.inSpace = undefined;
			this.moreInSpace = false;
			if (this.words.trim()) void this.search(this.words);
		}
		if (space === null) return;
		try {
			const limit = again(this.inSpace);
			const list = await this.#kernel.state.sessions({ limit, space });
			if (turn !== this.#narrowed) return;
			if (again(this.inSpace) > limit) return await this.narrow(space); // a page came meanwhile
			this.inSpace = [...list].sort(order);
			this.moreInSpace = list.length === limit;
			this.failure = undefined;
		} catch (e) {
			if (turn === this.#narrowed) this.failure = failureOf(e);
		}
	}

	/** older adds the next page of what is shown. */
	async older(): Promise<void> {
		const { space } = this;
		const last = this.shown.at(-1);
		if (!last) return;
		try {
			if (space !== null) {
				const page = await this.#kernel.state.sessions({ limit: PAGE, before: last.id, space });
				if (space !== this.space) return;
				this.moreInSpace = page.length === PAGE;
				const known = new Set(this.shown.map((s) => s.id));
				this.inSpace = [...this.shown, ...page.filter((s) => !known.has(s.id))].sort(order);
				return;
			}
			const page = await this.#kernel.state.sessions({ limit: PAGE, before: last.id });
			this.more = page.length === PAGE;
			const known = new Set(this.list.map((s) => s.id));
			this.list = [...this.list, ...page.filter((s) => !known.has(s.id))].sort(order);
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	/** search looks for words, last among what is archived; none show the whole list again. The newest question wins. */
	async search(words: string): Promise<void> {
		this.words = words;
		const turn = ++this.#search;
		if (words.trim() === '') {
			this.found = undefined;
			return;
		}
		try {
			const search: SessionQuery = { search: words.trim(), limit: PAGE };
			if (this.space !== null) search.space = this.space;
			const found = await Promise.all([
				this.#kernel.state.sessions(search),
				this.#kernel.state.sessions({ ...search, archived: true }),
			]);
			if (turn === this.#search) this.found = found.flat();
		} catch (e) {
			if (turn === this.#search) this.failure = failureOf(e);
		}
	}

	async update(id: string, patch: SessionPatch): Promise<void> {
		this.put(await this.#kernel.state.updateSession(id, patch));
	}

	/** discard hides a conversation; it is deleted when the time to recover it is over. */
	async discard(id: string): Promise<Deletion> {
		const d = await this.#kernel.state.discardSession(id);
		this.drop(id);
		return d;
	}

	async recover(id: string): Promise<void> {
		this.put(await this.#kernel.state.recoverSession(id));
	}

	put(s: Session): void {
		const without = (list: Session[]) => list.filter((o) => o.id !== s.id);
		// One that lies behind what was read so far comes with its page: the next page begins behind the last one.
		const within = (list: Session[], more: boolean) => {
			const last = list.at(-1);
			const behind = more && last !== undefined && last.id !== s.id && order(last, s) < 0;
			return behind ? without(list) : [...without(list), s].sort(order);
		};
		this.list = s.archived ? without(this.list) : within(this.list, this.more);
		this.archived = s.archived ? [...without(this.archived), s].sort(order) : without(this.archived);
		if (this.inSpace) {
			const here = !s.archived && s.space === this.space;
			this.inSpace = here ? within(this.inSpace, this.moreInSpace) : without(this.inSpace);
		}
		if (this.found) this.found = this.found.map((o) => (o.id === s.id ? { ...s, snippet: o.snippet } : o));
	}

	drop(id: string): void {
		this.list = this.list.filter((s) => s.id !== id);
		this.archived = this.archived.filter((s) => s.id !== id);
		this.inSpace = this.inSpace?.filter((s) => s.id !== id);
		this.found = this.found?.filter((s) => s.id !== id);
	}

	/** follow takes over what a run says about its conversation: runs are heard of more often than sessions. */
	#follow(r: Run): void {
		if (r.parent_id) return;
		const change = (s: Session) => (s.id === r.session_id ? { ...s, state: r.state } : s);
		this.list = this.list.map(change);
		this.archived = this.archived.map(change);
		this.inSpace = this.inSpace?.map(change);
		this.found = this.found?.map(change);
	}

	receive(e: Event): void {
		if (e.kind.startsWith('run.') && (e.data as Run | undefined)?.state) this.#follow(e.data as Run);
		if (e.kind === 'session') this.put(e.data as Session);
		if (e.kind === 'session.deleted') {
			const d = e.data as { id?: string; text?: string } | undefined;
			const id = d?.id ?? d?.text ?? e.session_id;
			if (id) this.drop(id);
		}
	}
}
