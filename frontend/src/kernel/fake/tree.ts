import type { RunView, Session, SessionPage, SessionView } from '../api.gen';
import { no } from './core';
import { id, iso, makeMessage, makeRun, makeStep, noCost, type Speech, type World } from './data';

const runsOf = (w: World, sid: string) => w.runs.filter((r) => r.run.session_id === sid);
const siblingsOf = (w: World, r: RunView) =>
	runsOf(w, r.run.session_id).filter((o) => o.run.after_id === r.run.after_id);

/** plant puts the runs of each session that has no head yet one behind the other. */
export function plant(w: World): void {
	for (const s of w.sessions.filter((x) => !x.head_id)) {
		for (const r of runsOf(w, s.id)) {
			r.run.after_id = s.head_id;
			s.head_id = r.run.id;
		}
	}
}

/** branchOf is the way from the first run to one. */
export function branchOf(w: World, runID: string): RunView[] {
	const r = w.runs.find((x) => x.run.id === runID);
	return r ? [...branchOf(w, r.run.after_id), r] : [];
}

/** endOf is the newest run that ends a branch on which a run stands. */
export function endOf(w: World, runID: string): string {
	const next = w.runs.filter((r) => r.run.after_id === runID);
	const ends = next.map((r) => endOf(w, r.run.id));
	const age = (x: string) => w.runs.findIndex((r) => r.run.id === x);
	return ends.sort((a, b) => age(b) - age(a))[0] ?? runID;
}

export function viewOf(w: World, s: Session): SessionView {
	const branch = branchOf(w, s.head_id);
	const shown = new Set(branch.map((r) => r.run.id));
	const mine = <T extends { session_id: string }>(list: T[]) => list.filter((x) => x.session_id === s.id);
	const all = runsOf(w, s.id);
	const from = w.sessions.find((x) => x.id === s.origin_id);
	return {
		session: s,
		messages: mine(w.messages).filter((m) => shown.has(m.run_id)),
		runs: branch.map((r) => {
			const siblings = siblingsOf(w, r);
			if (siblings.length < 2) return r;
			const ids = siblings.map((o) => o.run.id);
			return { ...r, siblings: ids, sibling: ids.indexOf(r.run.id), edited: siblings[0]!.run.text !== r.run.text };
		}),
		queued: mine(w.queued),
		branches: all.filter((r) => !all.some((o) => o.run.after_id === r.run.id)).length,
		origin: s.origin_id
			? {
					session_id: s.origin_id,
					run_id: from ? (all.findLast((r) => r.run.copy_of)?.run.copy_of ?? '') : '',
					title: from?.title ?? '',
				}
			: undefined,
	};
}

/** pageOf is a part of a conversation: the last runs before one. */
export function pageOf(v: SessionView, { before, limit, from }: SessionPage): SessionView {
	const at = (runID: string) => {
		const i = v.runs.findIndex((r) => r.run.id === runID);
		if (i < 0) throw no('not_found', 'The branch that the conversation shows has no such run.');
		return i;
	};
	const end = before ? at(before) : v.runs.length;
	const start = Math.min(limit ? Math.max(0, end - limit) : 0, from ? at(from) : end);
	const runs = v.runs.slice(start, end);
	const shown = new Set(runs.map((r) => r.run.id));
	return { ...v, runs, messages: v.messages.filter((m) => shown.has(m.run_id)), earlier: start };
}

/** copyBranch makes a new session of everything up to and with a run. */
export function copyBranch(w: World, runID: string, mark = 'branch'): Session {
	const branch = branchOf(w, runID);
	const from = w.sessions.find((s) => s.id === branch[0]!.run.session_id)!;
	const s = { ...from, id: id('s'), title: `${from.title} (${mark})`, updated_at: iso(), cost: noCost, state: 'done' };
	Object.assign(s, { head_id: '', origin_id: from.id, pinned: false });
	for (const r of branch) {
		const run = { ...r.run, id: id('r'), session_id: s.id, copy_of: r.run.id, after_id: s.head_id, cost: noCost };
		w.runs.push({ run, changes: [], steps: r.steps.map((x) => ({ ...x, id: id('step'), run_id: run.id })) });
		for (const m of w.messages.filter((x) => x.run_id === r.run.id))
			w.messages.push({ ...m, id: id('message'), session_id: s.id, run_id: run.id });
		s.head_id = run.id;
	}
	w.sessions.push(s);
	return s;
}

const words = {
	en: {
		mark: 'branch',
		ask: 'Explain the fix in two sentences, and show what changed as a table.',
		answer:
			'The parser took the time from the clock twice. It now takes it from its caller.\n\n| File | Before | After |\n|---|---|---:|\n| `parse.go` | `time.Now()` twice | `now` once |\n| `parse_test.go` | real clock | fixed at noon |',
	},
	ko: {
		mark: '갈래',
		ask: '무엇을 고쳤는지 두 문장으로 설명하고, 바뀐 점을 표로 보여 줘.',
		answer:
			'파서가 시계를 두 번 읽었습니다. 이제 호출한 쪽에서 시각을 받습니다.\n\n| 파일 | 이전 | 이후 |\n|---|---|---:|\n| `parse.go` | `time.Now()` 두 번 | `now` 한 번 |\n| `parse_test.go` | 실제 시계 | 정오로 고정 |',
	},
};

/** branchScene is a branched conversation that changed its model, which uses no tools, and nearly fills it. */
export function branchScene(w: World, speech: Speech): void {
	const { mark, ask, answer } = words[speech];
	const s = copyBranch(w, w.sessions.find((x) => x.id === 's-parser')!.head_id, mark);
	Object.assign(s, { provider: 'ollama', model: 'gemma3:4b', updated_at: iso(-1000) });
	const by = { provider: s.provider, model: s.model };
	const run = makeRun({ id: 'r-branch', session_id: s.id, text: ask, after_id: s.head_id, ...by });
	w.messages.push(
		makeMessage({ session_id: s.id, run_id: run.id, role: 'user', content: ask }),
		makeMessage({ session_id: s.id, run_id: run.id, role: 'assistant', content: answer, cost: run.cost, ...by }),
	);
	const context = Math.round(0.86 * (w.models.find((m) => m.id === s.model)?.context_length ?? 0));
	w.runs.push({ run, changes: [], steps: [makeStep({ run_id: run.id, kind: 'model', text: answer, context })] });
	s.head_id = run.id;
}
