import type { Change, Kernel } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';

/** Changes reads what a run changed, with the diffs. */
export class Changes {
	runID = $state('');
	list = $state.raw<Change[]>([]);
	loading = $state(false);
	failure = $state.raw<Failure>();

	#kernel: Kernel;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	async load(runID: string): Promise<void> {
		this.runID = runID;
		this.failure = undefined;
		if (!runID) {
			this.list = [];
			return;
		}
		this.loading = true;
		try {
			const list = await this.#kernel.agents.changes(runID);
			if (this.runID === runID) this.list = list;
		} catch (e) {
			if (this.runID === runID) this.failure = failureOf(e);
		} finally {
			if (this.runID === runID) this.loading = false;
		}
	}
}
