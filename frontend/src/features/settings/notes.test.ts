import { beforeEach, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { NotesPage } from './notes.svelte';

let transport: FakeTransport, live: Live;

beforeEach(async () => {
	transport = new FakeTransport({ pace: 0 });
	live = new Live(makeKernel(transport), transport);
	live.start();
	await live.load();
});

it('another folder is used at once, and the open note is written before', async () => {
	const left: string[] = [];
	const page = new NotesPage(live, async () => void left.push(live.setting('vault_folder')));
	await page.load();
	expect(page.own).toBe(true);
	expect(await page.use('/home/minji/Documents')).toBe(true);
	expect(left).toEqual(['']);
	expect(page.state).toMatchObject({ dir: '/home/minji/Documents', notes: 2, history: false });
	await page.use('');
	expect(page.own).toBe(true);
});

it('a reading that answers late does not hide what a later one found', async () => {
	const page = new NotesPage(live, async () => {});
	const { state } = live.kernel.knowledge;
	const there = await state();
	const gone: typeof there = {
		...there,
		problem: { code: 'not_found', message: 'The folder of the notes is not there.' },
	};
	let late: (s: typeof there) => void = () => {};
	vi.spyOn(live.kernel.knowledge, 'state')
		.mockReturnValueOnce(new Promise<typeof there>((done) => (late = done)))
		.mockResolvedValueOnce(gone);
	const first = page.load();
	await page.load();
	late(there);
	await first;
	expect(page.state?.problem?.code).toBe('not_found');
});

it('one that cannot be used is refused, and the old one stays', async () => {
	const page = new NotesPage(live, async () => {});
	await page.load();
	expect(await page.use('/media/gone')).toBe(false);
	expect(page.refused?.message).toContain('/media/gone');
	expect(page.own).toBe(true);
});

it('the note of today is shown as it would be while the journal is typed', async () => {
	const page = new NotesPage(live, async () => {});
	const stop = page.follow();
	await vi.waitFor(() => expect(page.day?.path).toMatch(/^journal\/\d{4}-\d\d-\d\d\.md$/));
	page.type('folder', 'days');
	page.type('template', '# {{title}}\n\nGood morning.');
	await vi.waitFor(() => expect(page.day?.path).toMatch(/^days\//));
	expect(page.day?.text).toContain('Good morning.');
	expect(page.changed).toBe(true);
	await page.save();
	expect(live.setting('journal_template')).toBe('# {{title}}\\n\\nGood morning.');
	expect(page.changed).toBe(false);
	page.type('format', '..');
	await vi.waitFor(() => expect(page.wrong).toBeDefined());
	page.discard();
	await vi.waitFor(() => expect(page.wrong).toBeUndefined());
	stop();
});
