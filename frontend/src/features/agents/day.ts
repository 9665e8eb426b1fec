import { ended } from '../../kernel/runs';
import type { Row } from './rows';

/** Part is a stretch of a bar, in hundredths of its length. */
export interface Part {
	/** ended also stands for an agent that is paused */
	kind: 'runs' | 'waits' | 'ended';
	at: number;
	width: number;
}

/** Bar says when one agent was at work today. */
export interface Bar {
	id: string;
	name: string;
	parts: Part[];
	from: number;
	until: number;
	/** open says that it has not ended */
	open: boolean;
}

/** Day is what ran since midnight, on one scale. */
export interface Day {
	from: number;
	until: number;
	bars: Bar[];
	/** more counts those that are not drawn. */
	more: number;
	/** ticks are the hours below the bars, with their place in hundredths. */
	ticks: { time: number; at: number }[];
}

const HOUR = 3_600_000;
/** How many bars are drawn: what is looked at, not all that ever ran. */
const BARS = 8;
/** How many hours are written below them at most. */
const TICKS = 6;
/** The least that a bar is wide, so that it is seen. */
const LEAST = 0.8;

/** dayOf lays out the agents of today that no other one forked. since says when a run began to wait for the person. */
export function dayOf(rows: Row[], since: (id: string) => string | undefined, now: number): Day | undefined {
	const midnight = new Date(now).setHours(0, 0, 0, 0);
	const time = (at: string) => Math.max(midnight, Date.parse(at));
	const mine = rows.filter((r) => {
		if (r.p.parent_id || !r.p.started_at) return false;
		return Date.parse(r.p.ended_at ?? new Date(now).toISOString()) >= midnight;
	});
	if (mine.length === 0) return undefined;
	const shown = mine.slice(0, BARS);
	const first = Math.min(...shown.map((r) => time(r.p.started_at!)));
	const from = Math.max(midnight, Math.floor(first / HOUR) * HOUR);
	const until = Math.max(now, from + 60_000);
	const place = (at: number) => Math.max(0, Math.min(100, ((at - from) / (until - from)) * 100));
	const part = (kind: Part['kind'], a: number, b: number): Part => {
		const width = Math.max(LEAST, place(b) - place(a));
		return { kind, at: Math.min(place(a), 100 - width), width };
	};
	const bars = shown.map((r): Bar => {
		const a = time(r.p.started_at!);
		const bar = (b: number, ...parts: Part[]): Bar => ({
			id: r.p.id,
			name: r.p.name,
			parts,
			from: a,
			until: b,
			open: !ended(r.p.state),
		});
		if (ended(r.p.state)) {
			const b = Date.parse(r.p.ended_at ?? r.p.started_at!);
			return bar(b, part('ended', a, b));
		}
		// Since when it is paused is not known, so nothing of it is called work.
		if (r.phase === 'paused' || r.phase === 'queued') return bar(now, part('ended', a, now));
		const waited = r.phase === 'waiting' ? since(r.p.id) : undefined;
		if (!waited) return bar(now, part('runs', a, now));
		const w = Math.max(a, time(waited));
		return bar(now, part('runs', a, w), part('waits', w, now));
	});
	const hours = Math.ceil((until - from) / HOUR);
	const step = Math.ceil(hours / TICKS) * HOUR;
	const ticks = [];
	// The last one is now; an hour that would touch it is left out.
	for (let t = from; place(t) < 90; t += step) ticks.push({ time: t, at: place(t) });
	ticks.push({ time: until, at: 100 });
	return { from, until, bars, more: mine.length - shown.length, ticks };
}
