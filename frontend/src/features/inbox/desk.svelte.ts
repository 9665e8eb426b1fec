import type { Approval, Finding, Held, InboxRun } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';

/** Entry is one line of the inbox: a request that waits, what keeps runs from going on, or a run that has ended. */
export type Entry = { id: string; title: string; at: string } & (
	| { kind: 'waiting'; approval: Approval }
	| { kind: 'held'; held: Held }
	| { kind: 'finding'; finding: Finding }
	| { kind: 'failed' | 'finished'; run: InboxRun }
);

/** How long a run that was taken out can be put back with one press, in milliseconds. */
const UNDO = 10_000;

/** Desk is the inbox on the screen: its lines, which one is open, and what is done with them. */
export class Desk {
	chosen = $state('');
	/** at is where the chosen line stood. */
	#at = 0;
	/** waiting is what only the person can decide: requests, and limits that runs have reached. */
	waiting = $derived.by<Entry[]>(() => [
		...this.#live.approvals.pending.map((a): Entry => ({
			kind: 'waiting',
			id: a.id,
			title: i18n.either(a.request.title, a.request.title_ko),
			at: a.created_at,
			approval: a,
		})),
		...this.#held('limit', () => i18n.t.reached.short),
	]);
	/** findings are what the guardian found and the person should see to. */
	findings = $derived.by<Entry[]>(() => {
		const bad = this.#live.status?.findings?.filter((f) => f.bad) ?? [];
		const title = (f: Finding) => i18n.t.inbox.found[f.kind as 'audit'] ?? f.kind;
		return bad.map((f) => ({ kind: 'finding', id: `finding:${f.kind}`, title: title(f), at: f.since, finding: f }));
	});
	/** away are providers that runs wait for. */
	away = $derived.by(() => this.#held('provider', (h) => i18n.t.offline.title(h.name ?? '')));
	failed = $derived.by(() => this.#live.inbox.failed.map((r) => this.#ended('failed', r)));
	finished = $derived.by(() => this.#live.inbox.finished.map((r) => this.#ended('finished', r)));
	entries = $derived([...this.findings, ...this.waiting, ...this.away, ...this.failed, ...this.finished]);
	/** current is the line that is open: the chosen one, or the one that took its place when it went. */
	current = $derived(
		this.entries.find((e) => e.id === this.chosen) ?? this.entries[Math.min(this.#at, this.entries.length - 1)],
	);

	#live: Live;

	constructor(live: Live) {
		this.#live = live;
	}

	#held(kind: string, title: (h: Held) => string): Entry[] {
		const list = this.#live.status?.held?.filter((h) => h.kind === kind) ?? [];
		return list.map((h) => ({ kind: 'held', id: h.id, title: title(h), at: h.since, held: h }));
	}

	#ended(kind: 'failed' | 'finished', run: InboxRun): Entry {
		const title = (this.#live.sessions.get(run.run.session_id)?.title ?? run.title) || i18n.t.sessions.untitled;
		return { kind, id: run.run.id, title, at: run.run.ended_at ?? run.run.created_at, run };
	}

	choose(id: string): void {
		this.chosen = id;
		this.#at = Math.max(
			0,
			this.entries.findIndex((e) => e.id === id),
		);
	}

	/** step goes so many lines on, and stops at the ends. */
	step(by: number): void {
		const at = this.entries.findIndex((e) => e.id === this.current?.id);
		const next = this.entries[Math.max(0, Math.min(at + by, this.entries.length - 1))];
		if (next) this.choose(next.id);
	}

	/** archive takes a run out; a request stays until it is decided, and what is held up until it goes on. */
	async archive(e: Entry): Promise<void> {
		if (e.kind === 'waiting') return this.#live.say('inbox_waits');
		if (e.kind === 'held') return this.#live.say('inbox_held');
		if (e.kind === 'finding') return this.#live.say('inbox_found');
		this.choose(e.id); // the next one takes its place
		await this.#attempt(async () => {
			await this.#live.inbox.see([e.id]);
			this.#offer(i18n.t.inbox.archived(e.title), [e.id]);
		});
	}

	/** clear takes all that is finished out. */
	async clear(): Promise<void> {
		await this.#attempt(async () => {
			const ids = await this.#live.inbox.clear();
			if (ids.length > 0) this.#offer(i18n.t.inbox.cleared(ids.length), ids);
		});
	}

	#offer(text: string, ids: string[]): void {
		const run = () => void this.#attempt(() => this.#live.inbox.putBack(ids));
		this.#live.offer({ text, hint: i18n.t.inbox.stays, label: i18n.t.inbox.undo, run }, UNDO);
	}

	async #attempt(work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (e) {
			this.#live.tell(failureOf(e));
		}
	}
}
