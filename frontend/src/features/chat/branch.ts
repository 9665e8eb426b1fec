import type { Model, Origin, RunView } from '../../kernel/api.gen';
import type { Turn } from './conversation.svelte';

/** Mark is a thin line between two turns: the model changed, or the conversation was branched from another here. */
export type Mark =
	| { kind: 'model'; id: string; from: string; to: string; provider: string; model: string }
	| { kind: 'origin'; id: string; origin: Origin };

/**
 * marksBefore are the lines in front of each turn, by its id, and behind the last one under ''. With earlier turns that
 * are not here, the line of the origin may stand among those.
 */
export function marksBefore(turns: Turn[], origin: Origin | undefined, earlier = 0): Map<string, Mark[]> {
	const out = new Map<string, Mark[]>();
	const put = (at: string, mark: Mark) => out.set(at, [...(out.get(at) ?? []), mark]);
	if (origin) {
		const copied = turns.findLastIndex((t) => t.view.run.copy_of);
		if (copied >= 0 || earlier === 0) put(turns[copied + 1]?.id ?? '', { kind: 'origin', id: 'origin', origin });
	}
	for (const [i, turn] of turns.entries()) {
		const before = turns[i - 1]?.view.run;
		const { provider, model } = turn.view.run;
		if (!before || (before.provider === provider && before.model === model)) continue;
		const name = (r: { provider: string; model: string }) =>
			before.model === model ? `${r.provider} ${r.model}` : r.model;
		put(turn.id, {
			kind: 'model',
			id: `${turn.id}-model`,
			from: name(before),
			to: name(turn.view.run),
			provider,
			model,
		});
	}
	return out;
}

/** contextOf is how many tokens the conversation had with its last answer; 0 while that is not known. */
export function contextOf(runs: RunView[]): number {
	for (const r of [...runs].reverse()) {
		const last = r.steps.findLast((s) => (s.context ?? 0) > 0);
		if (last) return last.context!;
	}
	return 0;
}

/** From this share on a conversation comes near to the end of what a model holds. */
const NEAR = 0.8;

/** Fill is how full a model's window is. */
export interface Fill {
	used: number;
	/** window is 0 where it is not known. */
	window: number;
	/** percent is rounded; a conversation that has begun has at least 1. */
	percent: number;
	near: boolean;
}

export function fillOf(used: number, model: Pick<Model, 'window' | 'context_length'> | undefined): Fill {
	const window = model?.window || model?.context_length || 0;
	const share = window > 0 ? used / window : 0;
	return { used, window, percent: Math.min(100, Math.max(1, Math.round(share * 100))), near: share >= NEAR };
}
