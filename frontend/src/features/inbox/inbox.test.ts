import { beforeEach, expect, it, vi } from 'vitest';
import { makeKernel, type InboxRun } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import { Desk } from './desk.svelte';
import { beginning, happened, plainLine, stamp } from './words';

let transport: FakeTransport, live: Live, desk: Desk;

beforeEach(async () => {
	i18n.set('en');
	transport = new FakeTransport({ pace: 0 });
	live = new Live(makeKernel(transport), transport);
	live.start();
	await vi.waitFor(() => expect(live.inbox.loaded && live.approvals.pending.length > 0).toBe(true));
	desk = new Desk(live);
});

it('lists what waits, then what failed, then what is finished', () => {
	expect([desk.waiting.length, desk.failed.length, desk.finished.length]).toEqual([4, 2, 1]);
	expect(desk.entries.map((e) => e.kind)).toEqual([...Array(4).fill('waiting'), 'failed', 'failed', 'finished']);
	expect(desk.current?.id).toBe(desk.waiting[0]?.id);
});

it('steps through the lines and stops at the ends', () => {
	desk.step(-1);
	expect(desk.current?.id).toBe(desk.entries[0]?.id);
	desk.step(4);
	expect(desk.current?.kind).toBe('failed');
	desk.step(1_000);
	expect(desk.current?.id).toBe(desk.entries.at(-1)?.id);
});

it('the next line takes the place of one that goes, and undo brings it back', async () => {
	const [first, second] = desk.failed;
	desk.choose(first!.id);
	await desk.archive(first!);
	expect(desk.current?.id).toBe(second?.id);
	const offer = live.notices.at(-1)?.offer;
	expect(offer?.text).toContain(first!.title);
	offer?.run();
	await vi.waitFor(() => expect(desk.failed.length).toBe(2));
});

it('a limit that runs have reached waits for the person, and goes when it is raised', async () => {
	const fake = FakeTransport.forPage(new URLSearchParams('scene=limit'));
	const other = new Live(makeKernel(fake), fake);
	other.start();
	await vi.waitFor(() => expect(other.ready && other.approvals.pending.length > 0).toBe(true));
	const list = new Desk(other);
	const held = list.waiting.at(-1)!;
	expect([held.kind, held.title]).toEqual(['held', 'A limit is reached']);
	expect(other.waiting).toBe(other.approvals.pending.length + 1);
	await list.archive(held);
	expect(other.notices.at(-1)?.key).toBe('inbox_held');
	await other.kernel.infra.setBudget({ scope: 'day', usd: 10 });
	expect(list.waiting.every((e) => e.kind === 'waiting')).toBe(true);
});

it('what the guardian found stands first, and stays until it is mended', async () => {
	const fake = FakeTransport.forPage(new URLSearchParams('scene=found'));
	const other = new Live(makeKernel(fake), fake);
	other.start();
	await vi.waitFor(() => expect(other.ready).toBe(true));
	const list = new Desk(other);
	expect(list.entries.slice(0, 2).map((e) => e.title)).toEqual([
		'The audit record is damaged',
		'The disk is nearly full',
	]);
	await list.archive(list.entries[0]!);
	expect(other.notices.at(-1)?.key).toBe('inbox_found');
	fake.emit('status', { ...fake.world.status, findings: [] });
	expect(list.findings).toEqual([]);
});

it('a provider that is away stands by itself, as nobody decides about it', async () => {
	const fake = FakeTransport.forPage(new URLSearchParams('scene=offline'));
	const other = new Live(makeKernel(fake), fake);
	other.start();
	await vi.waitFor(() => expect(other.ready && other.approvals.pending.length > 0).toBe(true));
	const list = new Desk(other);
	expect(list.away.map((e) => e.title)).toEqual(['OpenAI cannot be reached']);
	expect(other.waiting).toBe(other.approvals.pending.length);
	await other.kernel.infra.reconnect();
	expect(list.away).toEqual([]);
});

it('a request stays until it is decided', async () => {
	await desk.archive(desk.waiting[0]!);
	expect(desk.waiting.length).toBe(4);
	expect(live.notices.at(-1)?.key).toBe('inbox_waits');
});

it('clears what is finished, not what failed or waits', async () => {
	await desk.clear();
	await vi.waitFor(() => expect(desk.finished.length).toBe(0));
	expect([desk.waiting.length, desk.failed.length]).toEqual([4, 2]);
});

it('however many changes come, the list is read once more and not once for each', async () => {
	const asked = () => transport.calls.filter((c) => c.method === 'agents.inbox').length;
	const before = asked();
	for (let i = 0; i < 100; i++) transport.emit('inbox', undefined);
	await vi.waitFor(() => expect(asked()).toBeGreaterThan(before));
	await new Promise((done) => setTimeout(done));
	expect(asked() - before).toBeLessThanOrEqual(2);
});

it('what cannot be taken out comes back, and the person hears why', async () => {
	const call = transport.call.bind(transport);
	vi.spyOn(transport, 'call').mockImplementation((method, args) =>
		method === 'agents.markSeen' ? Promise.reject(new Error('The disk is full.')) : call(method, args),
	);
	await desk.archive(desk.failed[0]!);
	await vi.waitFor(() => expect(desk.failed.length).toBe(2));
	expect(live.notices.at(-1)?.told?.message).toBe('The disk is full.');
});

it('says in a few words what came of a run', () => {
	expect(plainLine('\n## **Done**: [the list](x) `a_b.txt` _now_\n\nMore')).toBe('Done: the list a_b.txt now');
	expect(plainLine('---\n\n- 한 일')).toBe('한 일');
	const run = (r: object, more: object = {}) =>
		({ run: { state: 'done', ...r }, answer: '', files: 0, ...more }) as unknown as InboxRun;
	expect(happened(run({}, { answer: 'Sorted.', files: 2 }))).toBe('2 files · Sorted.');
	expect(happened(run({}))).toBe('done');
	expect(happened(run({ not_met: true }, { answer: 'Sorted.' }))).toBe('not met');
	expect(happened(run({ state: 'interrupted' }))).toBe('interrupted');
	const error = { code: 'auth', message: 'The key was refused.', message_ko: '키를 거부했습니다.' };
	expect(happened(run({ state: 'failed', error }))).toBe('The key was refused.');
	i18n.set('ko');
	expect(happened(run({ not_met: true }))).toBe('기준 미충족');
	expect(happened(run({ state: 'failed', error }))).toBe('키를 거부했습니다.');
});

it('shows the beginning of a long answer, with no code left open', () => {
	expect(beginning('short')).toEqual({ text: 'short', more: false });
	const long = beginning(`${'word '.repeat(200)}\n\n\`\`\`\n${'line\n'.repeat(400)}`);
	expect(long.more).toBe(true);
	expect((long.text.match(/```/g) ?? []).length % 2).toBe(0);
});

it('stamps today with the clock, the week with its day, and the rest with the date', () => {
	const now = new Date(2026, 10, 20, 12);
	expect(stamp(new Date(2026, 10, 20, 8, 2).toISOString(), now)).toBe('08:02');
	expect(stamp(new Date(2026, 10, 18, 8).toISOString(), now)).toBe('Wed');
	expect(stamp(new Date(2026, 10, 2, 8).toISOString(), now)).toBe('Nov 2');
});
