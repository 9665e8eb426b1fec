import type { Attachment, Evaluation, Message, StepView } from '../../kernel/api.gen';
import type { Turn } from './conversation.svelte';

/** Piece is one thing that the timeline of a run shows, from top to bottom. */
export type Piece =
	| { kind: 'person'; id: string; text: string; first: boolean; attached: Attachment[] }
	| { kind: 'thought'; id: string; text: string; ms: number }
	| { kind: 'said'; id: string; text: string }
	| { kind: 'note'; id: string; text: string; ko: string }
	| { kind: 'steps'; id: string; groups: Group[] }
	| { kind: 'team'; id: string; step: StepView }
	| { kind: 'evaluated'; id: string; evaluation: Evaluation };

/** Group is one row of steps: a single one, or repeats of the same tool. */
export interface Group {
	id: string;
	name: string;
	steps: StepView[];
}

/** From how many repeats on steps of one tool become one row. */
const FOLD = 3;
const folding = new Set(['read', 'ls', 'grep', 'find', 'edit', 'write']);

/** fold joins neighbours of the same tool that ended well. Whatever needs a look stays by itself. */
export function fold(steps: StepView[]): Group[] {
	const runs: Group[] = [];
	for (const s of steps) {
		const last = runs.at(-1);
		const plain = folding.has(s.name) && s.state === 'closed' && s.outcome === 'ok';
		if (plain && last && last.name === s.name && last.steps[0]?.outcome === 'ok') last.steps.push(s);
		else runs.push({ id: s.id, name: plain ? s.name : '', steps: [s] });
	}
	return runs.flatMap((g) =>
		g.steps.length >= FOLD ? [g] : g.steps.map((s) => ({ id: s.id, name: s.name, steps: [s] })),
	);
}

/** piecesOf lays a turn out. What a message repeats of its steps is shown once. */
export function piecesOf(turn: Turn): Piece[] {
	const out: Piece[] = [];
	const first = turn.messages.find((m) => m.role === 'user');
	if (first)
		out.push({ kind: 'person', id: first.id, text: first.content, first: true, attached: first.attachments ?? [] });
	let row: StepView[] = [];
	const close = () => {
		if (row.length > 0) out.push({ kind: 'steps', id: row[0]!.id, groups: fold(row) });
		row = [];
	};
	let said = false;
	for (const s of turn.view.steps) {
		if (s.kind === 'tool' || s.kind === 'check' || s.kind === 'context') {
			row.push(s);
			if (s.name === 'begin_task' && s.started_at && (s.state !== 'closed' || s.outcome === 'ok')) {
				close();
				out.push({ kind: 'team', id: `${s.id}-team`, step: s });
			}
			continue;
		}
		if (s.kind === 'evaluation') {
			close();
			if (s.args) out.push({ kind: 'evaluated', id: s.id, evaluation: s.args as Evaluation });
			continue;
		}
		if (s.kind === 'message') {
			if (s.agent?.from) continue; // what other agents said stands in Agents: here is one voice
			close();
			out.push({ kind: 'person', id: s.id, text: s.text ?? '', first: false, attached: s.attachments ?? [] });
			continue;
		}
		if (s.kind === 'note') {
			close();
			out.push({ kind: 'note', id: s.id, text: s.title ?? '', ko: s.title_ko ?? '' });
			continue;
		}
		if (s.stand?.why) {
			close();
			out.push({ kind: 'note', id: `${s.id}-stand`, text: s.stand.why.en, ko: s.stand.why.ko ?? '' });
		}
		if (s.detail) {
			close();
			out.push({ kind: 'thought', id: `${s.id}-thought`, text: s.detail, ms: s.thought_ms ?? 0 });
		}
		if (s.text) {
			close();
			said = true;
			out.push({ kind: 'said', id: s.id, text: s.text });
		}
	}
	close();
	const answer = answerOf(turn);
	if (answer?.content && !said) {
		if (answer.reasoning) out.push({ kind: 'thought', id: `${answer.id}-thought`, text: answer.reasoning, ms: 0 });
		out.push({ kind: 'said', id: answer.id, text: answer.content });
	}
	return out;
}

/** answerOf is the message that the run left, once it has ended. */
export function answerOf(turn: Turn): Message | undefined {
	return turn.messages.findLast((m) => m.role === 'assistant');
}

/** How a turn ended, when it did not end well. */
export type Ending = 'stopped' | 'cut' | 'failed' | 'forced' | 'interrupted' | 'missed';

export function endingOf(turn: Turn): Ending | undefined {
	const { run } = turn.view;
	const status = answerOf(turn)?.status;
	if (run.state === 'stopped') return 'stopped';
	if (run.state === 'interrupted') return 'interrupted';
	if (status === 'cut' || run.error?.code === 'stream_cut') return 'cut';
	if (run.state === 'failed') return 'failed';
	return status === 'forced' || status === 'missed' ? status : undefined;
}
