import type { Kernel, UndoFile, UndoPlan } from '../../kernel/api.gen';
import { failureOf, type Event, type Failure } from '../../kernel/transport';

/** Progress is how far a large undo or redo is, as the kernel tells it. */
export interface Progress {
	redo: boolean;
	done: number;
	files: number;
}

/** Group is a heading and the files under it. */
export interface Group {
	status: 'ready' | 'conflict' | 'impossible' | 'done' | 'left' | 'stopped';
	files: UndoFile[];
}

const order = ['ready', 'conflict', 'stopped', 'left', 'impossible', 'done'] as const;

/** groupsOf puts the files of a plan under their headings: first what happens, then what a person decides. */
export function groupsOf(plan: UndoPlan): Group[] {
	return order
		.map((status) => ({ status, files: plan.files.filter((f) => f.status === status) }))
		.filter((g) => g.files.length > 0);
}

/** Undoing is one undo or redo: what it would do, what the person decides, and what came of it. */
export class Undoing {
	plan = $state.raw<UndoPlan>();
	failure = $state.raw<Failure>();
	busy = $state(false);
	/** over says that the plan shows what was done. */
	over = $state(false);
	/** progress says how far a large undo is, while it is at work. */
	progress = $state.raw<Progress>();
	/** halting says that the person has stopped it. */
	halting = $state(false);
	/** forced are the conflicts that are put back all the same. */
	forced = $state.raw<string[]>([]);
	/** alone leaves out what the agents did that the run forked. */
	alone = $state(false);

	readonly runID: string;
	readonly redo: boolean;
	#paths?: string[];
	#kernel: Kernel;

	groups = $derived(this.plan ? groupsOf(this.plan) : []);
	/** count is how many files change; folders count where there are no files. */
	count = $derived.by(() => {
		const goes = (this.plan?.files ?? []).filter((f) => f.status === 'ready' || this.forced.includes(f.path));
		return goes.filter((f) => !f.folder).length || goes.length;
	});
	all = $derived.by(() => {
		const open = (this.plan?.files ?? []).filter((f) => f.status !== 'done');
		return open.filter((f) => !f.folder).length || open.length;
	});

	/** agents are the runs of which something goes back, when there are several. */
	agents = $derived((this.plan?.runs.length ?? 0) > 1 ? this.plan!.runs : []);
	/** choosable says that the run can be undone without those that it forked. */
	choosable = $derived(!this.over && (this.plan?.family ?? 1) > 1);

	constructor(kernel: Kernel, runID: string, redo: boolean, paths?: string[]) {
		this.#kernel = kernel;
		this.runID = runID;
		this.redo = redo;
		this.#paths = paths;
	}

	async load(): Promise<void> {
		this.failure = undefined;
		try {
			this.plan = await this.#kernel.agents.undoPreview({
				run_id: this.runID,
				redo: this.redo,
				alone: this.alone,
				paths: this.#paths,
			});
			// What was decided holds for what was shown.
			this.forced = [];
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	/** working says that nothing can be undone yet, because an agent is still at work. */
	working = $derived(this.failure?.code === 'busy' && !this.over);

	/** stop ends what is still at work, and looks again. */
	async stop(): Promise<void> {
		this.busy = true;
		try {
			await this.#kernel.agents.kill(this.runID);
			await this.load();
		} catch (e) {
			this.failure = failureOf(e);
		} finally {
			this.busy = false;
		}
	}

	/** hear follows how far the undo is. */
	hear(e: Event): void {
		if (e.kind === 'undo.progress' && e.run_id === this.runID && this.busy) this.progress = e.data as Progress;
	}

	/** halt stops an undo at work: what was put back stays so, and the rest can be done later. */
	async halt(): Promise<void> {
		this.halting = true;
		try {
			await this.#kernel.agents.stopUndo(this.runID);
		} catch (e) {
			// It may just have ended.
			if (failureOf(e).code !== 'not_found') this.failure = failureOf(e);
		}
	}

	/** halted are the files that were done, and all, of an undo that was stopped. */
	halted = $derived.by(() => {
		const all = (this.plan?.files ?? []).filter((f) => !f.folder && (f.status === 'done' || f.status === 'stopped'));
		const done = all.filter((f) => f.status === 'done').length;
		return this.over && done < all.length ? { done, all: all.length } : undefined;
	});

	/** again looks at what a stopped undo left. */
	async again(): Promise<void> {
		this.over = false;
		await this.load();
	}

	/** only looks at what the run itself did, or at all that came of it. */
	only(alone: boolean): Promise<void> {
		this.alone = alone;
		return this.load();
	}

	/** by names the agents that changed a file, where there are several. */
	by(file: UndoFile): string {
		return this.agents
			.filter((r) => file.by.includes(r.id))
			.map((r) => r.name)
			.join(', ');
	}

	choose(path: string, restore: boolean): void {
		const rest = this.forced.filter((p) => p !== path);
		this.forced = restore ? [...rest, path] : rest;
	}

	/** apply does exactly what is shown. It reports how many files were put back, or undefined when none could be. */
	async apply(): Promise<number | undefined> {
		if (!this.plan || this.busy) return undefined;
		this.busy = true;
		this.failure = undefined;
		try {
			const count = this.count;
			const call = this.redo ? this.#kernel.agents.redo : this.#kernel.agents.undo;
			const done = await call({
				run_id: this.runID,
				alone: this.plan.alone,
				paths: this.#paths,
				force: this.forced,
				hash: this.plan.hash,
			});
			this.plan = done;
			this.over = true;
			const left = done.files.filter((f) => f.status === 'left' || f.status === 'stopped');
			return count - (left.filter((f) => !f.folder).length || left.length);
		} catch (e) {
			const failure = failureOf(e);
			if (failure.code === 'conflict') await this.load(); // it is shown as it is now
			this.failure = failure;
			return undefined;
		} finally {
			this.busy = false;
			this.halting = false;
			this.progress = undefined;
		}
	}
}
