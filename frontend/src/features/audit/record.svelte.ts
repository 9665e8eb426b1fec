import type { AuditEntry, AuditQuery, AuditReport, AuditState } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';

/** How many entries are read at once. */
export const PAGE = 200;
/** How many at most are read anew of what is shown. */
const MOST = 2000;
/** How long words rest before they are looked for, in milliseconds. */
const REST = 250;

export type Who = 'all' | 'person' | 'agents' | 'oxios';

/** actors are a part of the name of each kind of actor. */
const actors: Record<Who, string> = { all: '', person: 'person', agents: 'agent:', oxios: 'kernel' };

/** AuditRecord is the audit record as the view shows it: the newest first, narrowed by what the person looks for. */
export class AuditRecord {
	entries = $state.raw<AuditEntry[]>([]);
	loaded = $state(false);
	/** more says that older ones are not here yet. */
	more = $state(false);
	failure = $state.raw<Failure>();
	state = $state.raw<AuditState>();
	report = $state.raw<AuditReport>();
	verifying = $state(false);
	exporting = $state(false);

	words = $state('');
	who = $state<Who>('all');
	action = $state('');
	denied = $state(false);
	chosen = $state<number>();
	/** names of the agents, by their run. */
	names = $state.raw<ReadonlyMap<string, string>>(new Map());

	current = $derived(this.entries.find((e) => e.seq === this.chosen));
	sifting = $derived(this.words !== '' || this.who !== 'all' || this.action !== '' || this.denied);

	#live: Live;
	#asked = 0;
	#reading = false;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(live: Live) {
		this.#live = live;
	}

	query(): AuditQuery {
		const q: AuditQuery = { newest: true, limit: PAGE };
		if (this.words.trim()) q.text = this.words.trim();
		if (actors[this.who]) q.actor = actors[this.who];
		if (this.action) q.action = this.action as AuditQuery['action'];
		if (this.denied) q.denied = true;
		return q;
	}

	/**
	 * load reads the newest entries, as many as are shown, and how the chain stands. What was read before stays until
	 * then.
	 */
	async load(): Promise<void> {
		const mine = ++this.#asked;
		const limit = Math.min(MOST, Math.max(PAGE, this.entries.length));
		try {
			const [entries, state] = await Promise.all([
				this.#live.kernel.security.audit({ ...this.query(), limit }),
				this.#live.kernel.security.auditState(),
			]);
			if (mine !== this.#asked) return;
			this.entries = entries;
			this.more = entries.length === limit;
			this.state = state;
			this.failure = undefined;
		} catch (e) {
			if (mine !== this.#asked) return;
			this.failure = failureOf(e);
		}
		this.loaded = true;
		void this.#name();
	}

	/** older reads what stands before the last entry that is here. */
	async older(): Promise<void> {
		const last = this.entries.at(-1);
		if (!this.more || this.#reading || !last || last.seq <= 1) return;
		const mine = this.#asked;
		this.#reading = true;
		try {
			const page = await this.#live.kernel.security.audit({ ...this.query(), from: last.seq - 1 });
			if (mine !== this.#asked) return;
			this.entries = [...this.entries, ...page];
			this.more = page.length === PAGE;
		} catch (e) {
			if (mine === this.#asked) this.failure = failureOf(e);
		} finally {
			this.#reading = false;
		}
	}

	/** soon reads anew once what is written has come to rest. */
	soon(): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.load(), REST);
	}

	/** follow reads anew while the view is open, when something was done; somebody who reads further down is left alone. */
	follow(atTop: () => boolean): () => void {
		void this.load();
		const offs = [
			this.#live.onevent((e) => {
				if (e.kind === 'status' && atTop() && !this.#reading) this.soon();
			}),
			this.#live.onreload(() => void this.load()),
		];
		return () => {
			offs.forEach((off) => off());
			clearTimeout(this.#timer);
		};
	}

	showAll(): void {
		Object.assign(this, { words: '', who: 'all', action: '', denied: false });
		void this.load();
	}

	/** step goes so many entries on, as far as there are any. */
	step(by: number): void {
		const at = this.entries.findIndex((e) => e.seq === this.chosen);
		const to = at < 0 ? 0 : Math.max(0, Math.min(this.entries.length - 1, at + by));
		this.chosen = this.entries[to]?.seq;
	}

	async verify(): Promise<void> {
		this.verifying = true;
		try {
			this.report = await this.#live.kernel.security.verifyAudit();
			this.state = await this.#live.kernel.security.auditState();
		} catch (e) {
			this.#live.tell(failureOf(e));
		} finally {
			this.verifying = false;
		}
	}

	/** save exports the record to a place that the person chooses. */
	async save(title: string): Promise<void> {
		this.exporting = true;
		try {
			const name = `oxios-audit-${new Date().toISOString().slice(0, 10)}.jsonl`;
			await this.#live.files.audit({ title, name }, (after) => this.#live.kernel.security.exportAudit(after));
		} catch (e) {
			this.#live.tell(failureOf(e));
		} finally {
			this.exporting = false;
		}
	}

	async #name(): Promise<void> {
		try {
			const list = await this.#live.kernel.agents.list({ all: true, limit: 500 });
			this.names = new Map(list.map((p) => [p.id, p.name]));
		} catch {
			// Without their names agents go by a part of their number.
		}
	}
}
