import type { Approval, Process, Run, StepView } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Event, type Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';
import { ended } from '../../kernel/runs';
import { belowOf, counted, KEPT, rootOf, rowsOf, sifted, type Filter, type Row } from './rows';
import { stateOf } from './words';
import { once } from '../../kernel/turns';

/** How many runs come at once: the most that the kernel gives. */
const PAGE = 500;
/** How long what runs used may be old, in milliseconds. It is told with the list only. */
const FRESH = 1000;

const priorities = ['low', 'normal', 'high', 'critical'];

/** merged is a process after news of its run. */
function merged(p: Process | undefined, r: Run): Process {
	const over = ended(r.state);
	return {
		role: r.role || r.profile,
		...p,
		id: r.id,
		pid: r.pid,
		name: r.name,
		parent_id: r.parent_id || undefined,
		session_id: r.session_id,
		state: r.state,
		tool: over ? undefined : p?.tool,
		doing: over ? undefined : p?.doing,
		doing_ko: over ? undefined : p?.doing_ko,
		depth: r.depth,
		priority: priorities[r.priority] ?? 'normal',
		profile: r.profile,
		turns: Math.max(r.turns, p?.turns ?? 0),
		// The news of a beginning tell no cost yet.
		cost: p && r.cost.calls < p.cost.calls ? p.cost : r.cost,
		folder: r.folder,
		model: r.model,
		provider: r.provider,
		age_ms: r.ended_at ? Date.parse(r.ended_at) - Date.parse(r.created_at) : (p?.age_ms ?? 0),
		created_at: r.created_at,
		started_at: r.started_at,
		ended_at: r.ended_at,
		end_reason: r.end_reason,
		error: r.error,
		orphan: r.orphan,
	};
}

/** plain is a process as the list has it: there a call of a model stands as its name, and says nothing. */
const plain = (p: Process): Process => (p.tool && !p.doing && p.tool === p.model ? { ...p, tool: undefined } : p);

/** Board is the table of agents on the screen: its rows, which one is open, and what is done with them. */
export class Board {
	loaded = $state(false);
	failure = $state.raw<Failure>();
	filter = $state<Filter>('all');
	words = $state('');
	chosen = $state('');
	/** stopping is the agent that a person is asked about. */
	stopping = $state.raw<Process>();
	/** now is the time that ages are counted to. */
	now = $state(Date.now());
	/** more says that there are older ones, which come when they are looked for. */
	more = $state(false);

	#pages = 1;
	#before: number | undefined;
	#reading: Promise<void> | undefined;
	#processes = $state.raw<ReadonlyMap<string, Process>>(new Map());
	/** held are those that begin no new step, as far as it was told. */
	#held = $state.raw<ReadonlySet<string>>(new Set());
	#at = 0;

	rows = $derived(rowsOf(this.#processes.values()));
	counts = $derived(counted(this.rows));
	/** working says that something goes on, so that ages grow. */
	working = $derived(this.rows.some((r) => !ended(r.p.state)));
	/** waits are the requests by run, the oldest first. */
	#waits = $derived.by(() => {
		const out = new Map<string, Approval>();
		for (const a of this.#live.approvals.pending) {
			const id = a.request.run_id;
			if (id && !out.has(id)) out.set(id, a);
		}
		return out;
	});
	shown = $derived.by(() => {
		const words = this.words.trim().toLowerCase();
		if (this.filter === 'all' && !words) return this.rows;
		return sifted(this.rows, (r) => {
			if (this.filter !== 'all' && r.group !== this.filter) return false;
			const { p } = r;
			const text = [p.pid, p.name, p.folder, p.model, p.tool, this.state(r)].join(' ');
			return text.toLowerCase().includes(words);
		});
	});
	/** sifting says that the person looks for some among all, so that all have to be here. */
	sifting = $derived(this.filter !== 'all' || this.words.trim() !== '');
	/** current is the row that is open: the chosen one, or the one that took its place. */
	current = $derived(
		this.shown.find((r) => r.p.id === this.chosen) ?? this.shown[Math.min(this.#at, this.shown.length - 1)],
	);

	#live: Live;
	#fresh: ReturnType<typeof setTimeout> | undefined;
	/** open are the steps that are told as open, by run. */
	#open = new Map<string, Map<string, StepView>>();

	constructor(live: Live) {
		this.#live = live;
	}

	/** follow reads the table and keeps it as the kernel has it, until the returned function is called. */
	follow(): () => void {
		this.now = Date.now();
		const offs = [this.#live.onevent((e) => this.receive(e)), this.#live.onreload(() => void this.load())];
		void this.load();
		return () => {
			offs.forEach((off) => off());
			clearTimeout(this.#fresh);
			this.#fresh = undefined;
			this.#open.clear();
		};
	}

	/** load reads the table, once at a time. */
	readonly load = once(() => this.#whole());

	async #whole(): Promise<void> {
		const { agents } = this.#live.kernel;
		try {
			// Those at work are listed all, however many have ended since.
			const open = agents.list({});
			const all: Process[] = [];
			for (let i = 0; i < this.#pages && (i === 0 || this.more); i++) all.push(...(await this.#page(i === 0)));
			this.#processes = new Map([...all, ...(await open)].map((p) => [p.id, plain(p)]));
			this.failure = undefined;
		} catch (e) {
			this.failure = failureOf(e);
		}
		this.loaded = true;
	}

	/** page reads the newest runs that are kept here, or those before the last ones that were read. */
	async #page(first: boolean): Promise<Process[]> {
		const since = new Date(Date.now() - KEPT).toISOString();
		const before = first ? undefined : this.#before;
		const page = await this.#live.kernel.agents.list({ all: true, limit: PAGE, since, before });
		this.more = page.length === PAGE;
		this.#before = page.at(-1)?.pid ?? before;
		return page;
	}

	/** older reads the next ones, once at a time. */
	older(): Promise<void> {
		if (!this.more || !this.loaded) return Promise.resolve();
		this.#reading ??= (async () => {
			try {
				let news: Process[] = [];
				while (news.length === 0 && this.more) {
					news = (await this.#page(false)).filter((p) => !this.#processes.has(p.id));
					this.#pages++;
				}
				this.#processes = new Map([...this.#processes, ...news.map((p) => [p.id, plain(p)] as const)]);
			} catch (e) {
				this.more = false; // the next reading of the table asks again
				this.#live.tell(failureOf(e));
			}
			this.#reading = undefined;
		})();
		return this.#reading;
	}

	/** refresh reads what those at work have used; however much is told, once a second. */
	#refresh(): void {
		this.#fresh ??= setTimeout(async () => {
			try {
				const open = await this.#live.kernel.agents.list({});
				const next = new Map(this.#processes);
				// One that ended meanwhile stays as it was told.
				for (const p of open) if (!ended(next.get(p.id)?.state ?? p.state)) next.set(p.id, plain(p));
				this.#processes = next;
			} catch {
				// What is shown stays; the next news asks again.
			}
			this.#fresh = undefined;
		}, FRESH);
	}

	receive(e: Event): void {
		if (e.kind === 'step') return this.#step(e.data as StepView);
		if (e.kind === 'session.deleted') return this.#forget(e.session_id ?? (e.data as { id?: string })?.id);
		const run = e.kind.startsWith('run.') ? (e.data as Run | undefined) : undefined;
		if (!run?.state || run.copy_of) return;
		this.#put(merged(this.#processes.get(run.id), run));
		const held = new Set(this.#held);
		if (run.paused && !ended(run.state)) held.add(run.id);
		else held.delete(run.id);
		this.#held = held;
		if (ended(run.state)) this.#open.delete(run.id);
		else this.#refresh();
	}

	#step(s: StepView): void {
		const p = this.#processes.get(s.run_id);
		if (!p || ended(p.state)) return;
		const open = this.#open.get(s.run_id) ?? new Map<string, StepView>();
		if (s.state === 'closed') open.delete(s.id);
		else open.set(s.id, s);
		this.#open.set(s.run_id, open);
		const last = [...open.values()].at(-1);
		const tool = last?.kind === 'tool' ? last : undefined;
		this.#put({ ...p, tool: tool?.name, doing: tool?.title, doing_ko: tool?.title_ko });
		if (s.state === 'closed') this.#refresh();
	}

	#put(p: Process): void {
		this.#processes = new Map(this.#processes).set(p.id, p);
	}

	#forget(session: string | undefined): void {
		if (!session) return;
		this.#processes = new Map([...this.#processes].filter(([, p]) => p.session_id !== session));
	}

	/** state says in words what an agent is about. */
	state(r: Row): string {
		const request = this.#waits.get(r.p.id)?.request;
		if (request) return stateOf(r, i18n.either(request.title, request.title_ko));
		const { reached, offline } = this.#live.status ?? {};
		const limit = reached?.find((l) => l.run_id === r.p.id);
		if (limit && r.phase === 'waiting') return i18n.t.agents.state.limit;
		const away = offline?.find((o) => o.runs.includes(r.p.id));
		if (away && r.phase === 'running') return i18n.t.agents.state.away(away.name);
		return stateOf(r);
	}

	/** since is when a run began to wait for the person. */
	since(id: string): string | undefined {
		return this.#waits.get(id)?.created_at;
	}

	get(id: string | undefined): Process | undefined {
		return id ? this.#processes.get(id) : undefined;
	}

	/** forks are those that an agent forked itself. */
	forks(id: string): Process[] {
		return this.rows.flatMap((r) => (r.p.parent_id === id ? r.p : []));
	}

	root(p: Process): Process {
		return rootOf(this.#processes, p);
	}

	/** affected counts the agents that stop with this one, itself included. */
	affected(p: Process): number {
		return 1 + belowOf(this.#processes.values(), p.id);
	}

	held(p: Process): boolean {
		return p.paused || p.state === 'paused' || this.#held.has(p.id);
	}

	choose(id: string): void {
		// A link may lead to one that the filter hides.
		if (!this.shown.some((r) => r.p.id === id)) this.showAll();
		this.chosen = id;
		this.#at = Math.max(
			0,
			this.shown.findIndex((r) => r.p.id === id),
		);
	}

	/** step goes so many rows on, and stops at the ends. */
	step(by: number): void {
		const at = this.shown.findIndex((r) => r.p.id === this.current?.p.id);
		const next = this.shown[Math.max(0, Math.min(at + by, this.shown.length - 1))];
		if (next) this.choose(next.p.id);
	}

	showAll(): void {
		this.filter = 'all';
		this.words = '';
	}

	/** ask has the person say whether an agent stops. One that has ended already is left alone. */
	ask(p: Process): void {
		if (!ended(p.state)) this.stopping = p;
	}

	/** stop stops an agent and all below it, and says how many that were. */
	async stop(p: Process): Promise<void> {
		this.stopping = undefined;
		await this.#attempt(async () => {
			const { runs } = await this.#live.kernel.agents.kill(p.id);
			this.#live.note(i18n.t.agents.stopped(p.name, runs));
		});
	}

	/** pause keeps an agent, and those below it, from beginning a new step, or lets them go on. */
	async pause(p: Process): Promise<void> {
		if (ended(p.state)) return;
		const on = !this.held(p);
		await this.#attempt(async () => {
			await this.#live.kernel.agents.pauseRun(p.id, on);
			this.#live.note(on ? i18n.t.agents.nowPaused(p.name) : i18n.t.agents.nowOn(p.name));
		});
	}

	async pauseAll(on: boolean): Promise<void> {
		await this.#attempt(async () => {
			this.#live.status = await this.#live.kernel.agents.pause(on);
		});
	}

	/** retry goes on where a run failed, and returns the conversation in which it does. */
	async retry(p: Process): Promise<string | undefined> {
		let session: string | undefined;
		await this.#attempt(async () => {
			session = (await this.#live.kernel.agents.continue(p.id)).session_id;
		});
		return session;
	}

	async #attempt(work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (e) {
			this.#live.tell(failureOf(e));
		}
	}
}
