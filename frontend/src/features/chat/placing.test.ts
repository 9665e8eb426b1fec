import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { Composer } from './composer.svelte';

const stops: (() => void)[] = [];
afterEach(() => {
	stops.splice(0).forEach((stop) => stop());
	localStorage.clear();
});

async function setup(change: (fake: FakeTransport) => void = () => {}) {
	const fake = new FakeTransport({ pace: 0 });
	change(fake);
	const live = new Live(makeKernel(fake), fake);
	stops.push(live.start());
	await vi.waitFor(() => expect(live.spaces.loaded && live.sessions.loaded).toBe(true));
	const composer = new Composer(live, '');
	const write = async (text: string) => {
		composer.write(text);
		composer.follow();
		await vi.waitFor(() => expect(composer.placing.found).toBeDefined());
	};
	const sent = async () => {
		await composer.send();
		return fake.calls.filter((c) => c.method === 'agents.submit').at(-1)!.args[0];
	};
	return { fake, live, composer, write, sent };
}

describe('the space of a new conversation', () => {
	it('is found once what is written rests, by what told', async () => {
		const { fake, composer, write } = await setup();
		composer.write('the rec');
		composer.follow();
		await write('the receipts');
		expect(composer.space).toBe('space-home');
		expect(composer.placing.found).toMatchObject({ why: 'word', named: 'receipts' });
		expect(fake.calls.filter((c) => c.method === 'space.detect')).toHaveLength(1);
	});

	it('shows the folder and the mode that it would have there, and leaves them to the kernel', async () => {
		const { composer, write, sent } = await setup();
		await write('Look at ~/src/ledger again');
		expect(composer.folder).toBe('~/src/ledger');
		expect(composer.mode).toBe('ask');
		expect(await sent()).toEqual({ text: 'Look at ~/src/ledger again' });
	});

	it('asks for no trust in a folder that Oxios made for it, unless there is something in it to follow', async () => {
		const { composer, write } = await setup();
		await write('the receipts');
		expect(composer.own).toBe(true);
		const made = { exists: true, refused: false, trust: '' } as NonNullable<typeof composer.place>;
		composer.place = made;
		expect(composer.asks).toBe(false);
		composer.place = { ...made, instructions: { name: 'AGENTS.md' } } as typeof made;
		expect(composer.asks).toBe(true);
	});

	it('is the one that was chosen, and what was chosen beside it is sent too', async () => {
		const { composer, write, sent } = await setup();
		await write('the receipts');
		await composer.useMode('autonomous');
		await composer.useSpace('space-jeju');
		composer.follow();
		await vi.waitFor(() => expect(composer.placing.view?.space.id).toBe('space-jeju'));
		expect(composer.placing.why).toBe('person');
		expect(await sent()).toEqual({ text: 'the receipts', space: 'space-jeju', mode: 'autonomous' });
	});

	it('is the one that is looked at, until it is left to be found', async () => {
		const { live, composer, write, sent } = await setup();
		live.spaces.choose('space-work');
		composer.follow();
		expect(composer.space).toBe('space-work');
		await composer.useSpace(null);
		await write('the receipts');
		expect(composer.space).toBe('space-home');
		expect(await sent()).toEqual({ text: 'the receipts' });
	});

	it('is the active one before anything is written, and as long as nothing names another', async () => {
		const { fake, live, composer, write, sent } = await setup();
		await fake.call('space.activate', ['space-work']);
		await vi.waitFor(() => expect(live.spaces.active?.id).toBe('space-work'));
		composer.follow();
		await vi.waitFor(() => expect(composer.placing.view?.space.id).toBe('space-work'));
		expect([composer.space, composer.placing.why, composer.mode]).toEqual(['space-work', 'active', 'ask']);
		expect(fake.calls.some((c) => c.method === 'space.detect')).toBe(false);
		await write('Go on with it');
		expect(composer.space).toBe('space-work');
		await write('the receipts');
		await vi.waitFor(() => expect(composer.space).toBe('space-home'));
		expect(await sent()).toEqual({ text: 'the receipts' });
	});

	it('shows no wider mode of the active one for a folder that was chosen', async () => {
		const { fake, live, composer } = await setup((fake) => {
			Object.assign(fake.world.spaces[1]!, { mode: 'autonomous', active: true });
		});
		composer.write('Go on with it');
		composer.follow();
		await vi.waitFor(() => expect(composer.mode).toBe('autonomous'));
		composer.placing.follow('Go on with it', '/home/minji/Downloads');
		await vi.waitFor(() => expect(composer.placing.found?.why).toBe('active'));
		expect(composer.mode).toBe('guarded');
		await fake.call('space.activate', ['']);
		await vi.waitFor(() => expect(live.spaces.active).toBeUndefined());
	});

	it('is none that was archived meanwhile', async () => {
		const { fake, live, composer } = await setup();
		await composer.useSpace('space-jeju');
		await fake.call('space.archive', ['space-jeju']);
		await vi.waitFor(() => expect(live.spaces.archived).toHaveLength(1));
		expect(composer.placing.wanted).toBeNull();
	});

	it('is not asked for where there is only the default one', async () => {
		const { fake, composer, sent } = await setup((fake) => (fake.world.spaces = []));
		composer.write('the receipts');
		composer.follow();
		expect(await sent()).toMatchObject({ folder: '/home/minji/Oxios', mode: 'guarded', model: 'qwen3:14b' });
		expect(fake.calls.some((c) => c.method === 'space.detect')).toBe(false);
	});

	it('is left to the kernel when it could not be found', async () => {
		const { composer, sent } = await setup((fake) => {
			const call = fake.call.bind(fake);
			fake.call = (method, args) =>
				method === 'space.detect' ? Promise.reject(new Error('no answer')) : call(method, args);
		});
		composer.write('the receipts');
		composer.follow();
		expect(await sent()).toEqual({ text: 'the receipts' });
	});
});

describe('the space of a conversation', () => {
	it('is corrected at once, and is then the choice of the person', async () => {
		const { live, fake } = await setup();
		const composer = new Composer(live, 's-photos');
		expect(composer.space).toBe('space-jeju');
		expect(await composer.useSpace('space-work')).toBe(true);
		expect(composer.space).toBe('space-work');
		expect(composer.session?.space_why).toBe('person');
		expect(fake.calls.filter((c) => c.method === 'space.move').at(-1)?.args).toEqual([['s-photos'], 'space-work']);
	});

	it('stays when the kernel refuses, and says why', async () => {
		const { live } = await setup();
		const composer = new Composer(live, 's-photos');
		expect(await composer.useSpace('space-nowhere')).toBe(false);
		expect(composer.space).toBe('space-jeju');
		expect(live.notices.at(-1)?.told?.code).toBe('not_found');
	});
});
