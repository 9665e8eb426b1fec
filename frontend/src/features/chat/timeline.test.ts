import { expect, it } from 'vitest';
import type { RunView } from '../../kernel/api.gen';
import { makeRun, makeStep } from '../../kernel/fake/data';
import type { Turn } from './conversation.svelte';
import { piecesOf } from './timeline';

it('shows room that was made as a row between what was said and done', () => {
	const run = makeRun({ id: 'r', session_id: 's', text: 'work' });
	const step = (kind: 'model' | 'tool' | 'context', name: string, text?: string) =>
		makeStep({ run_id: run.id, kind, name, title: name, text });
	const steps = [step('tool', 'read'), step('context', 'context'), step('tool', 'read'), step('model', 'm', 'Done.')];
	const turn = { id: run.id, messages: [], view: { run, steps, changes: [] } as unknown as RunView } as unknown as Turn;
	const [rows, said] = piecesOf(turn);
	expect(rows?.kind === 'steps' && rows.groups.map((g) => g.steps.map((s) => s.kind))).toEqual([
		['tool'],
		['context'],
		['tool'],
	]);
	expect(said).toMatchObject({ kind: 'said', text: 'Done.' });
});
