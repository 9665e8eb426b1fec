import type { Kernel, Process, Run } from '../../kernel/api.gen';
import type { Event } from '../../kernel/transport';
import { turns } from '../../kernel/turns';

/** How often what the members do is read while they work, in milliseconds, however much is told. */
const FRESH = 300;

/** TELLS are the kinds of news after which a member may stand otherwise. */
const TELLS = ['run.created', 'run.started', 'run.state', 'run.ended', 'step'];

/** Team are the agents that one step forked to work on the parts of a task. */
export class Team {
	members = $state.raw<Process[]>([]);

	#kernel: Kernel;
	#turn = turns();
	#step: string;
	#run: string;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(kernel: Kernel, step: string, run: string) {
		this.#kernel = kernel;
		this.#step = step;
		this.#run = run;
	}

	async load(): Promise<void> {
		const newest = this.#turn();
		try {
			const list = await this.#kernel.agents.list({ made_by: this.#step, all: true });
			if (newest()) this.members = [...list].sort((a, b) => a.pid - b.pid);
		} catch {
			// What is shown stays; the next news asks again.
		}
	}

	/** receive reads the members anew when something is told of one of them. */
	receive(e: Event): void {
		const mine = (e.data as Run | undefined)?.parent_id === this.#run || this.members.some((m) => m.id === e.run_id);
		if (!mine || !TELLS.includes(e.kind)) return;
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			void this.load();
		}, FRESH);
	}

	close(): void {
		clearTimeout(this.#timer);
	}
}
