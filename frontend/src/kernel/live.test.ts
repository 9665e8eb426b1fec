import { afterEach, expect, it, vi } from 'vitest';
import { makeKernel } from './api.gen';
import { makeSession } from './fake/data';
import { FakeTransport } from './fake/transport';
import { Live } from './live.svelte';
import { failureOf } from './transport';

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

async function setup() {
	const fake = new FakeTransport({ pace: 0 });
	const live = new Live(makeKernel(fake), fake);
	stops.push(live.start());
	await vi.waitFor(() =>
		expect(live.models.loaded && live.sessions.loaded && live.approvals.pending.length > 0).toBe(true),
	);
	return { fake, live };
}

it('mirrors status, settings, conversations, requests and models', async () => {
	const { live } = await setup();
	expect(live.status?.waiting).toBe(4);
	expect(live.setting('mode')).toBe('guarded');
	expect(live.sessions.list.length).toBeGreaterThan(5);
	expect(live.models.default?.id).toBe('qwen3:14b');
});

it('keeps a deep link whatever stands open', async () => {
	const { fake, live } = await setup();
	fake.emit('open', { session_id: 's-tidy' });
	expect(live.wanted).toBe('s-tidy');
});

it('reads everything again after a gap', async () => {
	const { fake, live } = await setup();
	let again = 0;
	live.onreload(() => again++);
	fake.world.status.version = '9';
	fake.emit('gap', { missed: 3 });
	await vi.waitFor(() => expect(live.status?.version).toBe('9'));
	expect(again).toBe(1);
});

it('goes round through the conversations that wait', async () => {
	const { live } = await setup();
	const first = live.approvals.nextSession(undefined);
	const second = live.approvals.nextSession(first);
	expect(new Set([first, second]).size).toBe(2);
	expect(live.approvals.nextSession(second)).toBe(first);
});

it('takes a decided request away', async () => {
	const { live } = await setup();
	const [a] = live.approvals.of('s-tidy');
	await live.approvals.approve(a!.id, a!.request.hash, 'once');
	expect(live.approvals.of('s-tidy')).toHaveLength(0);
});

it('refuses a yes to a request that changed', async () => {
	const { live } = await setup();
	const [a] = live.approvals.of('s-tidy');
	await expect(live.approvals.approve(a!.id, 'another', 'once')).rejects.toMatchObject({ code: 'conflict' });
	expect(live.approvals.of('s-tidy')).toHaveLength(1);
});

it('lets the newest search win', async () => {
	const { live } = await setup();
	const slow = live.sessions.search('parse');
	await live.sessions.search('');
	await slow;
	expect(live.sessions.found).toBeUndefined();
});

it('finds words in messages and takes a deleted conversation out', async () => {
	const { live } = await setup();
	await live.sessions.search('one run in ten');
	expect(live.sessions.found?.map((s) => s.id)).toEqual(['s-parser']);
	await live.sessions.discard('s-parser');
	expect(live.sessions.found).toEqual([]);
	expect(live.sessions.get('s-parser')).toBeUndefined();
});

it('shows the same failure once', async () => {
	const { fake, live } = await setup();
	fake.emit('problem', { code: 'disk_full', message: 'The disk is full.' });
	fake.emit('problem', { code: 'disk_full', message: 'The disk is full.' });
	expect(live.notices).toHaveLength(1);
});

it('shows in the list what a run became, though nobody told the session', async () => {
	const { fake, live } = await setup();
	fake.emit(
		'run.state',
		{ id: 'r-photos', session_id: 's-photos', parent_id: '', state: 'waiting' },
		{ session_id: 's-photos' },
	);
	expect(live.sessions.get('s-photos')?.state).toBe('waiting');
	fake.emit(
		'run.state',
		{ id: 'child', session_id: 's-photos', parent_id: 'r-photos', state: 'done' },
		{ session_id: 's-photos' },
	);
	expect(live.sessions.get('s-photos')?.state).toBe('waiting');
});

it('takes a deletion back, and forgets it only when nobody did', async () => {
	const { fake, live } = await setup();
	vi.useFakeTimers();
	const forgotten: string[] = [];
	const offer = (id: string) =>
		live.offer({ text: id, label: 'Undo', run: () => void live.sessions.recover(id) }, 9_500, () => forgotten.push(id));
	await live.sessions.discard('s-parser');
	offer('s-parser');
	await live.sessions.discard('s-tidy');
	offer('s-tidy');
	expect(live.sessions.get('s-parser')).toBeUndefined();
	live.notices.find((n) => n.offer?.text === 's-parser')!.offer!.run();
	await vi.advanceTimersByTimeAsync(10_000);
	vi.useRealTimers();
	expect(live.sessions.get('s-parser')?.id).toBe('s-parser');
	expect(live.notices).toEqual([]);
	expect(forgotten).toEqual(['s-tidy']);
	expect(fake.calls.filter((c) => c.method === 'state.recoverSession')).toHaveLength(1);
});

it('reads everything again after a restore', async () => {
	const { fake, live } = await setup();
	fake.world.status.version = '10';
	fake.emit('restored', {});
	await vi.waitFor(() => expect(live.status?.version).toBe('10'));
	expect(live.notices).toEqual([]);
});

it('takes away what needs no answer after a while, and keeps what failed', async () => {
	const { live } = await setup();
	vi.useFakeTimers();
	try {
		live.note('It is back.');
		live.say('exported');
		live.tell(failureOf('{"code":"internal","message":"It could not be done."}'));
		expect(live.notices).toHaveLength(3);
		vi.advanceTimersByTime(60_000);
		expect(live.notices.map((n) => n.told?.message)).toEqual(['It could not be done.']);
	} finally {
		vi.useRealTimers();
	}
});

it('keeps the pages that were read when everything is read again, also one that comes meanwhile', async () => {
	const { fake, live } = await setup();
	for (let n = 0; n < 220; n++)
		fake.world.sessions.push(
			makeSession({
				id: `s-far-${n}`,
				title: '',
				updated_at: new Date(Date.UTC(2026, 0, 1) - n * 86_400_000).toISOString(),
			}),
		);
	await live.sessions.load();
	await live.sessions.older();
	await live.sessions.load();
	expect(live.sessions.list).toHaveLength(100);
	expect(live.sessions.more).toBe(true);
	const reading = live.sessions.load();
	await live.sessions.older();
	await reading;
	expect(live.sessions.list).toHaveLength(150);
	await live.sessions.narrow('');
	await live.sessions.older();
	await live.sessions.load();
	expect(live.sessions.shown).toHaveLength(100);
});

it('reads on behind the last page, whatever happens to an older conversation meanwhile', async () => {
	const { fake, live } = await setup();
	const day = (n: number) => new Date(Date.UTC(2026, 0, 1) - n * 86_400_000).toISOString();
	for (let n = 0; n < 120; n++)
		fake.world.sessions.push(makeSession({ id: `s-far-${n}`, title: '', updated_at: day(n) }));
	await live.sessions.load();
	expect(live.sessions.list).toHaveLength(50);
	live.sessions.put(makeSession({ id: 's-far-119', title: 'Renamed', updated_at: day(119) }));
	expect(live.sessions.list).toHaveLength(50);
	await live.sessions.older();
	expect(live.sessions.list).toHaveLength(100);
	live.sessions.put(makeSession({ id: 's-far-119', title: '', updated_at: new Date().toISOString() }));
	expect(live.sessions.list.some((s) => s.id === 's-far-119')).toBe(true);
});

it('keeps the order of the kernel, whatever the fraction of a second', async () => {
	const { fake, live } = await setup();
	const at = (second: string) => `2025-01-01T00:00:${second}Z`;
	// From the newest: the kernel leaves out zeros at the end of a fraction.
	const times = ['05.2', '05.123', '05.12', '05.119', '05', '04.99'].map(at);
	for (const [n, updated_at] of times.entries())
		fake.world.sessions.push(makeSession({ id: `s-same-${9 - n}`, title: '', updated_at }));
	fake.world.sessions.push(makeSession({ id: 's-same-3', title: '', updated_at: at('04.99') }));
	await live.sessions.load();
	const same = () => live.sessions.list.filter((s) => s.id.startsWith('s-same-')).map((s) => s.id);
	expect(same()).toEqual([9, 8, 7, 6, 5, 4, 3].map((n) => `s-same-${n}`));
	live.sessions.put(makeSession({ id: 's-same-7', title: 'Renamed', updated_at: at('05.12') }));
	live.sessions.put(makeSession({ id: 's-same-4', title: 'Renamed', updated_at: at('04.99') }));
	expect(same()).toEqual([9, 8, 7, 6, 5, 4, 3].map((n) => `s-same-${n}`));
});
