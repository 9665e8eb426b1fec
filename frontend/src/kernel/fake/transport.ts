import type {
	AnswerInput,
	Approval,
	Autostart,
	Cost,
	GrantInput,
	KernelError,
	LabelQuery,
	Message,
	Model,
	Provider,
	RunView,
	SeedQuery,
	Session,
	StepView,
	Submit,
	TestReport,
	UndoInput,
	UndoPlan,
	UndoQuery,
	Role,
} from '../api.gen';
import { Failure, type Event, type Link, type Transport } from '../transport';
import { agentsScene, FakeAgents, manyAgents } from './agents';
import { FakeAudit } from './audit';
import { attachedScene, Desk } from './attach';
import {
	id,
	iso,
	makeApproval,
	makeMessage,
	makeRun,
	makeSession,
	makeStep,
	makeWorld,
	noCost,
	type Speech,
	type World,
	told,
} from './data';
import { FakeInbox, foundScene, manyEnds } from './inbox';
import { setFallbacks } from './fallbacks';
import { FakeTries } from './try';
import { FakeUndo } from './undo';
import { FakeAccess, uncontainedScene } from './access';
import { FakeGrants } from './grants';
import { FakeLabels } from './taint';
import { costCalls, limitScene } from './costs';
import { FakeKeys } from './keys';
import { emptyPart, freeable, FakeFiles, makeStorage } from './storage';
import { askScene, planScene, seedsOf } from './task';
import { branchOf, branchScene, copyBranch, endOf, plant, viewOf } from './tree';

const no = (code: string, message: string, hint = '') => new Failure({ code, message, hint } as KernelError);
const copy = <T>(v: T): T => (v === undefined ? v : (JSON.parse(JSON.stringify(v)) as T));

/** paths are the files of the folder, those that changed last first. */
const paths = [
	'receipts.md',
	'src/ledger/ledger.go',
	'src/ledger/ledger_test.go',
	'제주 사진/바다.jpg',
	'Documents/Receipts/2026/2026-11-03 Hanaro Mart 48,200.pdf',
	'src/main.go',
	'보고서.hwp',
	'README.md',
	'Makefile',
	'src/',
	'src/ledger/',
	'제주 사진/',
];

interface Options {
	speech?: Speech;
	/** first is a machine on which Oxios never ran. */
	first?: boolean;
	/** pace is how long a piece of a scripted answer takes, in milliseconds. */
	pace?: number;
}

/**
 * FakeTransport is a kernel in the page: believable data, scripted answers, requests and errors,
 * so that the whole interface runs without Go. The words of a message choose the script:
 * "push" asks first, "fail" fails, "cut" is cut off, "long" speaks for long.
 */
export class FakeTransport implements Transport {
	readonly world: World;
	readonly files = new FakeFiles();
	readonly calls: { method: string; args: unknown[] }[] = [];
	readonly desk = new Desk();
	#pace: number;
	#readers = new Set<(e: Event) => void>();
	#seq = 100;
	#stopped = new Set<string>();
	#kept: Record<string, string> = {};
	#autostart: Autostart = { on: false, entry: '/home/minji/.config/autostart/oxios.desktop' };
	/** bare is a machine without any model. */
	#bare = false;
	#grants = new FakeGrants();
	#labels = new FakeLabels(() => this.world);
	#access = new FakeAccess(() => this.world.config.values.role ?? 'operator');
	#answered = new Map<string, (a: Approval) => void>();
	#discarded = new Map<string, Session>();
	#storage = makeStorage();
	#undo = new FakeUndo();
	#keys = new FakeKeys();
	#tries = new FakeTries();
	#inbox: FakeInbox;
	#agents: FakeAgents;
	#audit: FakeAudit;

	constructor(o: Options = {}) {
		this.world = makeWorld(o.speech ?? 'en', o.first ?? false);
		plant(this.world);
		this.#inbox = new FakeInbox(this.world, (kind, data) => this.emit(kind, data));
		this.#agents = new FakeAgents(
			this.world,
			(kind, data, of) => this.emit(kind, data, of),
			(r) => this.#kill(r),
		);
		this.#audit = new FakeAudit(this.world);
		this.#pace = o.pace ?? 18;
		this.files.text = (sid) => `# ${this.#session(sid).title}`;
		this.#count();
	}

	static forPage(q: URLSearchParams): FakeTransport {
		const scene = q.get('scene') ?? '';
		const fake = new FakeTransport({
			speech: q.get('lang') === 'ko' ? 'ko' : 'en',
			first: scene === 'first' || scene === 'bare',
		});
		fake.#bare = scene === 'bare';
		const theme = q.get('theme');
		if (theme) fake.world.config.values.theme = theme;
		if (q.get('scene') === 'empty') Object.assign(fake.world, { sessions: [], approvals: [], runs: [] });
		if (scene === 'empty') fake.world.status.audit_entries = 0;
		if (q.get('scene') === 'many') fake.#many();
		if (scene === 'archived') fake.#archive();
		if (scene === 'ends') manyEnds(fake.world);
		if (q.get('scene') === 'attached') attachedScene(fake.world, fake.desk, q.get('lang') === 'ko' ? 'ko' : 'en');
		if (q.get('scene') === 'problem') fake.#troubles();
		if (q.get('scene') === 'offline') fake.#offline();
		if (scene === 'limit') limitScene(fake.world);
		if (scene === 'uncontained') uncontainedScene(fake.world);
		if (scene === 'found') foundScene(fake.world);
		if (scene === 'trust') fake.world.config.values.folder = '/home/minji/src/oxios';
		if (scene === 'ask') askScene(fake.world, q.get('lang') === 'ko' ? 'ko' : 'en');
		if (scene === 'plan') planScene(fake.world, q.get('lang') === 'ko' ? 'ko' : 'en');
		if (scene === 'branch') branchScene(fake.world, q.get('lang') === 'ko' ? 'ko' : 'en');
		fake.world.busy = scene === 'busy';
		if (scene === 'agents' || scene === 'busy') agentsScene(fake.world, q.get('lang') === 'ko' ? 'ko' : 'en');
		if (scene === 'many-agents') manyAgents(fake.world);
		plant(fake.world);
		fake.#count();
		return fake;
	}

	async call(method: string, args: unknown[]): Promise<unknown> {
		this.calls.push({ method, args });
		const fn =
			this.#table[method] ??
			this.desk.calls[method] ??
			this.#inbox.calls[method] ??
			this.#agents.calls[method] ??
			this.#audit.calls[method];
		if (!fn) throw no('not_found', `The scripted kernel knows no call ${method}.`);
		await Promise.resolve();
		return copy(await fn(...args));
	}

	subscribe(_from: number, onevent: (e: Event) => void, onlink: (l: Link) => void): () => void {
		this.#readers.add(onevent);
		onlink('open');
		return () => this.#readers.delete(onevent);
	}

	/** emit says something to everyone who listens. */
	emit(kind: string, data: unknown, of: { run_id?: string; session_id?: string } = {}): void {
		const e = { seq: ++this.#seq, time: iso(), kind, data: copy(data), ...of };
		for (const fn of this.#readers) fn(e);
	}

	#count(): void {
		const w = this.world;
		w.status.running = w.runs.filter((r) => r.run.state === 'running').length;
		w.status.waiting = w.approvals.filter((a) => a.state === 'pending').length;
	}

	#kill(r: RunView): void {
		this.#stopped.add(r.run.id);
		for (const a of this.world.approvals)
			if (a.request.run_id === r.run.id && a.state === 'pending') this.#decide(a, { state: 'canceled' });
		for (const s of r.steps)
			if (s.state !== 'closed') this.#step(s, { state: 'closed', outcome: 'canceled', closed_at: iso() });
		this.#end(r, 'stopped', 'stopped');
	}

	#announce(): void {
		this.#count();
		this.emit('status', this.world.status);
	}

	#many(): void {
		const w = this.world;
		for (let i = 0; i < 500; i++) {
			w.sessions.push(
				makeSession({
					id: `s-many-${i}`,
					title: `Conversation ${i + 1} about a thing with a rather long name`,
					updated_at: iso((30 + i) * 3_600_000),
				}),
			);
		}
		const s = makeSession({ id: 's-rows', title: 'Five hundred rows' });
		w.sessions.unshift(s);
		const r = makeRun({ id: 'r-rows', session_id: s.id, text: 'Count.' });
		w.messages.push(makeMessage({ session_id: s.id, run_id: r.id, role: 'user', content: 'Count.' }));
		w.runs.push({
			run: r,
			changes: [],
			steps: Array.from({ length: 500 }, (_, i) =>
				i % 2 === 0
					? makeStep({
							run_id: r.id,
							kind: 'model',
							text: `Part **${i}** of the count, with \`code\` and a list:\n\n- one\n- two`,
						})
					: makeStep({
							run_id: r.id,
							kind: 'tool',
							name: i % 4 === 1 ? 'exec' : 'read',
							title: `Step ${i}`,
							output: 'ok',
						}),
			),
		});
	}

	/** archive takes two conversations out of the list; in the newest a message has mentions. */
	#archive(): void {
		const w = this.world;
		for (const s of w.sessions.slice(-2)) s.archived = true;
		const s = w.sessions[0]!;
		const said = w.messages.find((m) => m.session_id === s.id && m.role === 'user')!;
		said.content = 'Compare @src/ledger/ledger.go with @"제주 사진/바다.jpg" and @보고서.hwp를 끝까지.';
	}

	#troubles(): void {
		const w = this.world;
		w.status.audit_ok = false;
		w.status.paused = true;
		w.config.problem = {
			code: 'invalid',
			message: 'Line 7: mode is "sometimes"; it may be ask, guarded or autonomous.',
			hint: 'Correct the line; it is read again by itself.',
		};
		w.status.problem = {
			code: 'disk_full',
			message: 'The disk is full. Everything until 10:31 is kept.',
			hint: 'Free 200 MB; reading goes on meanwhile.',
		};
	}

	#offline(): void {
		const w = this.world;
		Object.assign(w.config.values, { provider: 'openai', model: 'gpt-5-mini' });
		const run = w.runs.find((r) => r.run.state === 'running')!.run;
		run.provider = 'openai';
		Object.assign(this.#session(run.session_id), { provider: 'openai', model: 'gpt-5-mini' });
		const since = iso(90_000);
		w.status.offline = [{ provider: 'openai', name: 'OpenAI', since, runs: [run.id] }];
		w.status.held = [
			{
				id: 'provider:openai',
				kind: 'provider',
				name: 'OpenAI',
				since,
				runs: [{ run_id: run.id, session_id: run.session_id, name: run.name }],
				count: 1,
				message: 'OpenAI did not answer: no route to host.',
				message_ko: 'OpenAI가 답하지 않았습니다: 경로 없음.',
				hint: 'It is tried again by itself, and what waits goes out when it answers. Nothing was sent elsewhere.',
				hint_ko: '저절로 다시 시도하며, 답하면 기다리던 것을 보냅니다. 다른 곳으로는 보내지 않았습니다.',
			},
		];
	}

	#session(sid: string): Session {
		const s = this.world.sessions.find((x) => x.id === sid);
		if (!s) throw no('not_found', 'There is no such conversation.', 'It may have been deleted.');
		return s;
	}

	#deletion(sid: string) {
		const w = this.world;
		const runs = w.runs.filter((r) => r.run.session_id === sid);
		const files = runs.flatMap((r) => r.changes.filter((c) => c.kind !== 'deleted').map((c) => c.path));
		return {
			id: sid,
			title: this.#session(sid).title,
			messages: w.messages.filter((m) => m.session_id === sid).length,
			runs: runs.length,
			branches: 1,
			files,
			file_count: files.length,
			audit_entries: runs.length * 14,
			copies: ['~/.oxios/oxios.db.v1.bak'],
			erased: false,
			undo_ms: 0,
		};
	}

	#run(rid: string): RunView {
		const r = this.world.runs.find((x) => x.run.id === rid);
		if (!r) throw no('not_found', 'There is no such run.');
		return r;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	#table: Record<string, (...args: any[]) => unknown> = {
		'state.sessions': (q: { search?: string; limit?: number; before?: string; archived?: boolean }) => {
			const w = this.world;
			let list = w.sessions
				.filter((s) => s.archived === (q.archived ?? false))
				.sort((a, b) => b.updated_at.localeCompare(a.updated_at));
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
		'state.session': (sid: string) => viewOf(this.world, this.#session(sid)),
		'state.chooseBranch': (rid: string) => {
			const s = this.#session(this.#run(rid).run.session_id);
			if (!branchOf(this.world, s.head_id).some((r) => r.run.id === rid)) {
				this.#mayFork(s);
				s.head_id = endOf(this.world, rid);
				this.emit('session', s, { session_id: s.id });
			}
			return viewOf(this.world, s);
		},
		'state.branchSession': (rid: string) => {
			if (['running', 'waiting', 'queued'].includes(this.#run(rid).run.state)) this.#mayFork(undefined);
			const s = copyBranch(this.world, rid);
			this.emit('session', s, { session_id: s.id });
			return s;
		},
		'state.exportSession': (sid: string) => {
			const v = viewOf(this.world, this.#session(sid));
			return [`# ${v.session.title}`, ...v.messages.map((m) => m.content)].join('\n\n');
		},
		'state.updateSession': (sid: string, patch: Partial<Session>) => {
			const s = Object.assign(this.#session(sid), patch);
			this.emit('session', s, { session_id: sid });
			return s;
		},
		'state.deleteSession': (sid: string) => {
			this.world.sessions = this.world.sessions.filter((s) => s.id !== sid);
			this.world.approvals = this.world.approvals.filter((a) => a.request.session_id !== sid);
			this.emit('session.deleted', { text: sid }, { session_id: sid });
			this.#announce();
		},
		'state.deletion': (sid: string) => this.#deletion(sid),
		'state.discardSession': (sid: string) => {
			const d = { ...this.#deletion(sid), undo_ms: 10_000 };
			this.#discarded.set(sid, this.#session(sid));
			this.world.sessions = this.world.sessions.filter((s) => s.id !== sid);
			this.emit('session.deleted', { text: sid }, { session_id: sid });
			return d;
		},
		'state.recoverSession': (sid: string) => {
			const s = this.#discarded.get(sid);
			if (!s) throw no('not_found', 'That conversation is deleted for good already.');
			this.world.sessions.push(s);
			this.emit('session', s, { session_id: sid });
			return s;
		},
		...this.#keys.calls,
		'infra.storage': () => this.#storage,
		'infra.clean': (part: string) => {
			const before = this.#storage.bytes;
			this.#storage = emptyPart(this.#storage, part);
			return { part, freed: before - this.#storage.bytes, storage: this.#storage };
		},
		'infra.freeCut': (part: string) => freeable(this.#storage, part),
		'infra.free': (part: string) => {
			const cut = freeable(this.#storage, part);
			this.#storage = emptyPart(this.#storage, part);
			return { ...cut, freed: cut.bytes, storage: this.#storage };
		},
		'agents.submit': (m: Submit) => this.#submit(m),
		'agents.continue': (rid: string) => this.#submit({ session_id: this.#run(rid).run.session_id, text: 'Continue' }),
		'agents.pause': (on: boolean) => {
			this.world.status.paused = on;
			this.#announce();
			return this.world.status;
		},
		'agents.unqueue': (qid: string) => {
			const q = this.world.queued.find((x) => x.id === qid);
			this.world.queued = this.world.queued.filter((x) => x.id !== qid);
			if (q)
				this.emit(
					'queue',
					this.world.queued.filter((x) => x.session_id === q.session_id),
					{ session_id: q.session_id },
				);
		},
		'agents.undoPreview': (q: UndoQuery) => this.#undo.preview(this.world, q),
		'agents.undo': (q: UndoInput) => this.#goBack(q, false),
		'agents.redo': (q: UndoInput) => this.#goBack(q, true),
		'agents.changes': (rid: string) => this.world.changes.filter((c) => c.run_id === rid),
		'security.approvals': (q: { state?: string }) =>
			this.world.approvals.filter((a) => !q.state || a.state === q.state),
		'security.approve': (aid: string, d: { hash: string; scope: string }) => {
			const a = this.#approval(aid);
			if (d.hash !== a.request.hash)
				throw no('conflict', 'This request changed since it was shown.', 'Look at it again.');
			return this.#decide(a, { state: 'approved', scope: d.scope });
		},
		'agents.seeds': (q: SeedQuery) => seedsOf(this.world, q),
		'agents.seed': (sid: string) => this.world.seeds.find((s) => s.id === sid),
		'agents.answer': (in_: AnswerInput) => {
			const a = this.world.approvals.find((x) => x.state === 'pending' && x.request.run_id === in_.run_id);
			if (!a) throw no('conflict', 'That run asks nothing. Nothing was recorded.');
			return this.#decide(a, { state: 'approved' });
		},
		'security.deny': (aid: string, comment: string) => this.#decide(this.#approval(aid), { state: 'denied', comment }),
		'security.revoke': (aid: string) => {
			const a = this.world.approvals.find((x) => x.id === aid && x.state === 'approved');
			if (!a) throw no('conflict', 'There is nothing to take back.');
			Object.assign(a, { state: 'canceled', decided_at: iso() });
			this.emit('approval', a, { run_id: a.request.run_id, session_id: a.request.session_id });
		},
		'security.labels': (q: LabelQuery) => this.#labels.list(q),
		'security.trustLabel': (id: string, on: boolean) => this.#labels.trust(id, on),
		'security.grants': (all: boolean) => this.#grants.list(all),
		'security.proposeGrant': (aid: string) => this.#grants.propose(this.#approval(aid)),
		'security.grant': (aid: string, g: GrantInput) => {
			const grant = this.#grants.give(this.#approval(aid), g);
			return { grant, approval: this.#decide(this.#approval(aid), { state: 'approved', scope: 'once' }) };
		},
		'security.try': (aid: string, d: { hash: string }) => this.#tries.try(this.#approval(aid), d.hash),
		'security.tried': (aid: string) => this.#tries.tried(aid),
		'security.applyTry': (aid: string, d: { hash: string }) => {
			this.#tries.apply(aid, d.hash);
			return this.#decide(this.#approval(aid), { state: 'approved', scope: 'once' });
		},
		'security.dropTry': (aid: string) => this.#tries.drop(aid),
		'security.revokeGrant': (gid: string) => this.#grants.revoke(gid),
		'security.permissions': () => this.#access.all(),
		'security.setRole': (role: Role) => this.#access.set(role),
		'security.deleteRole': (name: string) => this.#access.remove(name),
		'security.denyPath': (path: string) => this.#access.deny(path),
		'security.allowPath': (path: string) => this.#access.allow(path),
		'security.policy': () => ({ ...this.world.policy, mode: this.world.config.values.mode }),
		'security.tools': () => this.world.tools,
		'security.setTool': (name: string, on: boolean) => {
			for (const t of this.world.tools) if (t.name === name) t.on = on;
		},
		'exec.folder': (path: string) => this.#folder(path),
		'exec.instructions': (path: string) => told(path),
		'security.folders': () =>
			Object.entries(this.world.trust)
				.filter(([path, trust]) => trust && path !== '/home/minji/Oxios')
				.map(([path, trust]) => ({
					path,
					display: path.replace('/home/minji', '~'),
					trust,
					at: new Date().toISOString(),
				})),
		'security.trustFolder': (path: string, trust: string) => {
			this.world.trust[path] = trust;
			return this.#folder(path);
		},
		'exec.mentions': (q: { words: string }) => ({
			paths: q.words ? paths : paths.slice(0, 8),
			more: !q.words,
			cut: false,
		}),
		'infra.status': () => this.world.status,
		'infra.config': () => this.world.config,
		'infra.setConfig': (key: string, value: string) => {
			this.world.config.values[key] = value;
			this.emit('config', this.world.config);
			return this.world.config;
		},
		...costCalls(this),
		'infra.autostart': () => this.#autostart,
		'infra.setAutostart': (on: boolean) => (this.#autostart = { ...this.#autostart, on }),
		'infra.providers': () =>
			this.world.providers.map((p) => ({ ...p, models: this.world.models.filter((m) => m.provider === p.id) })),
		'infra.models': (q: { search?: string }) => this.world.models.filter((m) => m.id.includes(q.search ?? '')),
		'infra.saveProvider': (p: Provider & { key?: string }) => {
			const old = this.world.providers.find((x) => x.id === p.id);
			const { key, ...rest } = p;
			const next: Provider = {
				...(old ?? { kind: 'openai', source: 'window', local: false, enabled: true, running: true, demo: false }),
				...rest,
				id: old?.id ?? id('provider'),
			} as Provider;
			if (key) Object.assign(next, { key_tail: key.slice(-4), key_where: 'keyring', test: undefined });
			this.world.providers = old
				? this.world.providers.map((x) => (x.id === next.id ? next : x))
				: [...this.world.providers, next];
			this.emit('provider', next);
			return next;
		},
		'infra.removeProvider': (pid: string) => {
			this.world.providers = this.world.providers.filter((p) => p.id !== pid);
			this.world.models = this.world.models.filter((m) => m.provider !== pid);
		},
		'infra.setFavourite': (p: string, m: string, on: boolean) => {
			for (const x of this.world.models) if (x.provider === p && x.id === m) x.favourite = on;
		},
		'infra.useModel': (p: string, m: string) => {
			for (const x of this.world.models) x.default = x.provider === p && x.id === m;
			Object.assign(this.world.config.values, { provider: p, model: m });
			this.world.status.has_model = true;
			this.emit('config', this.world.config);
		},
		'infra.fallbacks': () => this.world.fallbacks,
		'infra.setFallbacks': (p: string, m: string, then: string[]) => setFallbacks(this.world, p, m, then),
		'infra.testProvider': async (pid: string) => {
			await this.#rest(30);
			const p = this.world.providers.find((x) => x.id === pid);
			const bad = pid === 'work';
			const test: TestReport = {
				model: 'qwen3:14b',
				answers: !bad,
				latency_ms: bad ? 0 : 900,
				first_token_ms: 200,
				tools: bad ? undefined : true,
				images: bad ? undefined : false,
				context_length: 40_960,
				chat_only: false,
				at: iso(),
				error: bad
					? { code: 'auth', message: 'The key was refused.', hint: 'The server says “invalid_api_key”.' }
					: undefined,
			};
			if (p) p.test = test;
			return test;
		},
		'infra.discover': () => this.#discover(),
		'infra.startDemo': () => {
			const p: Provider = {
				id: 'demo',
				name: 'Demo',
				kind: 'openai',
				base_url: 'http://127.0.0.1:40001/v1',
				local: true,
				enabled: true,
				source: 'demo',
				running: true,
				demo: true,
			};
			this.world.providers.push(p);
			this.world.models.push({
				id: 'demo',
				provider: 'demo',
				provider_name: 'Demo',
				tools: true,
				chat_only: false,
				free: true,
				favourite: false,
				default: true,
				demo: true,
			});
			Object.assign(this.world.status, { demo: true, has_model: true });
			Object.assign(this.world.config.values, { provider: 'demo', model: 'demo' });
			this.emit('config', this.world.config);
			this.emit('provider', p);
			this.#announce();
			return p;
		},
		'infra.finishOnboarding': () => {
			this.world.status.onboarded = true;
			this.#announce();
		},
		'infra.reportFocus': () => undefined,
		'infra.reconnect': () => {
			delete this.world.status.offline;
			delete this.world.status.held;
			this.#announce();
			return this.world.status;
		},
		'infra.kept': () => this.#kept,
		'infra.keep': (key: string, value: string) => {
			this.#kept[key] = value;
		},
	};

	#goBack(q: UndoInput, redo: boolean): UndoPlan {
		const plan = this.#undo.apply(this.world, q, redo);
		const v = this.world.runs.find((r) => r.run.id === q.run_id);
		if (v) this.emit('undo', v.undo, { run_id: q.run_id, session_id: v.run.session_id });
		return plan;
	}

	#approval(aid: string): Approval {
		const a = this.world.approvals.find((x) => x.id === aid);
		if (!a) throw no('not_found', 'This request is gone.');
		return a;
	}

	#decide(a: Approval, d: Partial<Approval>): Approval {
		Object.assign(a, d, { decided_at: iso(), decided_by: 'person' });
		this.emit('approval', a, { run_id: a.request.run_id, session_id: a.request.session_id });
		this.#announce();
		this.#answered.get(a.id)?.(a);
		const r = this.world.runs.find((x) => x.run.id === a.request.run_id);
		const step = r?.steps.find((s) => s.approval_id === a.id);
		if (r && step && !this.#answered.has(a.id) && a.state !== 'canceled') {
			this.#step(step, {
				state: 'closed',
				outcome: a.state === 'approved' ? 'ok' : 'denied',
				started_at: iso(90),
				closed_at: iso(),
			});
			if (!this.world.approvals.some((x) => x.request.run_id === r.run.id && x.state === 'pending'))
				this.#end(r, 'done', '');
		}
		return a;
	}

	#folder(path: string) {
		const home = '/home/minji';
		const full = path.replace(/^~/, home) || home;
		const inside: Record<string, string[]> = {
			[home]: ['Documents', 'Downloads', 'Oxios', 'Pictures', 'src'],
			[`${home}/src`]: ['ledger', 'oxios'],
			[`${home}/Documents`]: ['Receipts'],
		};
		const refused = /\/\.(ssh|gnupg|aws)/.test(full);
		return {
			path: full,
			display: full.replace(home, '~'),
			exists: full in inside || Object.entries(inside).some(([p, names]) => names.some((n) => `${p}/${n}` === full)),
			refused,
			reason: refused ? 'Keys live there. Agents never work in it.' : '',
			parent: full === '/' ? '' : full.split('/').slice(0, -1).join('/') || '/',
			entries: (inside[full] ?? []).map((name) => ({ name, path: `${full}/${name}` })),
			files: full.endsWith('Downloads') ? 214 : full.endsWith('Oxios') ? 3 : 0,
			git: full.startsWith(`${home}/src/`),
			trust: this.world.trust[full] ?? '',
			instructions: full.startsWith(`${home}/src/`) ? { ...told(full), text: undefined } : undefined,
		};
	}

	async #discover() {
		await this.#rest(20);
		if (this.#bare) return [];
		const base = { kind: 'ollama', local: true, enabled: true, source: 'discovered', running: true, demo: false };
		const models = (p: string, name: string, ...ids: string[]): Model[] =>
			ids.map((m) => ({
				id: m,
				provider: p,
				provider_name: name,
				chat_only: false,
				free: true,
				favourite: false,
				default: false,
				demo: false,
				tools: true,
			}));
		const found: { provider: Provider; source: string; running: boolean; problem?: string }[] = [
			{
				provider: {
					...base,
					id: 'ollama',
					name: 'Ollama',
					base_url: 'http://127.0.0.1:11434/v1',
					models: models('ollama', 'Ollama', 'qwen3:14b'),
				},
				source: 'Ollama',
				running: true,
			},
			{
				provider: {
					...base,
					id: 'openai',
					name: 'OpenAI',
					kind: 'openai',
					local: false,
					base_url: 'https://api.openai.com/v1',
					source: 'environment',
					key_where: 'environment',
				},
				source: 'OPENAI_API_KEY',
				running: false,
			},
			{
				provider: {
					...base,
					id: 'lmstudio',
					name: 'LM Studio',
					kind: 'lmstudio',
					base_url: 'http://127.0.0.1:1234/v1',
					models: [],
				},
				source: 'LM Studio',
				running: true,
				problem: 'Runs, but no model is loaded. Load one there, then look again.',
			},
		];
		for (const f of found) {
			if (!this.world.providers.some((p) => p.id === f.provider.id)) this.world.providers.push(f.provider);
			for (const m of f.provider.models ?? [])
				if (!this.world.models.some((x) => x.id === m.id)) this.world.models.push(m);
		}
		return found;
	}

	#rest(pieces = 1): Promise<void> {
		return new Promise((done) => setTimeout(done, this.#pace * pieces));
	}

	#step(s: StepView, patch: Partial<StepView>): void {
		Object.assign(s, patch);
		this.emit('step', s, { run_id: s.run_id, session_id: this.#run(s.run_id).run.session_id });
	}

	#working(sid: string): boolean {
		const states = ['running', 'waiting', 'queued'];
		return this.world.runs.some((r) => r.run.session_id === sid && states.includes(r.run.state));
	}

	#mayFork(s: Session | undefined): void {
		if (!s || this.#working(s.id))
			throw no('busy', 'An agent is at work in this conversation. Nothing was changed.', 'Wait until it is done.');
	}

	#submit(m: Submit) {
		const w = this.world;
		const old = m.instead_of ? this.#run(m.instead_of).run : undefined;
		const text = m.text || old?.text || '';
		const attachments = this.desk.of(m.attachments ?? []);
		if (text.length > 1 << 20) throw no('too_large', 'The message is over 1 MB.', 'Shorten it, or save it as a file.');
		let s = m.session_id ? this.#session(m.session_id) : undefined;
		if (old) this.#mayFork(s);
		if (s && this.#working(s.id)) {
			const q = { id: id('q'), session_id: s.id, text, created_at: iso(), attachments };
			w.queued.push(q);
			this.emit(
				'queue',
				w.queued.filter((x) => x.session_id === s!.id),
				{ session_id: s.id },
			);
			return { run_id: '', session_id: s.id, queued: true, queue_id: q.id, demo: false };
		}
		if (!s) {
			s = makeSession({
				id: id('s'),
				title: (text || attachments[0]?.name || '').split('\n')[0]!.slice(0, 60),
				folder: m.folder || w.config.values.folder!,
				mode: m.mode || 'guarded',
				model: m.model || w.config.values.model || 'demo',
				provider: m.provider || w.config.values.provider || 'demo',
				cost: noCost,
			});
			w.sessions.push(s);
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
		this.emit('message', msg, of);
		this.emit('run.created', r.run, of);
		this.emit('session', s, of);
		this.emit('run.started', r.run, of);
		this.#announce();
		void this.#play(r, text);
		return { run_id: r.run.id, session_id: s.id, queued: false, demo: w.status.demo };
	}

	async #play(r: RunView, text: string): Promise<void> {
		const of = { run_id: r.run.id, session_id: r.run.session_id };
		const gone = () => this.#stopped.has(r.run.id);
		const speak = async (words: string, kind = 'run.text') => {
			for (const piece of words.match(/\S+\s*/g) ?? []) {
				if (gone()) return;
				this.emit(kind, { text: piece }, of);
				const talking = r.steps.findLast((s) => s.kind === 'model' && s.state === 'started');
				if (talking && kind === 'run.text') talking.text = (talking.text ?? '') + piece;
				await this.#rest();
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
		await this.#rest(3);
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
		await this.#rest(15);
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
		this.world.approvals.push(a);
		const answered = new Promise<Approval>((done) => this.#answered.set(a.id, done));
		this.#state(r, 'waiting');
		this.#step(s, {});
		this.emit('approval', a, of);
		this.#announce();
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
		const s = this.#session(r.run.session_id);
		s.state = state;
		s.waiting = this.world.approvals.filter((a) => a.request.session_id === s.id && a.state === 'pending').length;
		this.emit('run.state', r.run, of);
		this.emit('session', s, of);
		this.#announce();
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
				demo: this.world.status.demo,
			});
			this.world.messages.push(m);
			this.emit('message', m, of);
		}
		this.#state(r, state);
		this.emit('run.ended', r.run, of);
		this.emit('inbox', undefined);
		const next = this.world.queued.find((q) => q.session_id === r.run.session_id);
		if (next && state === 'done') {
			this.world.queued = this.world.queued.filter((q) => q.id !== next.id);
			this.emit(
				'queue',
				this.world.queued.filter((q) => q.session_id === next.session_id),
				of,
			);
			this.#submit({ session_id: next.session_id, text: next.text });
		}
	}
}
