import type { Kernel, ResourceView, Sample } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';

/** How often the machine is looked at, in milliseconds, and how much of its past is drawn. */
const EVERY = 5_000;
export const SPAN = 5 * 60_000;

/** Load is how busy the machine is, for as long as somebody looks at it. */
export class Load {
	view = $state.raw<ResourceView>();
	failure = $state.raw<Failure>();

	#kernel: Kernel;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	/** follow reads the load until the returned function is called. A page that is not seen asks for nothing. */
	follow(): () => void {
		const seen = () => {
			clearTimeout(this.#timer);
			if (!document.hidden) void this.#read();
		};
		document.addEventListener('visibilitychange', seen);
		seen();
		return () => {
			document.removeEventListener('visibilitychange', seen);
			clearTimeout(this.#timer);
			this.#timer = undefined;
			this.#followed++;
		};
	}

	/** followed tells an answer for somebody who looks no more. */
	#followed = 0;

	async #read(): Promise<void> {
		const mine = this.#followed;
		try {
			const view = await this.#kernel.infra.resources();
			if (mine !== this.#followed) return;
			this.view = view;
			this.failure = undefined;
		} catch (e) {
			if (mine !== this.#followed) return;
			this.failure = failureOf(e);
		}
		clearTimeout(this.#timer);
		if (!document.hidden) this.#timer = setTimeout(() => void this.#read(), EVERY);
	}
}

/** Point is a place of a line, from 0 to 1 in both directions, with 0 at the left and at the bottom. */
export interface Point {
	x: number;
	y: number;
}

/** pointsOf are the past minutes of what a sample says, against the most that it can be. */
export function pointsOf(history: Sample[], of: (s: Sample) => number, most: number): Point[] {
	const now = Date.parse(history.at(-1)?.at ?? '');
	return history
		.map((s) => ({ x: 1 - (now - Date.parse(s.at)) / SPAN, y: most > 0 ? Math.min(Math.max(of(s) / most, 0), 1) : 0 }))
		.filter((p) => p.x >= 0);
}

/** lineOf draws points into a box; areaOf what lies below them. */
export function lineOf(points: Point[], width: number, height: number): string {
	const at = (p: Point) => `${(p.x * width).toFixed(1)} ${(height - p.y * height).toFixed(1)}`;
	return points.length > 1 ? `M${points.map(at).join('L')}` : '';
}

export function areaOf(points: Point[], width: number, height: number): string {
	if (points.length < 2) return '';
	const x = (p: Point) => (p.x * width).toFixed(1);
	return `${lineOf(points, width, height)}L${x(points.at(-1)!)} ${height}L${x(points[0]!)} ${height}Z`;
}

/** highest is the most that something was in the past minutes. */
export function highest(history: Sample[], of: (s: Sample) => number): number {
	const now = Date.parse(history.at(-1)?.at ?? '');
	return Math.max(0, ...history.filter((s) => now - Date.parse(s.at) <= SPAN).map(of));
}
