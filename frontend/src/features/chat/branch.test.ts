import { cleanup, render, screen } from '@testing-library/svelte';
import { flushSync, tick } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { makeRun, makeStep } from '../../kernel/fake/data';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { contextOf, fillOf, marksBefore } from './branch';
import { Conversation, type Turn } from './conversation.svelte';
import Siblings from './Siblings.svelte';

const stops: (() => void)[] = [];
afterEach(() => {
	cleanup();
	stops.splice(0).forEach((stop) => stop());
});

const turn = (id: string, run: Partial<ReturnType<typeof makeRun>> = {}): Turn => ({
	id,
	messages: [],
	view: { run: makeRun({ id, session_id: 's', text: id, ...run }), steps: [], changes: [] },
});
const kinds = (marks: ReturnType<typeof marksBefore>) =>
	Object.fromEntries([...marks].map(([at, list]) => [at, list.map((m) => (m.kind === 'model' ? m.to : m.kind))]));

describe('the lines between turns', () => {
	it('say where the model changed, by provider where it has the same name', () => {
		const marks = marksBefore(
			[
				turn('a', { provider: 'openai', model: 'gpt-5-mini' }),
				turn('b', { provider: 'ollama', model: 'qwen3:14b' }),
				turn('c', { provider: 'ollama', model: 'qwen3:14b' }),
				turn('d', { provider: 'work', model: 'qwen3:14b' }),
			],
			undefined,
		);
		expect(kinds(marks)).toEqual({ b: ['qwen3:14b'], d: ['work qwen3:14b'] });
	});

	it('say behind the copied part where the conversation came from', () => {
		const origin = { session_id: 's-old', run_id: 'r-old', title: 'Old' };
		const copies = [turn('a', { copy_of: 'r-1' }), turn('b', { copy_of: 'r-2' })];
		expect(kinds(marksBefore([...copies, turn('c')], origin))).toEqual({ c: ['origin'] });
		expect(kinds(marksBefore(copies, origin))).toEqual({ '': ['origin'] });
		expect(kinds(marksBefore([turn('c')], origin))).toEqual({ c: ['origin'] });
		expect(kinds(marksBefore([turn('c')], origin, 2)), 'it stands among what is earlier').toEqual({});
	});
});

describe('the context meter', () => {
	it('reads the last answer that has figures', () => {
		const step = (context: number) => makeStep({ run_id: 'r', kind: 'model', context });
		const view = (...steps: ReturnType<typeof step>[]) => ({ run: turn('r').view.run, steps, changes: [] });
		expect(contextOf([view(step(100), step(900)), view(step(0))])).toBe(900);
		expect(contextOf([])).toBe(0);
	});

	it('warns near the end of what a run uses, and of no model whose length is unknown', () => {
		expect(fillOf(3_000, { window: 32_768, context_length: 131_072 })).toMatchObject({ percent: 9, near: false });
		expect(fillOf(27_000, { window: 32_768 })).toMatchObject({ percent: 82, near: true });
		expect(fillOf(1, { context_length: 1_000_000 })).toMatchObject({ percent: 1, near: false });
		expect(fillOf(90_000, { window: 32_768 })).toMatchObject({ percent: 100, near: true });
		expect(fillOf(90_000, undefined)).toMatchObject({ window: 0, near: false });
	});
});

async function setup(id = 's-parser') {
	const fake = new FakeTransport({ pace: 0 });
	const kernel = makeKernel(fake);
	const live = new Live(kernel, fake);
	stops.push(live.start());
	await vi.waitFor(() => expect(live.models.loaded && live.sessions.loaded).toBe(true));
	const c = new Conversation(kernel, id);
	stops.push(
		live.onevent((e) => c.receive(e)),
		() => c.close(),
	);
	await c.load();
	return { fake, live, c };
}

const asked = (c: Conversation) => c.runs.map((v) => v.run.text);
const ended = (c: Conversation) => vi.waitFor(() => expect(c.runs.at(-1)?.run.state).toBe('done'));

describe('a conversation with branches', () => {
	it('shows an edited message in place of the old one, with its versions', async () => {
		const { c } = await setup();
		await c.send({ text: 'Look around.' });
		await ended(c);
		const before = asked(c);
		await c.edit(c.runs.at(-1)!.run.id, 'Look closer.');
		await vi.waitFor(() => expect(c.runs.at(-1)?.siblings).toHaveLength(2));
		await ended(c);
		expect(asked(c)).toEqual([...before.slice(0, -1), 'Look closer.']);
		expect(c.runs.at(-1)).toMatchObject({ sibling: 1, edited: true });
		expect(c.turns.at(-1)!.messages.map((m) => m.role)).toEqual(['user', 'assistant']);
	});

	it('goes back to a version with all that followed it', async () => {
		const { c } = await setup();
		const [now] = c.runs;
		await c.send({ text: 'Look around.' });
		await ended(c);
		await c.choose(now!.siblings![0]!);
		expect(c.runs).toHaveLength(1);
		await c.choose(now!.run.id);
		expect(asked(c).at(-1)).toBe('Look around.');
	});

	it('has a message answered again, by another model for this answer', async () => {
		const { c, fake } = await setup();
		const { run } = c.runs[0]!;
		await c.again(run.id, { provider: 'ollama', id: 'gemma3:4b' });
		await vi.waitFor(() => expect(c.runs[0]?.siblings).toHaveLength(3));
		expect(c.runs[0]!.run).toMatchObject({ text: run.text, model: 'gemma3:4b', provider: 'ollama' });
		expect(c.runs[0]!.edited).toBe(true); // the first version had other words
		expect(fake.world.sessions.find((s) => s.id === c.id)?.model).toBe('gpt-5-mini');
	});

	it('follows a branch that was chosen elsewhere', async () => {
		const { c, fake } = await setup();
		const [first] = c.runs[0]!.siblings!;
		await fake.call('state.chooseBranch', [first]);
		await vi.waitFor(() => expect(c.runs[0]?.run.id).toBe(first));
	});

	it('keeps what is shown when the branch cannot be changed', async () => {
		const { c } = await setup();
		const [old] = c.runs[0]!.siblings!;
		await c.send({ text: 'Speak for long.' });
		await expect(c.choose(old!)).rejects.toMatchObject({ code: 'busy' });
		expect(c.failure).toBeUndefined();
		expect(asked(c).at(-1)).toBe('Speak for long.');
	});

	it('takes the newest answer when two are read at once', async () => {
		const { c } = await setup();
		const [old] = c.runs[0]!.siblings!;
		await Promise.all([c.load(), c.choose(old!)]);
		expect(c.runs[0]!.run.id).toBe(old);
	});

	it('becomes another conversation that knows where it comes from', async () => {
		const { c, fake, live } = await setup();
		const id = await c.branch(c.runs[0]!.run.id);
		const b = new Conversation(makeKernel(fake), id);
		await b.load();
		expect(asked(b)).toEqual(asked(c));
		expect(b.origin).toEqual({ session_id: c.id, run_id: c.runs[0]!.run.id, title: c.session!.title });
		expect(live.sessions.get(id)?.title).toBe(`${c.session!.title} (branch)`);
	});
});

describe('the versions of a message', () => {
	const show = (at: number, busy = false) => {
		const onchoose = vi.fn();
		render(Siblings, { ids: ['a', 'b', 'c'], at, busy, onchoose });
		const group = screen.getByRole('group', { name: 'Versions of this message' });
		const press = (code: string) => {
			group.querySelector('button')!.dispatchEvent(new KeyboardEvent('keydown', { code, bubbles: true }));
			flushSync();
		};
		return { onchoose, group, press };
	};

	it('go by button and by arrow key', async () => {
		const { onchoose, press, group } = show(1);
		screen.getByRole('button', { name: 'Previous version (this is 2 of 3)' }).click();
		press('ArrowRight');
		await tick();
		expect(onchoose.mock.calls).toEqual([
			['a', -1],
			['c', 1],
		]);
		expect(group.textContent).toContain('2 / 3');
	});

	it('end at both ends, and stand still while an agent is at work', () => {
		const first = show(0);
		first.press('ArrowLeft');
		expect(first.onchoose).not.toHaveBeenCalled();
		cleanup();
		const busy = show(1, true);
		busy.press('ArrowLeft');
		screen.getByRole('button', { name: /^Next/ }).click();
		expect(busy.onchoose).not.toHaveBeenCalled();
	});
});
