import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
	makeKernel,
	type AgentMessage,
	type KernelError,
	type Process,
	type Sample,
	type Sender,
	type StepView,
} from '../../kernel/api.gen';
import { iso } from '../../kernel/fake/data';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import { Board } from './board.svelte';
import { dayOf } from './day';
import { areaOf, highest, lineOf, Load, pointsOf, SPAN } from './load.svelte';
import { belowOf, counted, rowsOf, sifted } from './rows';
import { Opened } from './opened.svelte';
import { age, lastEffect, newestFirst, reportOf, skillsOf, stateOf, titleOf, wordsOf } from './words';

let pid = 0;
const process = (p: Partial<Process> & { id: string }): Process =>
	({
		pid: ++pid,
		name: p.id,
		session_id: 's',
		state: 'running',
		cost: { calls: 0, input: 0, output: 0, usd: 0 },
		turns: 0,
		created_at: '2026-11-20T08:00:00Z',
		started_at: '2026-11-20T08:00:00Z',
		...p,
	}) as Process;
const ids = (list: Process[]) => rowsOf(list).map((r) => r.p.id);

beforeEach(() => {
	pid = 0;
	i18n.set('en');
});

describe('the order', () => {
	it('what waits for the person stands first, then what runs, then the rest with the newest first', () => {
		const list = [
			process({ id: 'old', state: 'done' }),
			process({ id: 'runs' }),
			process({ id: 'paused', state: 'paused' }),
			process({ id: 'broke', state: 'failed' }),
			process({ id: 'waits', state: 'waiting' }),
		];
		expect(ids(list)).toEqual(['waits', 'runs', 'paused', 'broke', 'old']);
	});

	it('children stand below their parents, and one that waits brings its whole tree up', () => {
		const list = [
			process({ id: 'runs' }),
			process({ id: 'root', tool: 'agent' }),
			process({ id: 'done', parent_id: 'root', state: 'done' }),
			process({ id: 'asks', parent_id: 'root', state: 'waiting' }),
			process({ id: 'deep', parent_id: 'done', state: 'done' }),
		];
		expect(rowsOf(list).map((r) => [r.p.id, r.depth])).toEqual([
			['root', 0],
			['asks', 1],
			['done', 1],
			['deep', 2],
			['runs', 0],
		]);
	});

	it('a fork whose parent is not listed stands by itself', () => {
		expect(rowsOf([process({ id: 'left', parent_id: 'gone' })])[0]?.depth).toBe(0);
	});

	it('each row is in one filter, and a filter moves what it leaves of a tree to the left', () => {
		const rows = rowsOf([
			process({ id: 'root', tool: 'agent' }),
			process({ id: 'works', parent_id: 'root' }),
			process({ id: 'broke', parent_id: 'root', state: 'interrupted' }),
			process({ id: 'over', state: 'stopped' }),
		]);
		expect(counted(rows)).toEqual({ all: 4, waiting: 1, running: 1, failed: 1, finished: 1 });
		const left = sifted(rows, (r) => r.group === 'running');
		expect(left.map((r) => [r.p.id, r.depth])).toEqual([['works', 0]]);
	});

	it('counts what stops with an agent, however deep, without what has ended', () => {
		const list = [
			process({ id: 'root' }),
			process({ id: 'a', parent_id: 'root', state: 'done' }),
			process({ id: 'b', parent_id: 'a' }),
			process({ id: 'c', parent_id: 'root', state: 'queued' }),
		];
		expect(belowOf(list, 'root')).toBe(2);
	});

	it('a thousand rows are put in order within a frame', () => {
		const list = Array.from({ length: 1000 }, (_, i) =>
			process({ id: `p${i}`, parent_id: i % 10 ? `p${i - (i % 10)}` : undefined }),
		);
		const began = performance.now();
		for (let i = 0; i < 10; i++) rowsOf(list);
		expect((performance.now() - began) / 10).toBeLessThan(50);
	});
});

it('says in words what an agent is about', () => {
	const said = (p: Partial<Process>, ...others: Process[]) =>
		stateOf(rowsOf([process({ id: 'x', ...p }), ...others]).find((r) => r.p.id === 'x')!);
	expect(said({ state: 'waiting', waiting_for: 'Deletes files in Downloads' })).toBe(
		'waits for you: deletes files in Downloads',
	);
	const child = process({ id: 'cleaner', parent_id: 'x' });
	expect(said({ tool: 'agent', doing: 'Wait for other agents' }, child)).toBe('waits for cleaner');
	expect(said({ tool: 'agent' }, child, process({ id: 'other', parent_id: 'x' }))).toBe('waits for 2 agents');
	expect(said({ tool: 'exec', doing: 'go test ./...' })).toBe('go test ./...');
	expect(said({})).toBe('asks the model');
	const error: KernelError = { code: 'auth', message: 'The provider refused the key.' };
	expect(said({ state: 'failed', error })).toBe('failed: the key was refused');
	expect(said({ state: 'failed', end_reason: 'It broke.' })).toBe('failed: it broke.');
	i18n.set('ko');
	expect(said({ tool: 'agent' }, child)).toBe('cleaner 기다림');
	expect(said({ state: 'queued' })).toBe('빈자리 대기');
});

it('tells an age in the largest unit that says it', () => {
	expect([900, 44_000, 245_000, 4_260_000, 200_000_000].map(age)).toEqual([
		'0 s',
		'44 s',
		'4 min',
		'1 h 11 min',
		'2 days',
	]);
});

it('the day shows work, waiting and what has ended on one scale, and nothing when nothing was', () => {
	const at = (h: number, m = 0) => new Date(2026, 10, 20, h, m).toISOString();
	const now = new Date(2026, 10, 20, 12).getTime();
	const rows = rowsOf([
		process({ id: 'waits', state: 'waiting', started_at: at(10) }),
		process({ id: 'over', state: 'done', started_at: at(8), ended_at: at(9) }),
		process({ id: 'yesterday', state: 'done', started_at: '2026-11-18T08:00:00Z', ended_at: '2026-11-18T09:00:00Z' }),
		process({ id: 'fork', parent_id: 'waits', started_at: at(10) }),
	]);
	const day = dayOf(rows, () => at(11), now)!;
	expect(day.bars.map((b) => [b.id, b.parts])).toEqual([
		[
			'waits',
			[
				{ kind: 'runs', at: 50, width: 25 },
				{ kind: 'waits', at: 75, width: 25 },
			],
		],
		['over', [{ kind: 'ended', at: 0, width: 25 }]],
	]);
	expect(day.ticks.map((t) => new Date(t.time).getHours())).toEqual([8, 9, 10, 11, 12]);
	expect(dayOf(rowsOf([process({ id: 'queued', started_at: undefined })]), () => undefined, now)).toBeUndefined();
});

describe('the load of the machine', () => {
	const sample = (ago: number, cpu: number) => ({ at: new Date(NOW - ago).toISOString(), cpu }) as Sample;
	const NOW = Date.parse('2026-11-20T12:00:00Z');

	it('is drawn over the past five minutes, the present at the right, and never out of its box', () => {
		const points = pointsOf(
			[sample(3_600_000, 90), sample(SPAN, 0), sample(SPAN / 2, 140), sample(0, 50)],
			(s) => s.cpu,
			100,
		);
		expect(points).toEqual([
			{ x: 0, y: 0 },
			{ x: 0.5, y: 1 },
			{ x: 1, y: 0.5 },
		]);
		expect(lineOf(points, 64, 20)).toBe('M0.0 20.0L32.0 0.0L64.0 10.0');
		expect(areaOf(points, 64, 20)).toBe('M0.0 20.0L32.0 0.0L64.0 10.0L64.0 20L0.0 20Z');
		expect(lineOf(points.slice(0, 1), 64, 20)).toBe('');
		expect(pointsOf([sample(0, 1)], () => 1, 0)).toEqual([{ x: 1, y: 0 }]);
		expect(highest([sample(SPAN + 1, 99), sample(SPAN, 7), sample(0, 3)], (s) => s.cpu)).toBe(7);
	});

	it('is read while somebody looks, and not a moment longer', async () => {
		vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
		const transport = FakeTransport.forPage(new URLSearchParams('scene=busy'));
		const reads = () => transport.calls.filter((c) => c.method === 'infra.resources').length;
		const load = new Load(makeKernel(transport));
		const stop = load.follow();
		await vi.waitFor(() => expect(load.view?.overloaded).toBe(true));
		await vi.advanceTimersByTimeAsync(11_000);
		expect(reads()).toBe(3);
		const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
		document.dispatchEvent(new Event('visibilitychange'));
		await vi.advanceTimersByTimeAsync(60_000);
		expect(reads()).toBe(3);
		hidden.mockReturnValue(false);
		document.dispatchEvent(new Event('visibilitychange'));
		await vi.advanceTimersByTimeAsync(0);
		expect(reads()).toBe(4);
		stop();
		await vi.advanceTimersByTimeAsync(60_000);
		expect(reads()).toBe(4);
		vi.useRealTimers();
		vi.restoreAllMocks();
	});
});

describe('the board', () => {
	let transport: FakeTransport, live: Live, board: Board, stop: () => void;
	beforeEach(async () => {
		transport = FakeTransport.forPage(new URLSearchParams('scene=agents'));
		live = new Live(makeKernel(transport), transport);
		live.start();
		await vi.waitFor(() => expect(live.approvals.pending.length).toBe(2));
		board = new Board(live);
		stop = board.follow();
		await vi.waitFor(() => expect(board.loaded).toBe(true));
		return () => stop();
	});
	const row = (name: string) => board.rows.find((r) => r.p.name === name)!;

	it('follows what is told, and asks for no row by itself', async () => {
		const asked = () => transport.calls.filter((c) => c.method.startsWith('agents.')).length;
		const before = asked();
		const run = transport.world.runs.find((r) => r.run.name === 'day-maps')!;
		transport.emit('run.started', { ...run.run, state: 'running' }, { run_id: run.run.id });
		const step = { id: 'x', run_id: run.run.id, kind: 'tool', name: 'read', title: 'Read a map', state: 'started' };
		transport.emit('step', step, { run_id: run.run.id });
		expect([row('day-maps').phase, row('day-maps').p.tool, board.state(row('day-maps'))]).toEqual([
			'running',
			'read',
			'Read a map',
		]);
		transport.emit('step', { ...step, state: 'closed', outcome: 'ok' }, { run_id: run.run.id });
		expect(board.state(row('day-maps'))).toBe('asks the model');
		expect(asked()).toBe(before);
	});

	it('stops an agent with those below it, and says how many', async () => {
		expect(board.affected(row('jeju-photos').p)).toBe(3);
		await board.stop(row('jeju-photos').p);
		expect([row('jeju-photos').phase, row('place-names').phase]).toEqual(['stopped', 'stopped']);
		expect(live.notices.at(-1)?.text).toBe('jeju-photos was stopped, 3 agents in all.');
	});

	it('pauses an agent and lets it go on', async () => {
		await board.pause(row('place-names').p);
		expect(row('place-names').phase).toBe('paused');
		await board.pause(row('place-names').p);
		expect(row('place-names').phase).toBe('running');
	});

	it('finds by the words of the state, and a link leads out of the filter', () => {
		board.words = 'key was refused';
		expect(board.shown.map((r) => r.p.name)).toEqual(['october-report']);
		board.choose(row('cleaner').p.id);
		expect([board.current?.p.name, board.words]).toEqual(['cleaner', '']);
	});

	it('keeps the place when the open row goes', () => {
		board.filter = 'failed';
		expect(board.current?.p.name).toBe('october-report');
		board.filter = 'all';
		board.step(1_000);
		expect(board.current).toBe(board.rows.at(-1));
	});

	it('makes a report of an agent', async () => {
		const { id } = row('october-report').p;
		const view = await live.kernel.agents.run(id);
		expect(lastEffect(view.steps)?.title).toBe('Wrote october.md');
		expect(newestFirst(view.steps)[0]?.outcome).toBe('error');
		const report = reportOf(row('october-report'), view, Date.now());
		expect(report).toContain('# october-report (pid 48)');
		expect(report).toContain('- Cause: The provider refused the key. Enter a new key in Settings, Models.');
		expect(report).toMatch(/3\. \d\d:\d\d · Wrote october\.md · 0\.1 s · Audit 1,043/);
		expect(report).toContain('- `october.md` +31 −0');
	});

	it('older ones come when they are looked for, and none that ended more than 30 days ago', async () => {
		const many = FakeTransport.forPage(new URLSearchParams('scene=many-agents'));
		many.world.runs[0]!.run.ended_at = new Date(Date.now() - 31 * 86_400_000).toISOString();
		for (const r of many.world.runs.slice(300)) Object.assign(r.run, { state: 'done', ended_at: iso() });
		const other = new Live(makeKernel(many), many);
		other.start();
		const all = new Board(other);
		const off = all.follow();
		await vi.waitFor(() => expect(all.loaded).toBe(true));
		expect([all.rows.length, all.more]).toEqual([500, true]);
		await all.older();
		expect([all.rows.length, all.more]).toEqual([999, false]);
		expect(all.get(many.world.runs[0]!.run.id)).toBeUndefined();
		await all.load(); // as after a break: what was read before is read again
		expect(all.rows.length).toBe(999);
		off();
	});
});

describe('what agents say to each other', () => {
	const message = (m: Partial<AgentMessage> & { n: number }): AgentMessage =>
		({
			id: `m${m.n}`,
			kind: 'task_delegation',
			from: 'a',
			from_name: 'Planner',
			to: 'b',
			to_name: 'Tester',
			text: 'Which colour?',
			payload: {},
			state: 'waiting',
			session_id: 's',
			created_at: '2026-11-20T08:00:00Z',
			...m,
		}) as AgentMessage;

	it('is told from the side of the agent that is open, in both languages', () => {
		const m = message({ n: 1 });
		expect(wordsOf(m, 'a')).toEqual({ who: 'To Tester:', what: 'Task', state: 'waits' });
		expect(wordsOf(m, 'b')).toEqual({ who: 'From Planner:', what: 'Task', state: 'waits' });
		expect(wordsOf(message({ n: 2, from: undefined, from_name: '', state: 'returned' }), 'b').who).toBe('From you:');
		i18n.set('ko');
		expect(wordsOf(m, 'a')).toEqual({ who: 'Tester에게:', what: '부탁', state: '대기' });
	});

	it('reads in the timeline as what another agent wanted', () => {
		const step = (agent: Partial<Sender>) =>
			titleOf({ kind: 'message', text: 'It is blue.', agent: { from: 'a', name: 'Planner', ...agent } } as StepView);
		expect(step({ kind: 'task_delegation' })).toEqual({ title: 'Planner asks', more: 'It is blue.' });
		expect(step({ kind: 'result_sharing', made: 'end' }).title).toBe('Planner answered');
		expect(step({ kind: 'status_update', made: 'returned' }).title).toBe('Planner did not read a message');
		expect(step({ kind: 'status_update', from: '' }).title).toBe('You said');
	});

	it('changes its state while it is looked at, and what the kernel says of an end is no message', async () => {
		const calls: Record<string, unknown> = {
			'agents.run': { run: { id: 'b' }, steps: [], changes: [] },
			'a2a.cards': [{ id: 'b', skills: [{ name: 'Testing', name_ko: '테스트' }, { name: 'Reading files' }] }],
			'a2a.messages': [message({ n: 1 })],
		};
		const o = new Opened(
			makeKernel({ call: (m: string) => Promise.resolve(calls[m]) } as unknown as FakeTransport),
			'b',
		);
		await o.load();
		const news = (m: AgentMessage) =>
			o.receive({ seq: 1, time: '', kind: 'agent.message', run_id: m.to, session_id: 's', data: m });
		news(message({ n: 1, state: 'answered' }));
		news(message({ n: 2, from: 'b', to: 'a', kind: 'result_sharing' }));
		news(message({ n: 3, from: 'c', to: 'a' }));
		news(message({ n: 4, from: 'b', to: 'a', made: 'returned' }));
		expect(o.mail.map((m) => [m.n, m.state])).toEqual([
			[2, 'waiting'],
			[1, 'answered'],
		]);
		expect(skillsOf(o.card!)).toBe('Testing, reading files');
	});
});
