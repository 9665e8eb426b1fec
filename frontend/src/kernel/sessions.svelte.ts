import type { Deletion, Kernel, Run, Session, SessionPatch } from './api.gen';
import { failureOf, type Event, type Failure } from './transport';

const PAGE = 50;
/** How many archived conversations are listed: the most that the kernel gives. */
const ARCHIVED = 500;

/** order puts pinned conversations first, then the one that changed last. */
function order(a: Session, b: Session): number {
	if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
	return b.updated_at.localeCompare(a.updated_at);
}

/** Sessions is the list of conversations, kept as the kernel has it. */
export class Sessions {
	list = $state.raw<Session[]>([]);
	/** archived are those that were taken out of the list. */
	archived = $state.raw<Session[]>([]);
	loaded = $state(false);
	more = $state(false);
	failure = $state.raw<Failure>();
	/** words narrow the list to what the full-text search finds. */
	words = $state('');
	found = $state.raw<Session[]>();

	#kernel: Kernel;
	#search = 0;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	get(id: string): Session | undefined {
		const by = (s: Session) => s.id === id;
		return this.list.find(by) ?? this.found?.find(by) ?? this.archived.find(by);
	}

	async load(): Promise<void> {
		try {
			const [list, archived] = await Promise.all([
				this.#kernel.state.sessions({ limit: PAGE }),
				this.#kernel.state.sessions({ limit: ARCHIVED, archived: true }),
			]);
			this.list = [...list].sort(order);
			this.archived = archived;
			this.more = list.length === PAGE;
			this.failure = undefined;
		} catch (e) {
			this.failure = failureOf(e);
		}
		this.loaded = true;
	}

	/** older adds the next page. */
	async older(): Promise<void> {
		const last = this.list.at(-1);
		if (!last) return;
		try {
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
			const search = { search: words.trim(), limit: PAGE };
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
		this.list = s.archived ? without(this.list) : [...without(this.list), s].sort(order);
		this.archived = s.archived ? [...without(this.archived), s].sort(order) : without(this.archived);
		if (this.found) this.found = this.found.map((o) => (o.id === s.id ? { ...s, snippet: o.snippet } : o));
	}

	drop(id: string): void {
		this.list = this.list.filter((s) => s.id !== id);
		this.archived = this.archived.filter((s) => s.id !== id);
		this.found = this.found?.filter((s) => s.id !== id);
	}

	/** follow takes over what a run says about its conversation: runs are heard of more often than sessions. */
	#follow(r: Run): void {
		if (r.parent_id) return;
		const change = (s: Session) => (s.id === r.session_id ? { ...s, state: r.state } : s);
		this.list = this.list.map(change);
		this.archived = this.archived.map(change);
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
