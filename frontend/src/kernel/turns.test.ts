import { expect, it, vi } from 'vitest';
import { makeKernel } from './api.gen';
import { Approvals } from './approvals.svelte';
import { FakeTransport } from './fake/transport';
import { turns } from './turns';

it('of several readings the newest counts', () => {
	const turn = turns();
	const first = turn();
	expect(first()).toBe(true);
	const second = turn();
	expect([first(), second()]).toEqual([false, true]);
});

it('what is decided while the requests are read waits no longer', async () => {
	const fake = new FakeTransport({ pace: 0 });
	const kernel = makeKernel(fake);
	const approvals = new Approvals(kernel);
	await approvals.load();
	const one = approvals.pending[0]!;
	let answer = () => {};
	const asked = new Promise<void>((done) => (answer = done));
	const list = kernel.security.approvals.bind(kernel.security);
	vi.spyOn(kernel.security, 'approvals').mockImplementation(async (q) => {
		const old = structuredClone(await list(q));
		await asked;
		return old;
	});
	const reading = approvals.load();
	approvals.receive({ seq: 1, kind: 'approval', data: { ...one, state: 'denied' } } as never);
	answer();
	await reading;
	expect(approvals.pending.map((a) => a.id)).not.toContain(one.id);
});
