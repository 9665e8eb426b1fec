import type { Cost, CostView } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';

export type Range = '1' | '14' | '30';

/** Costs is what model calls have cost in a time. It is read anew when a run ends. */
export class Costs {
	range = $state<Range>('14');
	view = $state.raw<CostView>();
	failure = $state.raw<Failure>();

	/** highest is the day that cost the most, 0 when nothing was charged. */
	highest = $derived(Math.max(0, ...(this.view?.days ?? []).map((d) => d.usd)));
	empty = $derived(this.view !== undefined && this.view.total.calls === 0);

	#live: Live;
	#turn = 0;

	constructor(live: Live) {
		this.#live = live;
	}

	async load(range = this.range): Promise<void> {
		this.range = range;
		const mine = ++this.#turn;
		try {
			const view = await this.#live.kernel.infra.costs({ days: Number(range) });
			if (mine !== this.#turn) return;
			this.view = view;
			this.failure = undefined;
		} catch (e) {
			if (mine === this.#turn) this.failure = failureOf(e);
		}
	}

	/** follow reads again whenever a run has ended, until the returned function is called. */
	follow(): () => void {
		void this.load();
		const ends = this.#live.onevent((e) => {
			if (e.kind === 'run.ended') void this.load();
		});
		const news = this.#live.onreload(() => void this.load());
		return () => {
			ends();
			news();
		};
	}
}

/** share of the input that its provider had seen before, in percent. */
export function cachedShare(c: Pick<Cost, 'input' | 'cached'>): string {
	return c.input > 0 && c.cached > 0 ? `${Math.round((100 * c.cached) / c.input)} %` : '';
}

/** short writes a large number as people do: 402k, 1.2M. */
export function short(n: number): string {
	if (n < 1000) return String(n);
	if (n < 999_500) return `${Math.round(n / 1000)}k`;
	return `${(n / 1_000_000).toFixed(1)}M`;
}
