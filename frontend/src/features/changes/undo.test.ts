import { expect, it } from 'vitest';
import type { Kernel, UndoFile, UndoInput, UndoPlan, UndoQuery } from '../../kernel/api.gen';
import { Failure } from '../../kernel/transport';
import { groupsOf, Undoing } from './undo.svelte';

const file = (path: string, status: string, more: Partial<UndoFile> = {}): UndoFile => ({
	path,
	does: 'restores',
	status,
	size: 1,
	added: 1,
	removed: 1,
	binary: false,
	by: ['r'],
	...more,
});

function plan(...files: UndoFile[]): UndoPlan {
	const runs = [{ id: 'r', pid: 1, name: 'run', files: files.length }];
	return {
		run_id: 'r',
		alone: false,
		runs,
		family: 1,
		redo: false,
		files,
		ready: 0,
		conflicts: 0,
		impossible: 0,
		hash: `hash of ${files.length}`,
	};
}

/** kernel answers previews with the plans in turn, and an undo with what apply says. */
function kernel(plans: UndoPlan[], apply: (q: UndoInput) => UndoPlan) {
	const asked: UndoQuery[] = [];
	const agents = {
		undoPreview: (q: UndoQuery) => {
			asked.push(q);
			return Promise.resolve(plans[Math.min(asked.length, plans.length) - 1]!);
		},
		undo: (q: UndoInput) => new Promise((yes) => yes(apply(q))),
		redo: (q: UndoInput) => new Promise((yes) => yes(apply({ ...q, hash: `redo ${q.hash}` }))),
	};
	return { asked, kernel: { agents } as unknown as Kernel };
}

it('files stand under what happens to them, what is decided after what is done', () => {
	const groups = groupsOf(
		plan(file('a', 'conflict'), file('b', 'ready'), file('c', 'impossible'), file('d', 'ready'), file('e', 'done')),
	);
	expect(groups.map((g) => `${g.status} ${g.files.map((f) => f.path).join('')}`)).toEqual([
		'ready bd',
		'conflict a',
		'impossible c',
		'done e',
	]);
});

it('what was shown is done, with the conflicts that the person decided', async () => {
	const shown = plan(
		file('a', 'ready'),
		file('dir', 'ready', { folder: true }),
		file('mine', 'conflict', { forces: true }),
		file('other', 'conflict', { forces: true }),
	);
	const sent: UndoInput[] = [];
	const k = kernel([shown], (q) => {
		sent.push(q);
		return plan(...shown.files.map((f) => ({ ...f, status: f.path === 'other' ? 'conflict' : 'done' })));
	});
	const u = new Undoing(k.kernel, 'r', false, ['x']);
	await u.load();
	expect([u.count, u.all]).toEqual([1, 3]);
	u.choose('mine', true);
	u.choose('other', true);
	u.choose('other', false);
	expect(u.count).toBe(2);
	expect(await u.apply()).toBe(2);
	expect(sent).toEqual([{ run_id: 'r', alone: false, paths: ['x'], force: ['mine'], hash: 'hash of 4' }]);
	expect(u.over).toBe(true);
});

it('what is other than it was shown is shown anew, and nothing that was decided before holds', async () => {
	const k = kernel(
		[plan(file('a', 'conflict', { forces: true })), plan(file('a', 'ready'), file('b', 'ready'))],
		() => {
			throw new Failure({ code: 'conflict', message: 'Something has changed since this was shown.' });
		},
	);
	const u = new Undoing(k.kernel, 'r', false);
	await u.load();
	u.choose('a', true);
	expect(await u.apply()).toBeUndefined();
	expect(u.plan?.files.length).toBe(2);
	expect(u.forced).toEqual([]);
	expect(u.failure?.code).toBe('conflict');
	expect(u.over).toBe(false);
});

it('a redo asks for a redo, and tells what was left', async () => {
	const shown = plan(file('a', 'ready'), file('b', 'ready'));
	let hash = '';
	const k = kernel([shown], (q) => {
		hash = q.hash ?? '';
		return plan(file('a', 'done'), file('b', 'left'));
	});
	const u = new Undoing(k.kernel, 'r', true);
	await u.load();
	expect(k.asked[0]?.redo).toBe(true);
	expect(await u.apply()).toBe(1);
	expect(hash).toBe('redo hash of 2');
	expect(u.groups.map((g) => g.status)).toEqual(['left', 'done']);
});

it('the agents of an undo are named with what they changed, and can be left out', async () => {
	const all = {
		...plan(file('a', 'ready'), file('b', 'ready', { by: ['c', 'r'] })),
		runs: [
			{ id: 'r', pid: 1, name: 'run', files: 2 },
			{ id: 'c', pid: 2, name: 'Writer', files: 1 },
		],
		family: 3,
	};
	const sent: UndoInput[] = [];
	const k = kernel([all, { ...plan(file('a', 'ready')), alone: true, family: 3 }], (q) => {
		sent.push(q);
		return { ...plan(file('a', 'done')), alone: true, family: 3 };
	});
	const u = new Undoing(k.kernel, 'r', false);
	expect(u.choosable).toBe(false);
	await u.load();
	expect(all.files.map((f) => u.by(f))).toEqual(['run', 'run, Writer']);
	expect([u.choosable, u.agents.length]).toEqual([true, 2]);
	await u.only(true);
	expect(k.asked.map((q) => q.alone)).toEqual([false, true]);
	expect([u.choosable, u.agents.length, u.by(u.plan!.files[0]!)]).toEqual([true, 0, '']);
	expect(await u.apply()).toBe(1);
	expect(sent[0]?.alone).toBe(true);
	expect(u.choosable).toBe(false);
});

it('a large undo says how far it is, can be stopped, and goes on from there', async () => {
	const shown = plan(file('a', 'ready'), file('b', 'ready'), file('c', 'ready'));
	const k = kernel([shown, plan(file('b', 'ready'), file('c', 'ready'))], (q) =>
		q.hash === 'hash of 3'
			? plan(file('a', 'done'), file('b', 'stopped'), file('c', 'stopped'))
			: plan(file('b', 'done'), file('c', 'done')),
	);
	const stopped: string[] = [];
	const agents = k.kernel.agents as unknown as Record<string, unknown>;
	agents.stopUndo = (id: string) => Promise.resolve(void stopped.push(id));
	const u = new Undoing(k.kernel, 'r', false);
	await u.load();
	const event = (run: string, done: number) => ({
		seq: 1,
		time: '',
		kind: 'undo.progress',
		run_id: run,
		data: { redo: false, done, files: 3 },
	});
	u.hear(event('r', 1));
	expect(u.progress).toBeUndefined(); // not ours: none is at work here
	const over = u.apply();
	u.hear(event('other', 2));
	expect(u.progress).toBeUndefined();
	u.hear(event('r', 1));
	expect(u.progress?.done).toBe(1);
	await u.halt();
	expect(stopped).toEqual(['r']);
	expect(await over).toBe(1);
	expect([u.progress, u.halted, u.halting]).toEqual([undefined, { done: 1, all: 3 }, false]);
	expect(u.groups.map((g) => g.status)).toEqual(['stopped', 'done']);
	await u.again();
	expect([u.over, u.count]).toEqual([false, 2]);
	expect(await u.apply()).toBe(2);
	expect(u.halted).toBeUndefined();
});
