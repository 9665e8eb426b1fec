import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { makeSpace, spacesScene } from '../../kernel/fake/spaces';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { draftOf, inputOf, patchOf } from './draft';
import { Managed } from './managed.svelte';

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

async function setup() {
	const fake = new FakeTransport({ pace: 0 });
	spacesScene(fake.world, 'en');
	const live = new Live(makeKernel(fake), fake);
	stops.push(live.start());
	await vi.waitFor(() => expect(live.spaces.loaded && live.sessions.loaded).toBe(true));
	const managed = new Managed(live);
	const opened = async (id: string) => {
		managed.open(id);
		await vi.waitFor(() => expect(managed.view?.space.id).toBe(id));
	};
	const offered = () => live.notices.at(-1)!.offer!;
	return { fake, live, managed, opened, offered };
}

describe('what is written of a space', () => {
	it('is words by commas, paths by lines, and a model with its provider', () => {
		const d = { ...draftOf(), name: ' Work ', words: 'ledger,, parser ', paths: '~/src\n\n~/notes ', model: 'p/a/b' };
		expect(inputOf(d)).toMatchObject({
			name: 'Work',
			words: ['ledger', 'parser'],
			paths: ['~/src', '~/notes'],
			provider: 'p',
			model: 'a/b',
		});
	});

	it('is saved as far as it is other than before', () => {
		const s = makeSpace({ id: 'x', name: 'Work', words: ['ledger'], provider: 'p', model: 'm' });
		expect(patchOf(draftOf(s), s)).toEqual({});
		expect(patchOf({ ...draftOf(s), words: 'ledger, tax' }, s)).toEqual({ words: ['ledger', 'tax'] });
		expect(patchOf({ ...draftOf(s), shared: true }, s)).toEqual({ shared: true });
		expect(patchOf({ ...draftOf(s), model: '' }, s)).toEqual({ provider: '', model: '' });
	});
});

describe('the spaces that are managed', () => {
	it('are those in use with the default one last, or those that are archived', async () => {
		const { managed } = await setup();
		expect(managed.rows.map((s) => s.id)).toEqual([
			'space-home',
			'space-work',
			'space-jeju',
			'space-side',
			'space-tax',
			'',
		]);
		managed.show('archived');
		expect(managed.rows.map((s) => s.id)).toEqual(['space-desk', 'space-blog']);
	});

	it('are activated one at a time, and deactivated', async () => {
		const { fake, live, managed, opened } = await setup();
		await opened('space-tax');
		await managed.activate(managed.view!.space);
		await vi.waitFor(() => expect(live.spaces.active?.id).toBe('space-tax'));
		await managed.activate(live.spaces.get('space-work')!);
		await vi.waitFor(() => expect(live.spaces.list.filter((s) => s.active).map((s) => s.id)).toEqual(['space-work']));
		expect(live.notices.at(-1)?.text).toBe('💼 Work is active. New conversations begin there.');
		await managed.activate();
		await vi.waitFor(() => expect(live.spaces.active).toBeUndefined());
		expect(fake.calls.filter((c) => c.method === 'space.activate').map((c) => c.args)).toEqual([
			['space-tax'],
			['space-work'],
			[''],
		]);
	});

	it('that was active is active again where its archiving is undone', async () => {
		const { live, managed, opened, offered } = await setup();
		await opened('space-tax');
		await managed.activate(managed.view!.space);
		await managed.archive(managed.view!.space);
		await vi.waitFor(() => expect(live.spaces.get('space-tax')?.archived_at).toBeTruthy());
		expect(live.spaces.active).toBeUndefined();
		offered().run();
		await vi.waitFor(() => expect(live.spaces.active?.id).toBe('space-tax'));
	});

	it('say whose folder is gone, and go on with one of their own', async () => {
		const { managed, opened } = await setup();
		await managed.look();
		expect(managed.missing).toEqual(['space-tax']);
		await opened('space-tax');
		expect(managed.view?.gone).toBe(true);
		await managed.useFolder('');
		expect(managed.view).toMatchObject({ gone: false, folder: '~/.oxios/spaces/space-tax/workspace' });
	});

	it('are changed, and keep what was written when the kernel refuses it', async () => {
		const { fake, managed, opened } = await setup();
		await opened('space-jeju');
		managed.edit();
		managed.draft!.name = 'work';
		expect(await managed.save()).toBe(false);
		expect(managed.refused?.code).toBe('conflict');
		expect(managed.draft?.name).toBe('work');
		managed.draft!.name = 'Islands';
		expect(await managed.save()).toBe(true);
		expect(managed.draft).toBeUndefined();
		expect(managed.view?.space.name).toBe('Islands');
		expect(fake.calls.filter((c) => c.method === 'space.update').at(-1)?.args).toEqual([
			'space-jeju',
			{ name: 'Islands' },
		]);
	});

	it('that are not used are those that the kernel archives, and come back', async () => {
		const { live, managed, offered } = await setup();
		expect(managed.stale(90).map((s) => s.id)).toEqual(['space-tax']);
		expect(managed.stale(0)).toEqual([]);
		await managed.archiveStale(90);
		await vi.waitFor(() => expect(live.spaces.get('space-tax')?.archived_at).toBeTruthy());
		offered().run();
		await vi.waitFor(() => expect(live.spaces.get('space-tax')?.archived_at).toBeUndefined());
	});

	it('are merged, which is taken back with what was moved', async () => {
		const { fake, live, managed, offered } = await setup();
		const of = (id: string) => fake.world.sessions.filter((s) => s.space === id).length;
		const [side, work] = [of('space-side'), of('space-work')];
		await managed.merge('space-side', 'space-work');
		expect([of('space-side'), of('space-work')]).toEqual([0, side + work]);
		expect(managed.opened).toBe('space-work');
		await vi.waitFor(() => expect(live.spaces.get('space-side')?.archived_at).toBeTruthy());
		offered().run();
		await vi.waitFor(() => expect(managed.opened).toBe('space-side'));
		expect([of('space-side'), of('space-work')]).toEqual([side, work]);
		await vi.waitFor(() => expect(live.spaces.get('space-side')?.archived_at).toBeUndefined());
	});

	it('with something in them are not removed; empty ones are', async () => {
		const { live, managed } = await setup();
		await expect(managed.remove(live.spaces.get('space-work')!)).rejects.toMatchObject({ code: 'conflict' });
		managed.open('space-blog');
		await managed.remove(live.spaces.get('space-blog')!);
		expect(managed.opened).toBeUndefined();
		await vi.waitFor(() => expect(live.spaces.get('space-blog')).toBeUndefined());
	});

	it('say that the open one was removed elsewhere', async () => {
		const { fake, managed, opened } = await setup();
		await opened('space-blog');
		await fake.call('space.remove', ['space-blog']);
		await managed.load();
		expect(managed.gone).toBe(true);
	});
});
