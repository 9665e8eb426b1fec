import type { AgentCard, AgentMessage, Kernel, Run, RunView, StepView } from '../../kernel/api.gen';
import { failureOf, type Event, type Failure } from '../../kernel/transport';
import { turns } from '../../kernel/turns';

/** How long a row has to be looked at before its run is read: who goes through the rows reads none of them. */
const GLANCE = 120;

const shown = (m: AgentMessage) => !m.made || m.made === 'end';

/** Opened is the run that stands open beside the table, with its steps. */
export class Opened {
	readonly id: string;
	view = $state.raw<RunView>();
	/** card is what it can be asked for, as long as it is at work. */
	card = $state.raw<AgentCard>();
	/** mail is what it said to other agents and they to it, the newest first; what the kernel made of an end is told by the states. */
	mail = $state.raw<AgentMessage[]>([]);
	failure = $state.raw<Failure>();

	#kernel: Kernel;
	#turn = turns();

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
		const newest = this.#turn();
		try {
			const of = { run_id: this.id };
			const [view, cards, mail] = await Promise.all([
				this.#kernel.agents.run(this.id),
				this.#kernel.a2a.cards(of),
				this.#kernel.a2a.messages(of),
			]);
			if (!newest()) return;
			this.view = view;
			this.card = cards[0];
			this.mail = mail.filter(shown);
			this.failure = undefined;
		} catch (e) {
			if (newest()) this.failure = failureOf(e);
		}
	}

	receive(e: Event): void {
		const view = this.view;
		if (view && e.kind === 'agent.message') this.#said(e.data as AgentMessage);
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

	#said(m: AgentMessage): void {
		if ((m.from !== this.id && m.to !== this.id) || !shown(m)) return;
		const known = this.mail.some((o) => o.id === m.id);
		this.mail = known ? this.mail.map((o) => (o.id === m.id ? m : o)) : [m, ...this.mail];
	}
}
