import type { Session, SessionPage } from '../api.gen';
import { later } from '../times';
import { no, type Core } from './core';
import type { FakeRuns } from './runs';
import { branchOf, copyBranch, endOf, pageOf, viewOf } from './tree';

/** FakeSessions lists, changes and deletes the conversations of the world. */
export class FakeSessions {
	#discarded = new Map<string, Session>();
	#runs: FakeRuns;
	#core: Core;

	constructor(core: Core, runs: FakeRuns) {
		this.#core = core;
		this.#runs = runs;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'state.sessions': (q: { search?: string; limit?: number; before?: string; archived?: boolean; space?: string }) => {
			const w = this.#core.world;
			let list = w.sessions
				.filter((s) => s.archived === (q.archived ?? false))
				.filter((s) => q.space === undefined || q.space === null || s.space === q.space)
				.sort((a, b) => later(a.updated_at, b.updated_at));
			if (q.search) {
				const words = q.search.toLowerCase();
				list = list.flatMap((s) => {
					const hit = w.messages.find((m) => m.session_id === s.id && m.content.toLowerCase().includes(words));
					const found = { ...s, snippet: hit?.content.slice(0, 90), hit_run: hit?.run_id };
					return s.title.toLowerCase().includes(words) || hit ? [found] : [];
				});
			}
			const from = q.before ? list.findIndex((s) => s.id === q.before) + 1 : 0;
			return list.slice(from, from + (q.limit ?? 50));
		},
		'state.session': (sid: string) => viewOf(this.#core.world, this.#core.session(sid)),
		'state.sessionPage': (sid: string, page: SessionPage) =>
			pageOf(viewOf(this.#core.world, this.#core.session(sid)), page),
		'state.chooseBranch': (rid: string) => {
			const s = this.#core.session(this.#core.run(rid).run.session_id);
			if (!branchOf(this.#core.world, s.head_id).some((r) => r.run.id === rid)) {
				this.#runs.mayFork(s);
				s.head_id = endOf(this.#core.world, rid);
				this.#core.emit('session', s, { session_id: s.id });
			}
			return viewOf(this.#core.world, s);
		},
		'state.branchSession': (rid: string) => {
			if (['running', 'waiting', 'queued'].includes(this.#core.run(rid).run.state)) this.#runs.mayFork(undefined);
			const s = copyBranch(this.#core.world, rid);
			this.#core.emit('session', s, { session_id: s.id });
			return s;
		},
		'state.exportSession': (sid: string) => {
			const v = viewOf(this.#core.world, this.#core.session(sid));
			return [`# ${v.session.title}`, ...v.messages.map((m) => m.content)].join('\n\n');
		},
		'state.updateSession': (sid: string, patch: Partial<Session>) => {
			const s = Object.assign(this.#core.session(sid), patch);
			this.#core.emit('session', s, { session_id: sid });
			return s;
		},
		'state.deleteSession': (sid: string) => {
			this.#core.world.sessions = this.#core.world.sessions.filter((s) => s.id !== sid);
			this.#core.world.approvals = this.#core.world.approvals.filter((a) => a.request.session_id !== sid);
			this.#core.emit('session.deleted', { text: sid }, { session_id: sid });
			this.#core.announce();
		},
		'state.deletion': (sid: string) => this.#deletion(sid),
		'state.discardSession': (sid: string) => {
			const d = { ...this.#deletion(sid), undo_ms: 10_000 };
			this.#discarded.set(sid, this.#core.session(sid));
			this.#core.world.sessions = this.#core.world.sessions.filter((s) => s.id !== sid);
			this.#core.emit('session.deleted', { text: sid }, { session_id: sid });
			return d;
		},
		'state.recoverSession': (sid: string) => {
			const s = this.#discarded.get(sid);
			if (!s) throw no('not_found', 'That conversation is deleted for good already.');
			this.#core.world.sessions.push(s);
			this.#core.emit('session', s, { session_id: sid });
			return s;
		},
	};

	#deletion(sid: string) {
		const w = this.#core.world;
		const runs = w.runs.filter((r) => r.run.session_id === sid);
		const files = runs.flatMap((r) => r.changes.filter((c) => c.kind !== 'deleted').map((c) => c.path));
		return {
			id: sid,
			title: this.#core.session(sid).title,
			messages: w.messages.filter((m) => m.session_id === sid).length,
			runs: runs.length,
			branches: 1,
			files,
			file_count: files.length,
			memories: w.memories.filter((m) => m.thread === sid && !m.replaced_by).length,
			audit_entries: runs.length * 14,
			copies: ['~/.oxios/oxios.db.v1.bak'],
			erased: false,
			undo_ms: 0,
		};
	}
}
