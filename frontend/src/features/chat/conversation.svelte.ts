import type {
	ChangeSummary,
	Kernel,
	Message,
	Model,
	Origin,
	Queued,
	Run,
	RunView,
	Session,
	SessionView,
	Span,
	StepView,
	Submit,
	UndoState,
} from '../../kernel/api.gen';
import { failureOf, type Event, type Failure } from '../../kernel/transport';
import { once } from '../../kernel/turns';
import { i18n } from '../../ui/i18n/index.svelte';

/** Talk is what a run says at this moment, before its step is closed. */
export interface Talk {
	text: string;
	reasoning: string;
	/** tool is the name of a call that the model is writing. */
	tool: string;
	/** retry says why what came before is void. */
	retry: string;
	/** stand says which model answers in place of another one. */
	stand: string;
}

/**
 * How often what is said is drawn, in milliseconds. WebKit draws without a graphics card in the window: at every frame
 * it does nothing else, and keys wait for most of a second.
 */
const PACE = 100;

/** How long an event may come before the one that it builds on, in milliseconds. */
const LATE = 300;

/** How many runs are read at once, from the end. */
const PAGE = 100;

/** From how many runs on those are let go of that are far behind the end. */
const FULL = 3 * PAGE;

const silence: Talk = { text: '', reasoning: '', tool: '', retry: '', stand: '' };

/** open reports whether a run has not ended. */
export function open(r: Run): boolean {
	return r.state === 'queued' || r.state === 'running' || r.state === 'waiting' || r.state === 'paused';
}

/** Turn is one run with the messages that belong to it. */
export interface Turn {
	id: string;
	view: RunView;
	messages: Message[];
}

/**
 * Conversation is one session on the screen. It reads the end of it once and then follows its events; what is earlier is
 * read by pages when it is asked for. Deltas are gathered and shown once in a PACE.
 */
export class Conversation {
	readonly id: string;
	session = $state.raw<Session>();
	messages = $state.raw<Message[]>([]);
	/** runs are those of the branch that is shown, from the one on which this begins. */
	runs = $state.raw<RunView[]>([]);
	/** earlier is how many runs of the branch stand before those. */
	earlier = $state(0);
	/** whole says that somebody looks at all runs: none is let go of. */
	whole = $state(false);
	origin = $state.raw<Origin>();
	queued = $state.raw<Queued[]>([]);
	failure = $state.raw<Failure>();
	loaded = $state(false);
	/** talks holds what open runs say, by run. */
	talks = $state.raw<Record<string, Talk>>({});
	/** stopping is the run that was told to stop and has not ended yet. */
	stopping = $state<string>();
	/** wanted is a run that is to be brought onto the screen, as one that a search found. */
	wanted = $state<string>();

	active = $derived(this.runs.findLast((r) => open(r.run)));
	/** ended is the last run, once it has ended. */
	ended = $derived.by(() => {
		const last = this.runs.at(-1)?.run;
		return last && !open(last) ? last.id : undefined;
	});
	turns = $derived.by<Turn[]>(() => {
		const of = new Map<string, Message[]>();
		for (const m of this.messages) of.set(m.run_id, [...(of.get(m.run_id) ?? []), m]);
		const before = this.#made;
		this.#made = new Map();
		return this.runs.map((view) => {
			const messages = of.get(view.run.id) ?? [];
			const old = before.get(view.run.id);
			const same =
				old?.view === view &&
				old.messages.length === messages.length &&
				old.messages.every((m, i) => m === messages[i]);
			const turn = same ? old : { id: view.run.id, view, messages };
			this.#made.set(turn.id, turn);
			return turn;
		});
	});
	changes = $derived(this.runs.flatMap((r) => r.changes));

	/** put changes what stands above what is read; whoever draws it keeps that in its place. */
	put = (change: () => void) => change();

	/** made are the turns of before: one that did not change is the same, so that an event costs its own turn only. */
	#made = new Map<string, Turn>();
	#kernel: Kernel;
	#waiting: Record<string, Talk> = {};
	#timer: ReturnType<typeof setTimeout> | undefined;
	#shown = 0;
	#late: Event[] | undefined = [];
	#reading = 0;
	#missed: ReturnType<typeof setTimeout> | undefined;
	/** behind is what came while an earlier page was read, and paging that reading. */
	#behind: Event[] | undefined;
	#paging: Promise<void> | undefined;

	constructor(kernel: Kernel, id: string) {
		this.#kernel = kernel;
		this.id = id;
	}

	/** load reads the end of the session, once at a time. */
	readonly load = once(() => this.#whole());

	async #whole(): Promise<void> {
		try {
			await this.#read(() => this.#page());
		} catch (e) {
			this.failure = failureOf(e);
		}
		this.loaded = true;
	}

	/** page asks for the end of the branch: no less of it than is here, and with from as far as that run. */
	#page(from = ''): Promise<SessionView> {
		return this.#kernel.state.sessionPage(this.id, { limit: Math.max(PAGE, this.runs.length), ...(from && { from }) });
	}

	/** more reads the page before what is here, or all that is earlier. */
	more(all = false): Promise<void> {
		if (this.#paging) return all ? this.#paging.then(() => this.more(true)) : this.#paging;
		return (this.#paging = this.#more(all).finally(() => (this.#paging = undefined)));
	}

	async #more(all: boolean): Promise<void> {
		const first = this.runs[0]?.run.id;
		if (!first || this.earlier === 0) return;
		const behind: Event[] = (this.#behind = []);
		try {
			const v = await this.#kernel.state.sessionPage(this.id, { before: first, ...(!all && { limit: PAGE }) });
			if (this.runs[0]?.run.id !== first) return; // it was read anew, or let go of, meanwhile
			this.put(() => {
				this.runs = [...(v.runs ?? []), ...this.runs];
				this.messages = [...(v.messages ?? []), ...this.messages];
				this.earlier = v.earlier ?? 0;
				const read = new Set(v.runs?.map((r) => r.run.id));
				for (const e of behind) if (read.has(e.run_id ?? '')) this.#apply(e);
			});
		} finally {
			this.#behind = undefined;
		}
	}

	/** excess is how many runs are here that need not be while the end is read. */
	get excess(): number {
		return this.runs.length > FULL && !this.whole ? this.runs.length - PAGE : 0;
	}

	/** shed lets go of the excess: it is read again when it is asked for. */
	shed(): void {
		const gone = new Set(this.runs.slice(0, this.excess).map((v) => v.run.id));
		this.earlier += gone.size;
		this.runs = this.runs.slice(gone.size);
		this.messages = this.messages.filter((m) => !gone.has(m.run_id));
	}

	/**
	 * read takes over what ask returns, and applies the events that came meanwhile to it. The newest question wins: what
	 * becomes of an older one is left alone.
	 */
	async #read(ask: () => Promise<SessionView>): Promise<void> {
		const turn = ++this.#reading;
		const late: Event[] = (this.#late = []);
		try {
			const view = await ask();
			if (turn === this.#reading) this.#take(view);
		} catch (e) {
			if (turn === this.#reading) throw e;
		} finally {
			if (turn === this.#reading) {
				this.#late = undefined;
				for (const e of late) this.#apply(e);
			}
		}
	}

	#take(v: SessionView): void {
		this.session = v.session;
		this.messages = v.messages ?? [];
		this.runs = v.runs ?? [];
		this.earlier = v.earlier ?? 0;
		this.queued = v.queued ?? [];
		this.origin = v.origin;
		this.failure = undefined;
	}

	/** receive applies an event of any session; those of others are left alone. */
	receive(e: Event): void {
		if (e.session_id !== this.id) return;
		this.#behind?.push(e);
		if (this.#late) this.#late.push(e);
		else this.#apply(e);
	}

	#apply(e: Event): void {
		const run = e.run_id ?? '';
		switch (e.kind) {
			case 'session':
				this.session = e.data as Session;
				this.#follow(this.session.head_id);
				break;
			case 'run.queued':
			case 'run.created':
			case 'run.started':
			case 'run.state':
			case 'run.ended':
				this.#run(e.data as Run);
				break;
			case 'run.text':
			case 'run.reasoning':
			case 'run.tool':
			case 'run.retry':
			case 'run.model':
				if (!this.#told(run, e.time)) this.#say(run, e.kind, textOf(e.data));
				break;
			case 'step':
				this.#step(e.data as StepView);
				break;
			case 'step.progress':
				this.#note(run, e.data as { step_id: string; text: string });
				break;
			case 'message':
				this.#message(e.data as Message);
				break;
			case 'change':
				this.#change(e.data as ChangeSummary);
				break;
			case 'undo':
				this.#view(run, (v) => ({ ...v, undo: e.data as UndoState }));
				break;
			case 'queue':
				this.queued = (e.data as Queued[] | undefined) ?? [];
				break;
		}
	}

	#run(r: Run): void {
		if (!r?.id || r.parent_id) return;
		if (this.runs.some((v) => v.run.id === r.id)) this.#view(r.id, (v) => ({ ...v, run: r }));
		else if (r.after_id === this.#head) this.runs = [...this.runs, { run: r, steps: [], changes: [] }];
		else this.#miss(r.id); // it began another branch, or what it follows is on its way
		if (!open(r)) {
			if (this.stopping === r.id) this.stopping = undefined;
			this.#hush(r.id);
			// What a run left open has no end of its own: the kernel knows how it stands.
			if (this.runs.some((v) => v.run.id === r.id && v.steps.some((s) => s.state !== 'closed'))) void this.load();
			else void this.#recall(r.id);
		}
	}

	/** recall asks how many memories a run was given or looked up: events do not tell. */
	async #recall(runID: string): Promise<void> {
		try {
			const memories = (await this.#kernel.agents.run(runID))?.memories;
			if (memories) this.#view(runID, (v) => ({ ...v, memories }));
		} catch {
			// The answer stands without it.
		}
	}

	/** head is the run at the end of the branch on the screen. */
	get #head(): string {
		return this.runs.at(-1)?.run.id ?? '';
	}

	/** follow shows the branch that was chosen elsewhere. */
	#follow(head: string): void {
		if (this.loaded && !this.failure && head !== this.#head) this.#miss(head);
	}

	/** miss reads the session if a run that belongs on the screen is not there soon: events of a moment come in any order. */
	#miss(run: string): void {
		this.#missed ??= setTimeout(() => {
			this.#missed = undefined;
			const head = this.session?.head_id ?? '';
			if (head !== this.#head || !this.runs.some((v) => v.run.id === run)) void this.load();
		}, LATE);
	}

	#view(runID: string, change: (v: RunView) => RunView): void {
		this.runs = this.runs.map((v) => (v.run.id === runID ? change(v) : v));
	}

	#step(s: StepView): void {
		// What a model step said is now part of it.
		if (s.kind === 'model' && s.state === 'closed') this.#hush(s.run_id);
		this.#view(s.run_id, (v) => {
			const known = v.steps.some((o) => o.id === s.id);
			const steps = known ? v.steps.map((o) => (o.id === s.id ? s : o)) : [...v.steps, s].sort((a, b) => a.seq - b.seq);
			return { ...v, steps };
		});
	}

	/** note shows how far a running step is. */
	#note(runID: string, p: { step_id: string; text: string }): void {
		this.#view(runID, (v) => ({
			...v,
			steps: v.steps.map((s) => (s.id === p.step_id && s.state === 'started' ? { ...s, note: p.text } : s)),
		}));
	}

	#message(m: Message): void {
		this.messages = [...this.messages.filter((o) => o.id !== m.id), m];
	}

	#change(c: ChangeSummary): void {
		this.#view(c.run_id, (v) => ({ ...v, changes: [...v.changes.filter((o) => o.id !== c.id), c] }));
	}

	/** told reports whether what a model said at that time is part of a step already: a reading may be ahead of events. */
	#told(runID: string, at: string): boolean {
		const view = this.runs.find((v) => v.run.id === runID);
		if (!view) return false;
		const closed = view.steps.findLast((s) => s.kind === 'model' && s.closed_at)?.closed_at;
		return !open(view.run) || (closed !== undefined && Date.parse(at) <= Date.parse(closed));
	}

	#say(runID: string, kind: string, text: string): void {
		const t = { ...(this.#waiting[runID] ?? this.talks[runID] ?? silence) };
		if (kind === 'run.text') t.text += text;
		else if (kind === 'run.reasoning') t.reasoning += text;
		else if (kind === 'run.tool') t.tool = text;
		else if (kind === 'run.model') t.stand = text;
		else Object.assign(t, silence, { retry: text });
		this.#waiting[runID] = t;
		this.#timer ??= setTimeout(() => this.#show(), this.#shown + PACE - performance.now());
	}

	#show(): void {
		this.#timer = undefined;
		this.#shown = performance.now();
		this.talks = { ...this.talks, ...this.#waiting };
		this.#waiting = {};
	}

	#hush(runID: string): void {
		delete this.#waiting[runID];
		if (!this.talks[runID]) return;
		const { [runID]: _, ...rest } = this.talks;
		this.talks = rest;
	}

	/** stop ends the run that is open. It resolves when the kernel took the order, not when the run has ended. */
	async stop(): Promise<void> {
		const run = this.active?.run;
		if (!run) return;
		this.stopping = run.id;
		try {
			await this.#kernel.agents.kill(run.id);
		} catch (e) {
			this.stopping = undefined;
			throw e;
		}
	}

	/** continue goes on after a stop, a cut, a forced end or an interruption. */
	async continue(runID: string): Promise<void> {
		await this.#kernel.agents.continue(runID);
	}

	/** again has a run's message answered once more, beside that run, by another model where one is named. */
	async again(runID: string, model?: Pick<Model, 'provider' | 'id'>): Promise<void> {
		const by = model ? { provider: model.provider, model: model.id } : {};
		await this.send({ instead_of: runID, text: '', ...by });
	}

	/** edit sends a message in place of that of a run. The run stays, on a branch of its own. */
	async edit(runID: string, text: string, pasted: Span[] = []): Promise<void> {
		await this.send({ instead_of: runID, text, ...(pasted.length > 0 && { pasted }) });
	}

	async send(m: Submit): Promise<void> {
		await this.#kernel.agents.submit({ ...m, session_id: this.id });
	}

	/** reach has a run on the screen, from another branch if it stands there. */
	async reach(runID: string): Promise<void> {
		if (this.runs.some((v) => v.run.id === runID)) return;
		try {
			await this.#read(() => this.#page(runID));
		} catch (e) {
			if (failureOf(e).code !== 'not_found') throw e;
			await this.choose(runID);
		}
	}

	/** choose shows the branch on which a run stands. */
	async choose(runID: string): Promise<void> {
		try {
			await this.#read(() => this.#kernel.state.chooseBranch(runID));
		} catch (e) {
			await this.load(); // this question may have displaced another
			throw e;
		}
	}

	/** branch makes a new conversation of everything up to and with a run, and returns its id. */
	async branch(runID: string): Promise<string> {
		return (await this.#kernel.state.branchSession(runID)).id;
	}

	async unqueue(id: string): Promise<void> {
		await this.#kernel.agents.unqueue(id);
		this.queued = this.queued.filter((q) => q.id !== id);
	}

	close(): void {
		clearTimeout(this.#timer);
		clearTimeout(this.#missed);
	}
}

function textOf(data: unknown): string {
	if (typeof data === 'string') return data;
	const d = data as { text?: string; text_ko?: string } | undefined;
	return i18n.either(d?.text, d?.text_ko);
}
