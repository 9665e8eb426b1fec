import type { Inbox, InboxRun, RunResult, RunView } from '../api.gen';
import { later } from '../times';
import { outcome } from '../runs';
import { iso, makeMessage, makeRun, makeSession, type World } from './data';

const news = ['done', 'failed', 'interrupted'];

/** FakeInbox lists the runs of the world that ended and that nobody has seen. */
export class FakeInbox {
	#world: World;
	#emit: (kind: string, data: unknown) => void;
	#seen = new Set(['r-parser-1']);

	constructor(world: World, emit: (kind: string, data: unknown) => void) {
		this.#world = world;
		this.#emit = emit;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'agents.inbox': (): Inbox => {
			const list = this.#world.runs
				.filter((r) => news.includes(r.run.state) && !r.run.copy_of && !this.#seen.has(r.run.id))
				.map((r) => this.#entry(r))
				.sort((a, b) => later(a.run.ended_at, b.run.ended_at));
			return {
				waiting: this.#world.approvals.filter((a) => a.state === 'pending'),
				held: this.#world.status.held ?? [],
				findings: this.#world.status.findings ?? [],
				failed: list.filter((r) => outcome(r.run) !== 'done'),
				finished: list.filter((r) => outcome(r.run) === 'done'),
				older: 0,
			};
		},
		'agents.markSeen': (ids: string[], seen: boolean) => {
			for (const id of ids) {
				if (seen) this.#seen.add(id);
				else this.#seen.delete(id);
			}
			this.#emit('inbox', undefined);
		},
		'agents.clearInbox': () => {
			const done = this.#world.runs.filter((r) => outcome(r.run) === 'done' && !this.#seen.has(r.run.id));
			const ids = done.map((r) => r.run.id);
			this.calls['agents.markSeen']!(ids, true);
			return ids;
		},
		'agents.wait': (id: string): Partial<RunResult> => {
			const r = this.#world.runs.find((x) => x.run.id === id)!;
			return {
				run_id: id,
				session_id: r.run.session_id,
				state: r.run.state,
				error: r.run.error,
				cost: r.run.cost,
				changes: r.changes,
				response: this.#answer(id),
				demo: this.#world.status.demo,
			};
		},
	};

	#answer(id: string): string {
		return this.#world.messages.findLast((m) => m.run_id === id && m.role === 'assistant')?.content ?? '';
	}

	#entry(r: RunView): InboxRun {
		const title = this.#world.sessions.find((s) => s.id === r.run.session_id)?.title ?? '';
		return { run: r.run, title, answer: this.#answer(r.run.id).slice(0, 300), files: r.changes.length, seen: false };
	}
}

/** manyEnds fills the inbox with five hundred runs. */
export function manyEnds(w: World): void {
	for (let i = 0; i < 500; i++) {
		const s = makeSession({ id: `s-end-${i}`, title: `Result ${i + 1} of a thing with a rather long name` });
		const at = iso((i + 1) * 3_600_000);
		const r = makeRun({ id: `r-end-${i}`, session_id: s.id, text: 'Do it.', state: 'done', ended_at: at });
		w.sessions.push(s);
		w.messages.push(makeMessage({ session_id: s.id, run_id: r.id, role: 'assistant', content: `Answer ${i + 1}.` }));
		w.runs.push({ run: r, steps: [], changes: [] });
	}
}

/** foundScene has a record that somebody altered, and a disk without room. */
export function foundScene(w: World): void {
	w.status.audit_ok = false;
	w.status.findings = [
		{
			kind: 'audit',
			bad: true,
			since: iso(180_000),
			message: 'The audit record is damaged from entry 1,041 on: it was altered, or a part is missing.',
			message_ko: '감사 기록이 1,041번 항목부터 손상되었습니다. 바뀌었거나 일부가 없습니다.',
			hint: 'Export the chain with `oxios audit export` before you do anything else.',
			hint_ko: '다른 일을 하기 전에 `oxios audit export`로 기록을 내보내세요.',
		},
		{
			kind: 'disk',
			bad: true,
			since: iso(60_000),
			message: 'The disk of ~/.oxios is nearly full. When it is full nothing can be recorded, and agents cannot go on.',
			message_ko: '~/.oxios의 디스크가 거의 찼습니다. 가득 차면 기록할 수 없어 에이전트가 이어서 일하지 못합니다.',
			hint: 'Free some space. `oxios storage` shows what Oxios takes.',
			hint_ko: '공간을 비우세요. `oxios storage`로 Oxios가 쓰는 공간을 볼 수 있습니다.',
		},
	];
}
