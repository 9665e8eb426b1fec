import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { pastedFiles } from '../../kernel/handed';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import { LONG } from './attach.svelte';
import AttachChips from './AttachChips.svelte';
import { Composer } from './composer.svelte';

const stops: (() => void)[] = [];
beforeEach(() => localStorage.clear());
afterEach(() => {
	cleanup();
	stops.splice(0).forEach((stop) => stop());
});

async function setup() {
	const fake = new FakeTransport({ pace: 0 });
	const live = new Live(makeKernel(fake), fake);
	stops.push(live.start());
	await live.load();
	const composer = new Composer(live, '');
	return { fake, live, composer, all: composer.attachments };
}

const file = (name: string, content = 'text') => new File([content], name);
const settled = (c: Composer) => vi.waitFor(() => expect(c.attachments.busy).toBe(false));
const calls = (fake: FakeTransport, method: string) => fake.calls.filter((c) => c.method === method);

describe('a question about a note', () => {
	const note = 'Broken head.md';

	it('begins a conversation with the note, and leaves what is written alone', async () => {
		const { fake, live, composer, all } = await setup();
		composer.write('A draft');
		const sent = await composer.ask(note, 'What is wrong?');
		expect(live.sessions.get(sent!.session_id)).toBeDefined();
		const [submit] = calls(fake, 'agents.submit').map((c) => c.args[0] as { text: string; attachments: string[] });
		expect([submit!.text, fake.desk.of(submit!.attachments)[0]!.vault]).toEqual(['What is wrong?', note]);
		expect([composer.text, all.empty]).toEqual(['A draft', true]);
	});

	it('waits beside what is written while the folder is not trusted, and goes out then', async () => {
		const { fake, composer, all } = await setup();
		fake.world.trust = {};
		composer.write('A draft');
		expect(await composer.ask(note, 'What is wrong?')).toBeUndefined();
		expect([composer.wanted, composer.text, all.ready[0]?.vault]).toEqual([true, 'A draft\n\nWhat is wrong?', note]);
		await composer.trust('trusted');
		expect(await composer.send()).toBeDefined();
		expect(all.empty).toBe(true);
	});

	it('says why a note cannot go along, and sends nothing', async () => {
		const { fake, composer } = await setup();
		expect(await composer.ask('gone.md', 'Well?')).toBeUndefined();
		expect([composer.failure?.code, calls(fake, 'agents.submit').length]).toEqual(['not_found', 0]);
	});
});

describe('attachments of the composer', () => {
	it('go to the kernel in parts, in order, and out with the message', async () => {
		const { fake, composer, all } = await setup();
		all.addFiles([file('notes.txt', 'a'.repeat(2_500_000))]);
		expect(composer.sendable).toBe(false);
		await settled(composer);
		expect(calls(fake, 'state.attachPart').map((c) => [c.args[1], atob(String(c.args[2])).length])).toEqual([
			[0, 1 << 20],
			[1 << 20, 1 << 20],
			[2 << 20, 2_500_000 - (2 << 20)],
		]);
		composer.write('Read it.');
		expect(await composer.send()).toBeTruthy();
		expect(calls(fake, 'agents.submit')[0]!.args[0]).toMatchObject({
			text: 'Read it.',
			attachments: [expect.any(String)],
		});
		expect(composer.empty).toBe(true);
	});

	it('are a message by themselves', async () => {
		const { composer, all } = await setup();
		all.addFiles([file('photo.png')]);
		await settled(composer);
		await composer.useModel('openai', 'gpt-5-mini');
		expect(composer.sendable).toBe(true);
	});

	it('stay when sending fails, and when the page is opened again', async () => {
		const { fake, live, composer, all } = await setup();
		all.addFiles([file('notes.txt')]);
		await settled(composer);
		composer.write('Read it.');
		const submit = vi.spyOn(fake, 'call').mockRejectedValueOnce(new Error('gone'));
		await composer.send();
		submit.mockRestore();
		expect(composer.failure).toBeTruthy();
		expect(all.chips.map((c) => c.name)).toEqual(['notes.txt']);
		const again = new Composer(live, '');
		await settled(again);
		expect(again.attachments.ready.map((a) => a.name)).toEqual(['notes.txt']);
		expect(new Composer(live, 's-tidy').attachments.empty).toBe(true);
	});

	it('that the kernel has removed meanwhile are named', async () => {
		const { fake, live, composer, all } = await setup();
		all.addFiles([file('old.txt')]);
		await settled(composer);
		fake.desk.calls['state.detach']!(all.ready[0]!.id);
		const again = new Composer(live, '');
		await settled(again);
		expect(again.attachments.chips).toMatchObject([{ name: 'old.txt', why: 'gone' }]);
		expect(again.sendable).toBe(false);
	});

	it('that are refused keep the message from going out without them', async () => {
		const { composer, all } = await setup();
		composer.write('Read it.');
		const huge = file('video.mov');
		Object.defineProperty(huge, 'size', { value: 200 << 20 });
		all.addFiles([file('empty.txt', ''), file('kaputt.pdf', 'broken'), huge]);
		await settled(composer);
		expect(all.failed.map((c) => c.name)).toEqual(['empty.txt', 'kaputt.pdf', 'video.mov']);
		expect(await composer.send()).toBeUndefined();
		for (const c of all.failed) all.remove(c.key);
		expect(composer.sendable).toBe(true);
	});

	it('that are removed on their way are dropped by the kernel too', async () => {
		const { fake, all } = await setup();
		all.addFiles([file('notes.txt')]);
		all.remove(all.chips[0]!.key);
		await vi.waitFor(() => expect(calls(fake, 'state.detach')).toHaveLength(1));
		expect(all.empty).toBe(true);
	});

	it('that cannot be read any more are named', async () => {
		const { composer, all } = await setup();
		const gone = file('moved.txt');
		gone.slice = () => {
			throw new DOMException('moved', 'NotFoundError');
		};
		all.addFiles([gone]);
		await settled(composer);
		expect(all.chips).toMatchObject([{ name: 'moved.txt', why: 'unreadable' }]);
	});

	it('of pasted text become text again', async () => {
		const { composer, all } = await setup();
		const text = 'line\n'.repeat(LONG);
		all.addText(text);
		await settled(composer);
		expect(all.ready).toMatchObject([{ kind: 'paste', name: 'line' }]);
		expect(await all.textOf(all.chips[0]!)).toBe(text);
	});
});

describe('a paste', () => {
	const data = (text: string, ...files: File[]) =>
		({ files, getData: () => text, types: [] }) as unknown as DataTransfer;
	const png = (name: string) => new File(['x'], name, { type: 'image/png' });

	it('of files is files, and one of text with a picture of itself is text', () => {
		expect(pastedFiles(data('', png('image.png')))).toHaveLength(1);
		expect(pastedFiles(data('file:///a.png', png('a.png')))).toHaveLength(1);
		expect(pastedFiles(data('Sum\t42', png('image.png')))).toHaveLength(0);
		expect(pastedFiles(null)).toHaveLength(0);
	});
});

describe('the chips', () => {
	async function show() {
		const made = await setup();
		const onleave = vi.fn();
		const props = { composer: made.composer, onopen: vi.fn(), onmodels: vi.fn(), onleave };
		render(AttachChips, props);
		return { ...made, ...props };
	}

	it('are removed by the keyboard, and the focus goes to the next one', async () => {
		const { composer, all, onleave } = await show();
		all.addFiles([file('a.txt'), file('b.txt')]);
		await settled(composer);
		flushSync();
		const first = screen.getByRole('button', { name: 'Open a.txt' });
		first.focus();
		await fireEvent.keyDown(first, { code: 'Delete' });
		await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Open b.txt' })));
		await fireEvent.keyDown(document.activeElement!, { code: 'Backspace' });
		await waitFor(() => expect(onleave).toHaveBeenCalled());
		expect(all.empty).toBe(true);
	});

	it('name the picture that the model does not see, and offer models that do', async () => {
		const { live, composer, all } = await show();
		const blind = live.models.list.find((m) => m.images === false)!;
		await composer.useModel(blind.provider, blind.id);
		all.addFiles([file('sea.png')]);
		await settled(composer);
		flushSync();
		expect(screen.getByRole('alert').textContent).toContain(`sea.png is a picture, and ${blind.id} does not see`);
		expect(composer.sendable).toBe(false);
		const seeing = live.models.list.filter((m) => m.images).map((m) => m.id);
		const offers = screen.getAllByRole('button').filter((b) => seeing.includes(b.textContent!.trim()));
		expect(offers.length).toBeGreaterThan(0);
		await fireEvent.click(offers[0]!);
		flushSync();
		expect(composer.sendable).toBe(true);
		expect(screen.queryByRole('alert')).toBeNull();
	});

	it('warn when the attachments are larger than the window of the model', async () => {
		const { fake, composer, live, all } = await show();
		const model = live.models.list.find((m) => m.context_length)!;
		await composer.useModel(model.provider, model.id);
		const attach = fake.desk.calls['state.attach']!;
		fake.desk.calls['state.attach'] = (i) => ({ ...(attach(i) as object), tokens: 9_000_000 });
		all.addText('x');
		await settled(composer);
		flushSync();
		expect(screen.getByRole('status').textContent).toContain('9.0M tokens');
		expect(composer.sendable).toBe(true);
	});

	it('say everything in Korean too', async () => {
		i18n.set('ko');
		const { composer, all } = await show();
		all.addFiles([file('메모.txt')]);
		await settled(composer);
		flushSync();
		expect(screen.getByRole('button', { name: '메모.txt 열기' })).toBeTruthy();
		i18n.set('en');
	});
});
