import type { Kernel, VaultHit } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';

/** How many notes a search shows. */
const FOUND = 50;
/** How long the person must have stopped typing before it is searched, in milliseconds. */
const REST = 150;

/** Finder finds notes as one types. */
export class Finder {
	query = $state('');
	hits = $state.raw<VaultHit[]>();
	failure = $state.raw<Failure>();

	#kernel: Kernel;
	#turn = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	search(query: string): void {
		this.query = query;
		clearTimeout(this.#timer);
		const turn = ++this.#turn;
		if (query.trim() === '') {
			this.hits = this.failure = undefined;
			return;
		}
		this.#timer = setTimeout(async () => {
			try {
				const hits = (await this.#kernel.knowledge.search(query.trim(), FOUND)) ?? [];
				if (turn !== this.#turn) return;
				this.hits = hits;
				this.failure = undefined;
			} catch (e) {
				if (turn === this.#turn) this.failure = failureOf(e);
			}
		}, REST);
	}

	/** again searches anew after notes have changed. */
	again(): void {
		if (this.query.trim()) this.search(this.query);
	}
}
