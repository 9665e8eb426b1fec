import type { UndoFile, UndoInput, UndoPlan, UndoQuery } from '../api.gen';
import { Failure } from '../transport';
import type { World } from './data';

/** familyOf are a run and those that came of it. */
function familyOf(w: World, id: string) {
	const all = w.runs.map((v) => v.run);
	const out = all.filter((r) => r.id === id);
	for (const r of out) out.push(...all.filter((c) => c.parent_id === r.id));
	return out;
}

/** FakeUndo undoes what runs changed: the last file of a run was changed by the person since. */
export class FakeUndo {
	#undone: Record<string, string[]> = {};

	preview(w: World, q: UndoQuery): UndoPlan {
		const run = q.run_id ?? '';
		const gone = this.#undone[run] ?? [];
		const family = familyOf(w, run);
		const runs = q.alone ? family.slice(0, 1) : family;
		const ids = runs.map((r) => r.id);
		const list = w.changes.filter((c) => ids.includes(c.run_id) && gone.includes(c.path) === (q.redo ?? false));
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
					by: [c.run_id],
				};
			});
		const count = (status: string) => files.filter((f) => f.status === status).length;
		return {
			run_id: run,
			alone: q.alone ?? false,
			runs: runs
				.map((r) => ({ id: r.id, pid: r.pid, name: r.name, files: list.filter((c) => c.run_id === r.id).length }))
				.filter((r) => r.files > 0),
			family: family.length,
			redo: q.redo ?? false,
			files,
			ready: count('ready'),
			conflicts: count('conflict'),
			impossible: 0,
			hash: `${run} ${q.redo} ${q.alone} ${files.map((f) => f.path).join(' ')}`,
		};
	}

	apply(w: World, q: UndoInput, redo: boolean): UndoPlan {
		const plan = this.preview(w, { run_id: q.run_id, redo, alone: q.alone ?? false, paths: q.paths });
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
		const ids = familyOf(w, run).map((r) => r.id);
		const all = w.changes.filter((c) => ids.includes(c.run_id)).length;
		w.changes = w.changes.map((c) => (ids.includes(c.run_id) ? { ...c, undone: now.includes(c.path) } : c));
		w.runs = w.runs.map((v) => (v.run.id === run ? { ...v, undo: { undo: all - now.length, redo: now.length } } : v));
		return { ...plan, files, ready: done.length };
	}
}
