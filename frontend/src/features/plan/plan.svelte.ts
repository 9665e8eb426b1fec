import type { Kernel, RunView, SeedView, StepView } from '../../kernel/api.gen';
import { failureOf, type Event, type Failure } from '../../kernel/transport';
import { turns } from '../../kernel/turns';

/** How a criterion stands. */
export type Standing = 'holds' | 'missing' | 'running' | 'unknown';

/** Draft is a task as its agent proposed it; a criterion may be its text alone. */
export interface Draft {
	goal: string;
	acceptance_criteria: (string | { text: string })[];
	clarity: { goal: number; constraints: number; criteria: number };
}

/** draftOf is the task that waits for the person's answers, as its agent proposed it. */
export function draftOf(runs: RunView[]): Draft | undefined {
	const waits = (s: StepView) => s.kind === 'tool' && s.name === 'begin_task' && s.state === 'waiting';
	return runs.at(-1)?.steps.findLast(waits)?.args as Draft | undefined;
}

/** checksOf are the checks of a run that no evaluation stands behind yet, by the number of their criterion. */
export function checksOf(run: RunView | undefined): Map<number, StepView> {
	const checks = new Map<number, StepView>();
	for (const s of run?.steps ?? []) {
		if (s.kind === 'evaluation') checks.clear();
		if (s.kind === 'check') checks.set(Number(s.call_id?.replace(/\D/g, '')), s);
	}
	return checks;
}

/** clarityOf is the clarity of a task in percent, as the kernel weighs it. */
export function clarityOf(c: Draft['clarity']): number {
	return Math.round(100 * (0.4 * c.goal + 0.3 * c.constraints + 0.3 * c.criteria));
}

/** Plan is what was agreed on last in a conversation, with its versions. */
export class Plan {
	view = $state.raw<SeedView>();
	failure = $state.raw<Failure>();
	loading = $state(true);
	/** chosen is the version that is looked at; none is the newest. */
	chosen = $state<number>();
	shown = $derived(
		this.view?.versions.find((v) => v.seed.version === this.chosen) ?? this.view?.versions.at(-1) ?? undefined,
	);

	#kernel: Kernel;
	#session: string;
	#turn = turns();

	constructor(kernel: Kernel, session: string) {
		this.#kernel = kernel;
		this.#session = session;
	}

	/** load reads the newest plan; what an older reading brings is left alone. */
	async load(): Promise<void> {
		const newest = this.#turn();
		try {
			const [last] = await this.#kernel.agents.seeds({ session_id: this.#session, newest: true, limit: 1 });
			const view = last ? await this.#kernel.agents.seed(last.id) : undefined;
			if (!newest()) return;
			if (view?.id !== this.view?.id || view?.versions.length !== this.view?.versions.length) this.chosen = undefined;
			this.view = view;
			this.failure = undefined;
		} catch (e) {
			if (newest()) this.failure = failureOf(e);
		}
		if (newest()) this.loading = false;
	}

	receive(e: Event): void {
		const ours = ['seed', 'group.created', 'group.member'].includes(e.kind);
		if (ours && e.session_id === this.#session) void this.load();
	}
}
