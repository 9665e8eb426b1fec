import type { Process, RunState } from '../../kernel/api.gen';
import { ended } from '../../kernel/runs';

/** Phase is the state of a run as the table says it: one that waits for those that it forked is told apart. */
export type Phase = RunState | 'other' | 'not_met';

/** Group is a part of the table: what does not go on, what is at work, and how the rest ended. */
export type Group = 'waiting' | 'running' | 'failed' | 'finished';
export type Filter = 'all' | Group;

/** Row is a line of the table. */
export interface Row {
	p: Process;
	phase: Phase;
	group: Group;
	/** how many of its parents stand above it, as it is shown */
	depth: number;
	/** the names of those that it waits for */
	awaits: string[];
}

/** How long an agent that has ended is listed, in milliseconds. */
export const KEPT = 30 * 86_400_000;

const groups: Record<Phase, Group> = {
	waiting: 'waiting',
	other: 'waiting',
	queued: 'waiting',
	paused: 'waiting',
	running: 'running',
	failed: 'failed',
	interrupted: 'failed',
	done: 'finished',
	not_met: 'failed',
	stopped: 'finished',
};

/** rank is who stands first: who waits for the person, who is at work, who will be, and the rest. */
const rank: Record<Phase, number> = {
	waiting: 0,
	running: 1,
	other: 1,
	queued: 2,
	paused: 2,
	failed: 3,
	interrupted: 3,
	done: 3,
	not_met: 3,
	stopped: 3,
};

function childrenOf(list: Iterable<Process>): Map<string, Process[]> {
	const out = new Map<string, Process[]>();
	for (const p of list) {
		if (!p.parent_id) continue;
		const those = out.get(p.parent_id);
		if (those) those.push(p);
		else out.set(p.parent_id, [p]);
	}
	return out;
}

/** belowOf counts those below a run that have not ended: they stop with it. */
export function belowOf(list: Iterable<Process>, id: string): number {
	const children = childrenOf(list);
	const count = (of: string): number =>
		(children.get(of) ?? []).reduce((sum, p) => sum + (ended(p.state) ? 0 : 1) + count(p.id), 0);
	return count(id);
}

/** rootOf is the run that a person started, above this one. */
export function rootOf(list: ReadonlyMap<string, Process>, p: Process): Process {
	const above = p.parent_id ? list.get(p.parent_id) : undefined;
	return above ? rootOf(list, above) : p;
}

/**
 * rowsOf puts the processes in their order: the trees of those that wait for the person first, then what is at work, then
 * the rest, the newest first; and each below its parent.
 */
export function rowsOf(list: Iterable<Process>): Row[] {
	const all = [...list];
	const known = new Set(all.map((p) => p.id));
	const children = childrenOf(all);
	const awaits = new Map<string, string[]>();
	for (const p of all) {
		if (p.state !== 'running' || p.tool !== 'agent') continue;
		const open = (children.get(p.id) ?? []).filter((c) => !ended(c.state));
		if (open.length > 0) awaits.set(p.id, open.map((c) => c.name)); // prettier-ignore
	}
	const phase = (p: Process): Phase => (awaits.has(p.id) ? 'other' : p.not_met ? 'not_met' : p.state);
	const best = new Map<string, number>();
	const bestOf = (p: Process): number => {
		const own = Math.min(rank[phase(p)], ...(children.get(p.id) ?? []).map(bestOf));
		best.set(p.id, own);
		return own;
	};
	const roots = all.filter((p) => !p.parent_id || !known.has(p.parent_id));
	roots.forEach(bestOf);
	const first = (a: Process, b: Process) => best.get(a.id)! - best.get(b.id)!;
	const out: Row[] = [];
	const add = (p: Process, depth: number) => {
		const ph = phase(p);
		out.push({ p, phase: ph, group: groups[ph], depth, awaits: awaits.get(p.id) ?? [] });
		const below = children.get(p.id) ?? [];
		for (const c of below.sort((a, b) => first(a, b) || a.pid - b.pid)) add(c, depth + 1);
	};
	for (const p of roots.sort((a, b) => first(a, b) || b.pid - a.pid)) add(p, 0);
	return out;
}

/** sifted are the rows that fit. One whose parent does not fit moves to the left, so that no line hangs in the air. */
export function sifted(rows: Row[], fits: (r: Row) => boolean): Row[] {
	const depths = new Map<string, number>();
	const out: Row[] = [];
	for (const r of rows) {
		const above = r.p.parent_id ? depths.get(r.p.parent_id) : undefined;
		const depth = above === undefined ? 0 : above + 1;
		if (!fits(r)) continue;
		depths.set(r.p.id, depth);
		out.push(depth === r.depth ? r : { ...r, depth });
	}
	return out;
}

/** counted says how many rows each filter has. */
export function counted(rows: Row[]): Record<Filter, number> {
	const out: Record<Filter, number> = { all: rows.length, waiting: 0, running: 0, failed: 0, finished: 0 };
	for (const r of rows) out[r.group]++;
	return out;
}
