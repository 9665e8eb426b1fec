import type { SeedQuery, Approval, Cost, Message, RunView, Session, StepView, Submit } from '../api.gen';
import { no, type Core } from './core';
import { id, iso, makeApproval, makeMessage, makeRun, makeSession, makeStep, noCost } from './data';
import type { Desk } from './attach';
import type { FakeSpaces } from './spaces';
import { seedsOf } from './task';

/** FakeRuns plays the scripts of runs: what is said, what is asked, how they end. */
export class FakeRuns {
	#stopped = new Set<string>();
	#answered = new Map<string, (a: Approval) => void>();
	#desk: Desk;
	#core: Core;
	#spaces: FakeSpaces;

	constructor(core: Core, desk: Desk, spaces: FakeSpaces) {
		this.#core = core;
		this.#desk = desk;
		this.#spaces = spaces;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'agents.submit': (m: Submit) => this.#submit(m),
		'agents.continue': (rid: string) =>
			this.#submit({ session_id: this.#core.run(rid).run.session_id, text: 'Continue' }),
		'agents.unqueue': (qid: string) => {
			const q = this.#core.world.queued.find((x) => x.id === qid);
			this.#core.world.queued = this.#core.world.queued.filter((x) => x.id !== qid);
			if (q)
				this.#core.emit(
					'queue',
					this.#core.world.queued.filter((x) => x.session_id === q.session_id),
					{ session_id: q.session_id },
				);
		},
		'agents.seeds': (q: SeedQuery) => seedsOf(this.#core.world, q),
		'agents.seed': (sid: string) => this.#core.world.seeds.find((s) => s.id === sid),
		'agents.changes': (rid: string) => this.#core.world.changes.filter((c) => c.run_id === rid),
	};

	/** kill stops a run, with what it asked for. */
	kill(r: RunView): void {
		this.#stopped.add(r.run.id);
		for (const a of this.#core.world.approvals)
			if (a.request.run_id === r.run.id && a.state === 'pending') this.decide(a, { state: 'canceled' });
		for (const s of r.steps)
			if (s.state !== 'closed') this.#step(s, { state: 'closed', outcome: 'canceled', closed_at: iso() });
		this.#end(r, 'stopped', 'stopped');
	}

	/** decide answers a request, and lets its run go on. */
	decide(a: Approval, d: Partial<Approval>): Approval {
		Object.assign(a, d, { decided_at: iso(), decided_by: 'person' });
		this.#core.emit('approval', a, { run_id: a.request.run_id, session_id: a.request.session_id });
		this.#core.announce();
		this.#answered.get(a.id)?.(a);
		const r = this.#core.world.runs.find((x) => x.run.id === a.request.run_id);
		const step = r?.steps.find((s) => s.approval_id === a.id);
		if (r && step && !this.#answered.has(a.id) && a.state !== 'canceled') {
			this.#step(step, {
				state: 'closed',
				outcome: a.state === 'approved' ? 'ok' : 'denied',
				started_at: iso(90),
				closed_at: iso(),
			});
			if (!this.#core.world.approvals.some((x) => x.request.run_id === r.run.id && x.state === 'pending'))
				this.#end(r, 'done', '');
		}
		return a;
	}

	#step(s: StepView, patch: Partial<StepView>): void {
		Object.assign(s, patch);
		this.#core.emit('step', s, { run_id: s.run_id, session_id: this.#core.run(s.run_id).run.session_id });
	}

	#working(sid: string): boolean {
		const states = ['running', 'waiting', 'queued'];
		return this.#core.world.runs.some((r) => r.run.session_id === sid && states.includes(r.run.state));
	}

	/** mayFork refuses while an agent is at work. */
	mayFork(s: Session | undefined): void {
		if (!s || this.#working(s.id))
			throw no('busy', 'An agent is at work in this conversation. Nothing was changed.', 'Wait until it is done.');
	}

	#submit(m: Submit) {
		const w = this.#core.world;
		const old = m.instead_of ? this.#core.run(m.instead_of).run : undefined;
		const text = m.text || old?.text || '';
		const attachments = this.#desk.of(m.attachments ?? []);
		if (text.length > 1 << 20) throw no('too_large', 'The message is over 1 MB.', 'Shorten it, or save it as a file.');
		let s = m.session_id ? this.#core.session(m.session_id) : undefined;
		if (old) this.mayFork(s);
		if (s && this.#working(s.id)) {
			const q = { id: id('q'), session_id: s.id, text, created_at: iso(), attachments };
			w.queued.push(q);
			this.#core.emit(
				'queue',
				w.queued.filter((x) => x.session_id === s!.id),
				{ session_id: s.id },
			);
			return { run_id: '', session_id: s.id, queued: true, queue_id: q.id, demo: false };
		}
		if (!s) {
			const found =
				m.space === undefined ? this.#spaces.detect(text, m.folder ?? '') : { space: m.space, why: 'person' };
			const space = w.spaces.find((o) => o.id === found.space);
			s = makeSession({
				id: id('s'),
				space: found.space,
				space_why: found.why,
				title: (text || attachments[0]?.name || '').split('\n')[0]!.slice(0, 60),
				folder: m.folder || space?.folder || w.config.values.folder!,
				mode: m.mode || space?.mode || 'guarded',
				model: m.model || w.config.values.model || 'demo',
				provider: m.provider || w.config.values.provider || 'demo',
				cost: noCost,
			});
			w.sessions.push(s);
			if (s.space) this.#core.emit('space', undefined);
		}
		Object.assign(s, { state: 'running', updated_at: iso() });
		const r: RunView = {
			run: makeRun({
				id: id('r'),
				session_id: s.id,
				text,
				state: 'running',
				created_at: iso(),
				started_at: iso(),
				ended_at: undefined,
				folder: s.folder,
				model: (old && m.model) || s.model,
				provider: (old && m.provider) || s.provider,
				mode: s.mode,
				turns: 0,
				name: 'run',
				after_id: old ? old.after_id : s.head_id,
			}),
			steps: [],
			changes: [],
		};
		w.runs.push(r);
		s.head_id = r.run.id;
		const of = { run_id: r.run.id, session_id: s.id };
		const said = makeMessage({ session_id: s.id, run_id: r.run.id, role: 'user', content: text, at: iso() });
		const msg = { ...said, attachments: attachments.length > 0 ? attachments : (old?.attachments ?? []) };
		w.messages.push(msg);
		this.#core.emit('message', msg, of);
		this.#core.emit('run.created', r.run, of);
		this.#core.emit('session', s, of);
		this.#core.emit('run.started', r.run, of);
		this.#core.announce();
		void this.#play(r, text);
		return { run_id: r.run.id, session_id: s.id, queued: false, demo: w.status.demo };
	}

	async #play(r: RunView, text: string): Promise<void> {
		const of = { run_id: r.run.id, session_id: r.run.session_id };
		const gone = () => this.#stopped.has(r.run.id);
		const speak = async (words: string, kind = 'run.text') => {
			for (const piece of words.match(/\S+\s*/g) ?? []) {
				if (gone()) return;
				this.#core.emit(kind, { text: piece }, of);
				const talking = r.steps.findLast((s) => s.kind === 'model' && s.state === 'started');
				if (talking && kind === 'run.text') talking.text = (talking.text ?? '') + piece;
				await this.#core.rest();
			}
		};
		const turn = async (said: string, thought = '') => {
			const s = makeStep({
				run_id: r.run.id,
				kind: 'model',
				state: 'started',
				outcome: '',
				started_at: iso(),
				proposed_at: iso(),
				closed_at: undefined,
				seq: r.steps.length + 1,
			});
			r.steps.push(s);
			this.#step(s, {});
			if (thought) await speak(thought, 'run.reasoning');
			await speak(said);
			if (!gone())
				this.#step(s, {
					state: 'closed',
					outcome: 'ok',
					text: said,
					detail: thought,
					context: 2100 + 400 * r.steps.length,
					thought_ms: thought ? 1200 : 0,
					closed_at: iso(),
				});
		};
		await this.#core.rest(3);
		if (/fail/i.test(text)) {
			r.run.error = {
				code: 'network',
				message: 'Ollama does not answer.',
				hint: 'Start it, then ask again. Nothing was sent elsewhere.',
			};
			return this.#end(r, 'failed', '');
		}
		const intro = /long/i.test(text)
			? Array.from({ length: 60 }, (_, i) => `Paragraph ${i + 1}. It says a little about the thing, and goes on.`).join(
					'\n\n',
				)
			: 'I look at the folder first.';
		await turn(intro, 'The person wants to know what is here. Listing the folder is enough.');
		if (gone()) return;
		const tool = makeStep({
			run_id: r.run.id,
			kind: 'tool',
			name: 'ls',
			title: 'ls .',
			args: { path: '.' },
			state: 'started',
			outcome: '',
			started_at: iso(),
			proposed_at: iso(),
			closed_at: undefined,
			seq: r.steps.length + 1,
		});
		r.steps.push(tool);
		this.#step(tool, {});
		await this.#core.rest(15);
		if (gone()) return;
		this.#step(tool, {
			state: 'closed',
			outcome: 'ok',
			title: 'Listed 12 files',
			output: 'README.md\nnotes.md\n영수증.pdf',
			closed_at: iso(),
			audit_seq: 1220,
		});
		if (/push/i.test(text) && !(await this.#ask(r))) return;
		const answer =
			'There are **12 files** here:\n\n| Kind | Count |\n|---|---:|\n| notes | 4 |\n| receipts | 8 |\n\n```sh\nls -la | wc -l\n```\n\nThe newest is `notes.md`. See [the guide](https://example.org/guide).';
		await turn(answer);
		if (gone()) return;
		this.#end(r, /cut/i.test(text) ? 'failed' : 'done', /cut/i.test(text) ? 'cut' : '');
	}

	async #ask(r: RunView): Promise<boolean> {
		const of = { run_id: r.run.id, session_id: r.run.session_id };
		const a = makeApproval(r.run.session_id, r.run.id, {
			title: 'Sends commits to another machine',
			title_ko: '다른 컴퓨터로 커밋 전송',
			command: 'git push origin main',
			dir: r.run.folder,
			programs: ['git'],
			executable: '/usr/bin/git',
			claim: 'Publishes your commits.',
			network: true,
			agent: r.run.name,
		});
		a.created_at = iso();
		const s = makeStep({
			run_id: r.run.id,
			kind: 'tool',
			name: 'exec',
			title: 'git push origin main',
			args: { command: 'git push origin main' },
			state: 'waiting',
			outcome: '',
			approval_id: a.id,
			started_at: undefined,
			closed_at: undefined,
			seq: r.steps.length + 1,
		});
		r.steps.push(s);
		this.#core.world.approvals.push(a);
		const answered = new Promise<Approval>((done) => this.#answered.set(a.id, done));
		this.#state(r, 'waiting');
		this.#step(s, {});
		this.#core.emit('approval', a, of);
		this.#core.announce();
		const d = await answered;
		if (this.#stopped.has(r.run.id)) return false;
		this.#state(r, 'running');
		this.#step(s, {
			state: 'closed',
			outcome: d.state === 'approved' ? 'ok' : 'denied',
			started_at: iso(400),
			closed_at: iso(),
			output: d.state === 'approved' ? 'main -> main' : '',
		});
		return true;
	}

	#state(r: RunView, state: RunView['run']['state']): void {
		const of = { run_id: r.run.id, session_id: r.run.session_id };
		r.run.state = state;
		const s = this.#core.session(r.run.session_id);
		s.state = state;
		s.waiting = this.#core.world.approvals.filter((a) => a.request.session_id === s.id && a.state === 'pending').length;
		this.#core.emit('run.state', r.run, of);
		this.#core.emit('session', s, of);
		this.#core.announce();
	}

	#end(r: RunView, state: 'done' | 'failed' | 'stopped', status: string): void {
		const of = { run_id: r.run.id, session_id: r.run.session_id };
		const said = r.steps
			.filter((s) => s.kind === 'model' && s.text)
			.map((s) => s.text)
			.join('\n\n');
		const cost: Cost = { ...noCost, calls: 2, input: 2100, output: 160 };
		Object.assign(r.run, { ended_at: iso(), cost });
		if (said) {
			const m: Message = makeMessage({
				session_id: r.run.session_id,
				run_id: r.run.id,
				role: 'assistant',
				content: said,
				at: iso(),
				status,
				cost,
				model: r.run.model,
				provider: r.run.provider,
				demo: this.#core.world.status.demo,
			});
			this.#core.world.messages.push(m);
			this.#core.emit('message', m, of);
		}
		this.#state(r, state);
		this.#core.emit('run.ended', r.run, of);
		this.#core.emit('inbox', undefined);
		const next = this.#core.world.queued.find((q) => q.session_id === r.run.session_id);
		if (next && state === 'done') {
			this.#core.world.queued = this.#core.world.queued.filter((q) => q.id !== next.id);
			this.#core.emit(
				'queue',
				this.#core.world.queued.filter((q) => q.session_id === next.session_id),
				of,
			);
			this.#submit({ session_id: next.session_id, text: next.text });
		}
	}
}
