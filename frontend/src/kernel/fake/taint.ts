import type { KernelError, Label, LabelInfo, LabelQuery } from '../api.gen';
import { Failure } from '../transport';
import type { World } from './data';

/** notes is what the fake agents have read: a file of a folder that nobody has trusted. */
export const notes: Label = {
	id: 'label-notes',
	origin: 'file',
	untrusted: true,
	name: '/home/minji/Downloads/notes.txt',
	place: '/home/minji/Downloads',
	text: 'notes.txt from ~/Downloads, a folder that you have not trusted',
	text_ko: 'notes.txt (신뢰하지 않은 폴더 ~/Downloads)',
};

/** FakeLabels keeps which of the labels of the fake kernel the person has ended. */
export class FakeLabels {
	#ended = new Set<string>();
	#world: () => World;

	constructor(world: () => World) {
		this.#world = world;
	}

	#all(runID?: string): LabelInfo[] {
		const w = this.#world();
		const stand = [
			...w.approvals.map((a) => ({ run: a.request.run_id ?? '', labels: a.request.labels ?? [] })),
			...w.runs.flatMap((r) => r.steps.map((s) => ({ run: r.run.id, labels: s.labels ?? [] }))),
		].filter((s) => !runID || s.run === runID);
		const seen = new Map<string, LabelInfo>();
		for (const s of stand)
			for (const l of s.labels) seen.set(l.id, { ...l, run_id: s.run, ended: this.#ended.has(l.id) });
		return [...seen.values()];
	}

	list(q: LabelQuery): LabelInfo[] {
		return this.#all(q.run_id);
	}

	trust(id: string, on: boolean): LabelInfo {
		if (on) this.#ended.add(id);
		else this.#ended.delete(id);
		const found = this.#all().find((l) => l.id === id);
		if (!found) throw new Failure({ code: 'not_found', message: 'There is no label.', hint: '' } as KernelError);
		return found;
	}
}
