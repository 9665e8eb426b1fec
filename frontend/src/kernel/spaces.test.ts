import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from './api.gen';
import { makeSession } from './fake/data';
import { FakeTransport } from './fake/transport';
import { Live } from './live.svelte';

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

async function setup(fake = new FakeTransport({ pace: 0 })) {
	const live = new Live(makeKernel(fake), fake);
	stops.push(live.start());
	await vi.waitFor(() => expect(live.spaces.loaded && live.sessions.loaded).toBe(true));
	return { fake, live };
}

describe('the spaces', () => {
	it('narrow the list to one of them, and to the default one', async () => {
		const { live } = await setup();
		expect(live.sessions.shown).toEqual(live.sessions.list);
		live.spaces.choose('space-work');
		await vi.waitFor(() => expect(live.sessions.inSpace).toBeDefined());
		expect(live.sessions.shown.map((s) => s.id)).toEqual(['s-parser', 's-old-1']);
		live.spaces.choose('');
		await vi.waitFor(() => expect(live.sessions.inSpace).toBeDefined());
		expect(live.sessions.shown.every((s) => s.space === '')).toBe(true);
		live.spaces.choose(null);
		expect(live.sessions.shown).toEqual(live.sessions.list);
	});

	it('read the pages of the one that is looked at, and not those of all', async () => {
		const fake = new FakeTransport({ pace: 0 });
		for (let i = 0; i < 120; i++) {
			const at = new Date(Date.now() - i * 60_000).toISOString();
			const space = i % 2 ? 'space-work' : 'space-home';
			fake.world.sessions.push(makeSession({ id: `n-${i}`, title: String(i), updated_at: at, space }));
		}
		const { live } = await setup(fake);
		live.spaces.choose('space-work');
		await vi.waitFor(() => expect(live.sessions.inSpace).toHaveLength(50));
		expect(live.sessions.shownMore).toBe(true);
		await live.sessions.older();
		expect(live.sessions.shown).toHaveLength(62);
		expect(live.sessions.shown.every((s) => s.space === 'space-work')).toBe(true);
		expect(live.sessions.shownMore).toBe(false);
		expect(live.sessions.list).toHaveLength(50);
	});

	it('are found again after the next start, as far as they are there', async () => {
		const { fake, live } = await setup();
		live.spaces.choose('space-jeju');
		const again = await setup(fake);
		expect(again.live.spaces.chosen).toBe('space-jeju');
		await fake.call('space.archive', ['space-jeju']);
		await vi.waitFor(() => expect(again.live.spaces.chosen).toBeNull());
		await fake.call('space.restore', ['space-jeju']);
		await vi.waitFor(() => expect(again.live.spaces.chosen).toBe('space-jeju'));
	});

	it('let a conversation go from the list of one into that of another, at once', async () => {
		const { live } = await setup();
		live.spaces.choose('space-work');
		await vi.waitFor(() => expect(live.sessions.inSpace).toBeDefined());
		await live.spaces.move(['s-parser'], 'space-home');
		expect(live.sessions.shown.map((s) => s.id)).toEqual(['s-old-1']);
		expect(live.sessions.get('s-parser')?.space_why).toBe('person');
	});

	it('search in the one that is looked at', async () => {
		const { live } = await setup();
		await live.sessions.search('receipts');
		const all = live.sessions.found!.length;
		live.spaces.choose('space-home');
		await vi.waitFor(() => expect(live.sessions.found!.length).toBeLessThan(all));
		expect(live.sessions.found!.every((s) => s.space === 'space-home')).toBe(true);
	});

	it('follow what another face did', async () => {
		const { fake, live } = await setup();
		await fake.call('space.create', [{ name: 'Garden', emoji: '🌱' }]);
		await vi.waitFor(() => expect(live.spaces.open.some((s) => s.name === 'Garden')).toBe(true));
	});
});
