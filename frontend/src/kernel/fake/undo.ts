import type { UndoFile, UndoInput, UndoPlan, UndoQuery } from '../api.gen';
import { Failure } from '../transport';
import type { World } from './data';

/** FakeUndo undoes what runs changed: the last file of a run was changed by the person since. */
export class FakeUndo {
	#undone: Record<string, string[]> = {};

	preview(w: World, q: UndoQuery): UndoPlan {
		const run = q.run_id ?? '';
		const gone = this.#undone[run] ?? [];
		const list = w.changes.filter((c) => c.run_id === run && gone.includes(c.path) === (q.redo ?? false));
		const files = list
			.filter((c) => !q.paths?.length || q.paths.includes(c.path))
			.map((c, i, all): UndoFile => {
				const mine = !q.redo && all.length > 1 && i === all.length - 1;
				return {
					path: c.path,
					does: c.kind === 'created' ? 'removes' : 'restores',
					status: mine ? 'conflict' : 'ready',
					forces: mine,
					why: mine ? 'It was changed after the run, by you or by another program.' : undefined,
					why_ko: mine ? '실행 뒤에 사용자나 다른 프로그램이 바꾸었습니다.' : undefined,
					size: 1200,
					added: c.removed,
					removed: c.added,
					binary: c.binary,
					diff: c.diff,
				};
			});
		const count = (status: string) => files.filter((f) => f.status === status).length;
		return {
			run_id: run,
			redo: q.redo ?? false,
			files,
			ready: count('ready'),
			conflicts: count('conflict'),
			impossible: 0,
			hash: `${run} ${q.redo} ${files.map((f) => f.path).join(' ')}`,
		};
	}

	apply(w: World, q: UndoInput, redo: boolean): UndoPlan {
		const plan = this.preview(w, { run_id: q.run_id, redo, paths: q.paths });
		if (plan.hash !== q.hash) {
			throw new Failure({
				code: 'conflict',
				message: 'Something has changed since this was shown. Nothing was changed.',
				hint: 'Look at it again.',
			});
		}
		const files = plan.files.map((f) =>
			f.status === 'ready' || q.force?.includes(f.path) ? { ...f, status: 'done', why: undefined } : f,
		);
		const done = files.filter((f) => f.status === 'done').map((f) => f.path);
		const run = q.run_id ?? '';
		const before = this.#undone[run] ?? [];
		const now = redo ? before.filter((p) => !done.includes(p)) : [...before, ...done];
		this.#undone[run] = now;
		const all = w.changes.filter((c) => c.run_id === run).length;
		w.runs = w.runs.map((v) => (v.run.id === run ? { ...v, undo: { undo: all - now.length, redo: now.length } } : v));
		return { ...plan, files, ready: done.length };
	}
}
