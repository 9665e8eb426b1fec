import type { InboxRun, Kernel } from './api.gen';
import { failureOf, type Event, type Failure } from './transport';
import { once } from './turns';

/** Inbox lists the runs that ended while the person did not look, the last one first. What waits stands in Approvals. */
export class Inbox {
	failed = $state.raw<InboxRun[]>([]);
	finished = $state.raw<InboxRun[]>([]);
	/** older counts those beyond the ones listed. */
	older = $state(0);
	loaded = $state(false);
	failure = $state.raw<Failure>();

	#kernel: Kernel;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	/** load reads the list, once at a time. */
	readonly load = once(async () => {
		try {
			const list = await this.#kernel.agents.inbox(false);
			this.failed = list.failed;
			this.finished = list.finished;
			this.older = list.older;
			this.failure = undefined;
		} catch (e) {
			this.failure = failureOf(e);
		}
		this.loaded = true;
	});

	/** of returns the runs of a conversation. */
	of(sessionID: string): string[] {
		return [...this.failed, ...this.finished]
			.map((r) => r.run)
			.flatMap((r) => (r.session_id === sessionID ? r.id : []));
	}

	/** see takes runs out. They are gone from the list at once. */
	async see(ids: string[]): Promise<void> {
		const others = (list: InboxRun[]) => list.filter((r) => !ids.includes(r.run.id));
		this.failed = others(this.failed);
		this.finished = others(this.finished);
		try {
			await this.#kernel.agents.markSeen(ids, true);
		} catch (e) {
			void this.load();
			throw e;
		}
	}

	/** putBack takes see and clear back. */
	async putBack(ids: string[]): Promise<void> {
		await this.#kernel.agents.markSeen(ids, false);
	}

	/** clear takes all finished runs out and returns their ids. */
	async clear(): Promise<string[]> {
		return this.#kernel.agents.clearInbox();
	}

	receive(e: Event): void {
		if (e.kind === 'inbox') void this.load();
	}
}
