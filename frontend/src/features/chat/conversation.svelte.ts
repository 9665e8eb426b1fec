import type {
	ChangeSummary,
	Kernel,
	Message,
	Queued,
	Run,
	RunView,
	Session,
	SessionView,
	StepView,
	Submit,
} from '../../kernel/api.gen';
import { failureOf, type Event, type Failure } from '../../kernel/transport';

/** Talk is what a run says at this moment, before its step is closed. */
export interface Talk {
	text: string;
	reasoning: string;
	/** tool is the name of a call that the model is writing. */
	tool: string;
	/** retry says why what came before is void. */
	retry: string;
}

const silence: Talk = { text: '', reasoning: '', tool: '', retry: '' };

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
 * Conversation is one session on the screen. It reads the session once and then follows its events;
 * deltas are gathered and shown once a frame.
 */
export class Conversation {
	readonly id: string;
	session = $state.raw<Session>();
	messages = $state.raw<Message[]>([]);
	runs = $state.raw<RunView[]>([]);
	queued = $state.raw<Queued[]>([]);
	failure = $state.raw<Failure>();
	loaded = $state(false);
	/** talks holds what open runs say, by run. */
	talks = $state.raw<Record<string, Talk>>({});
	/** stopping is the run that was told to stop and has not ended yet. */
	stopping = $state<string>();

	active = $derived(this.runs.findLast((r) => open(r.run)));
	turns = $derived.by<Turn[]>(() => {
		const of = new Map<string, Message[]>();
		for (const m of this.messages) of.set(m.run_id, [...(of.get(m.run_id) ?? []), m]);
		return this.runs.map((view) => ({ id: view.run.id, view, messages: of.get(view.run.id) ?? [] }));
	});
	changes = $derived(this.runs.flatMap((r) => r.changes));

	#kernel: Kernel;
	#waiting: Record<string, Talk> = {};
	#frame = 0;
	#late: Event[] | undefined = [];

	constructor(kernel: Kernel, id: string) {
		this.#kernel = kernel;
		this.id = id;
	}

	/** load reads the session. Events that come meanwhile are applied to what it returns. */
	async load(): Promise<void> {
		this.#late = [];
		try {
			this.#take(await this.#kernel.state.session(this.id));
			this.failure = undefined;
		} catch (e) {
			this.failure = failureOf(e);
		}
		this.loaded = true;
		const late = this.#late ?? [];
		this.#late = undefined;
		for (const e of late) this.#apply(e);
	}

	#take(v: SessionView): void {
		this.session = v.session;
		this.messages = v.messages ?? [];
		this.runs = v.runs ?? [];
		this.queued = v.queued ?? [];
	}

	/** receive applies an event of any session; those of others are left alone. */
	receive(e: Event): void {
		if (e.session_id !== this.id) return;
		if (this.#late) this.#late.push(e);
		else this.#apply(e);
	}

	#apply(e: Event): void {
		const run = e.run_id ?? '';
		switch (e.kind) {
			case 'session':
				this.session = e.data as Session;
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
				this.#say(run, e.kind, textOf(e.data));
				break;
			case 'step':
				this.#step(e.data as StepView);
				break;
			case 'message':
				this.#message(e.data as Message);
				break;
			case 'change':
				this.#change(e.data as ChangeSummary);
				break;
			case 'queue':
				this.queued = (e.data as Queued[] | undefined) ?? [];
				break;
		}
	}

	#run(r: Run): void {
		if (!r?.id) return;
		const known = this.runs.some((v) => v.run.id === r.id);
		this.runs = known
			? this.runs.map((v) => (v.run.id === r.id ? { ...v, run: r } : v))
			: [...this.runs, { run: r, steps: [], changes: [] }];
		if (!open(r)) {
			if (this.stopping === r.id) this.stopping = undefined;
			this.#hush(r.id);
		}
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

	#message(m: Message): void {
		this.messages = [...this.messages.filter((o) => o.id !== m.id), m];
	}

	#change(c: ChangeSummary): void {
		this.#view(c.run_id, (v) => ({ ...v, changes: [...v.changes.filter((o) => o.id !== c.id), c] }));
	}

	#say(runID: string, kind: string, text: string): void {
		const t = { ...(this.#waiting[runID] ?? this.talks[runID] ?? silence) };
		if (kind === 'run.text') t.text += text;
		else if (kind === 'run.reasoning') t.reasoning += text;
		else if (kind === 'run.tool') t.tool = text;
		else Object.assign(t, silence, { retry: text });
		this.#waiting[runID] = t;
		if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#show());
	}

	#show(): void {
		this.#frame = 0;
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

	/** again sends the message of a run once more. */
	async again(runID: string): Promise<void> {
		const text = this.runs.find((v) => v.run.id === runID)?.run.text;
		if (text) await this.send({ text });
	}

	async send(m: Submit): Promise<void> {
		await this.#kernel.agents.submit({ ...m, session_id: this.id });
	}

	async unqueue(id: string): Promise<void> {
		await this.#kernel.agents.unqueue(id);
		this.queued = this.queued.filter((q) => q.id !== id);
	}

	close(): void {
		if (this.#frame !== 0) cancelAnimationFrame(this.#frame);
	}
}

function textOf(data: unknown): string {
	if (typeof data === 'string') return data;
	const d = data as { text?: string; name?: string; sentence?: string } | undefined;
	return d?.text ?? d?.name ?? d?.sentence ?? '';
}
