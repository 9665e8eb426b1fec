import { beforeEach, expect, it } from 'vitest';
import { makeKernel, type Kernel, type StepView } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { PageKeeper, readingOf, webOf } from './page.svelte';

let transport: FakeTransport, kernel: Kernel;
const step = (id: string): StepView =>
	transport.world.runs.find((r) => r.run.id === 'r-pages')!.steps.find((s) => s.id === id)!;

beforeEach(() => {
	transport = FakeTransport.forPage(new URLSearchParams('scene=pages'));
	kernel = makeKernel(transport);
});

it('a step says which machine it read from, and what it looked for', () => {
	expect(webOf(step('step-page'))).toMatchObject({ host: 'udo-ferry.example' });
	expect(webOf(step('step-search'))).toEqual({ words: 'Udo last ferry' });
	expect(webOf({ ...step('step-page'), name: 'read' })).toBeUndefined();
	expect(webOf({ ...step('step-page'), args: { url: 'no address' } })?.host).toBe('no address');
});

it('a page is told from what the journal put in its place', () => {
	expect(readingOf(step('step-page'))).toEqual({
		url: 'https://www.udo-ferry.example/times?season=winter',
		title: 'Udo ferry timetable',
	});
	expect(readingOf(step('step-freed'))).toBeUndefined();
});

it('a page is saved from its run, and the note can be taken back', async () => {
	const keeper = new PageKeeper();
	await keeper.save(kernel, step('step-page'));
	expect(keeper.saved?.path).toBe('Pages/Udo ferry timetable.md');
	const note = await kernel.knowledge.read(keeper.saved!.path);
	expect(note.provenance?.run).toBe('r-pages');
	await keeper.undo(kernel);
	expect(keeper.saved).toBeUndefined();
	await expect(kernel.knowledge.read('Pages/Udo ferry timetable.md')).rejects.toMatchObject({ code: 'not_found' });
});

it('what somebody wrote into the note meanwhile stays, and the person is told', async () => {
	const keeper = new PageKeeper();
	await keeper.save(kernel, step('step-page'));
	transport.vault.outside(keeper.saved!.path, 'mine');
	await keeper.undo(kernel);
	expect(keeper.failure?.code).toBe('conflict');
	expect(keeper.saved).toBeDefined();
});

it('one that the journal let go of is read again', async () => {
	const keeper = new PageKeeper();
	await keeper.save(kernel, step('step-freed'), 'https://visit-udo.example/');
	expect(transport.calls.at(-1)).toEqual({
		method: 'knowledge.savePage',
		args: [{ url: 'https://visit-udo.example/' }],
	});
});
