import type { Kernel, Run, RunView, StepView } from '../../kernel/api.gen';
import { failureOf, type Event, type Failure } from '../../kernel/transport';

/** How long a row has to be looked at before its run is read: who goes through the rows reads none of them. */
const GLANCE = 120;

/** Opened is the run that stands open beside the table, with its steps. */
export class Opened {
	readonly id: string;
	view = $state.raw<RunView>();
	failure = $state.raw<Failure>();

	#kernel: Kernel;

	constructor(kernel: Kernel, id: string) {
		this.#kernel = kernel;
		this.id = id;
	}

	/** soon reads the run in a moment, unless the returned function is called before. */
	soon(): () => void {
		const timer = setTimeout(() => void this.load(), GLANCE);
		return () => clearTimeout(timer);
	}

	async load(): Promise<void> {
		try {
			this.view = await this.#kernel.agents.run(this.id);
			this.failure = undefined;
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	receive(e: Event): void {
		const view = this.view;
		if (!view || e.run_id !== this.id) return;
		if (e.kind === 'step') {
			const s = e.data as StepView;
			const known = view.steps.some((o) => o.id === s.id);
			const steps = known ? view.steps.map((o) => (o.id === s.id ? s : o)) : [...view.steps, s];
			this.view = { ...view, steps };
		} else if (e.kind === 'run.ended') {
			void this.load(); // with what it changed
		} else if (e.kind.startsWith('run.') && (e.data as Run | undefined)?.state) {
			this.view = { ...view, run: e.data as Run };
		}
	}
}
