import type { ResourceView, Sample } from '../api.gen';
import { iso, type World } from './data';

const GB = 1_000_000_000;
const EVERY = 10_000;
const KEPT = 36;

/** load is a machine of sixteen gigabytes that has something to do, or too much of it. */
export function load(w: World): ResourceView {
	const running = w.runs.filter((r) => r.run.state === 'running').length;
	const history = Array.from({ length: KEPT }, (_, i): Sample => {
		const wave = Math.sin(i / 3) * 9 + Math.sin(i / 1.3) * 6;
		const busy = w.busy && i > KEPT / 2;
		return {
			at: iso((KEPT - 1 - i) * EVERY),
			cpu: busy ? 95 + wave / 5 : 28 + wave,
			memory_total: 16 * GB,
			memory_available: (busy ? 1.1 : 6.4 - i * 0.02) * GB,
			disk_total: 512 * GB,
			disk_free: 212 * GB,
			agents: Math.min(5, Math.max(0, Math.round(running - 2 + i / 12))),
		};
	});
	return {
		now: history.at(-1)!,
		overloaded: !!w.busy,
		running: Math.min(5, running),
		queued: w.runs.filter((r) => r.run.state === 'queued').length,
		at_once: 5,
		history,
	};
}
