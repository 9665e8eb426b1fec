import type { VaultGraph } from '../../kernel/api.gen';

/** Point is a node with its place in a field of 1 by 1. */
export interface Point {
	x: number;
	y: number;
}

/** How far nodes push each other, in lengths of a link; beyond, it does not matter. */
const NEAR = 2;

/**
 * placed lays a graph out: linked nodes near each other, all others apart. It is the same each time for the same graph:
 * nothing in it is left to chance. The node in the middle stays there.
 */
export function placed(graph: VaultGraph, middle = -1): Point[] {
	const n = graph.nodes.length;
	if (n === 0) return [];
	const angle = Math.PI * (3 - Math.sqrt(5));
	// A sunflower is even from the first round on; who has many links begins near its heart.
	const order = graph.nodes
		.map((_, i) => i)
		.sort((a, b) => weight(graph, b, middle) - weight(graph, a, middle) || a - b);
	const at: Point[] = new Array(n);
	order.forEach((i, rank) => {
		const r = 0.5 * Math.sqrt(rank / n);
		at[i] = { x: r * Math.cos(rank * angle), y: r * Math.sin(rank * angle) };
	});
	const ideal = 0.8 / Math.sqrt(n);
	const rounds = n > 500 ? 40 : 160;
	for (let round = 0; round < rounds; round++) {
		const heat = 0.12 * (1 - round / rounds) ** 2 + 0.002;
		const push = at.map(() => ({ x: 0, y: 0 }));
		apart(at, push, ideal);
		for (const e of graph.edges) {
			const dx = at[e.to]!.x - at[e.from]!.x;
			const dy = at[e.to]!.y - at[e.from]!.y;
			const pull = Math.hypot(dx, dy) / ideal;
			push[e.from]!.x += dx * pull;
			push[e.from]!.y += dy * pull;
			push[e.to]!.x -= dx * pull;
			push[e.to]!.y -= dy * pull;
		}
		for (let i = 0; i < n; i++) {
			push[i]!.x -= at[i]!.x * 0.6;
			push[i]!.y -= at[i]!.y * 0.6;
			if (i === middle) continue;
			const far = Math.hypot(push[i]!.x, push[i]!.y) || 1;
			const step = Math.min(far, heat) / far;
			at[i]!.x += push[i]!.x * step;
			at[i]!.y += push[i]!.y * step;
		}
	}
	return fitted(at);
}

const weight = (g: VaultGraph, i: number, middle: number) => (i === middle ? Infinity : g.nodes[i]!.links);

/** apart pushes nodes away from those near to them, which a grid finds. */
function apart(at: Point[], push: Point[], ideal: number): void {
	const cell = ideal * NEAR;
	// A node lies within a few fields of the middle, so that no two cells get one number.
	const number = (x: number, y: number) => (x + 4096) * 8192 + y + 4096;
	const grid = new Map<number, number[]>();
	at.forEach((p, i) => {
		const key = number(Math.floor(p.x / cell), Math.floor(p.y / cell));
		const list = grid.get(key);
		if (list) list.push(i);
		else grid.set(key, [i]);
	});
	for (let i = 0; i < at.length; i++) {
		const p = at[i]!;
		const cx = Math.floor(p.x / cell);
		const cy = Math.floor(p.y / cell);
		for (let k = 0; k < 9; k++) {
			for (const j of grid.get(number(cx + (k % 3) - 1, cy + Math.floor(k / 3) - 1)) ?? []) {
				if (j === i) continue;
				const x = p.x - at[j]!.x || (i - j) * 1e-6;
				const y = p.y - at[j]!.y;
				const far = Math.max(Math.sqrt(x * x + y * y), ideal / 20);
				const force = (ideal * ideal) / (far * far);
				push[i]!.x += x * force;
				push[i]!.y += y * force;
			}
		}
	}
}

/** fitted fills the field with the points. */
function fitted(at: Point[]): Point[] {
	const xs = at.map((p) => p.x);
	const ys = at.map((p) => p.y);
	const low = { x: xs.reduce((a, b) => Math.min(a, b)), y: ys.reduce((a, b) => Math.min(a, b)) };
	const span = {
		x: xs.reduce((a, b) => Math.max(a, b)) - low.x,
		y: ys.reduce((a, b) => Math.max(a, b)) - low.y,
	};
	const into = (v: number, from: number, size: number) => (size > 1e-9 ? (v - from) / size : 0.5);
	return at.map((p) => ({ x: into(p.x, low.x, span.x), y: into(p.y, low.y, span.y) }));
}
