import type { Kernel, Model, Provider } from './api.gen';
import { failureOf, type Event, type Failure } from './transport';
import { turns } from './turns';

/** Models are the providers and what they offer. */
export class Models {
	providers = $state.raw<Provider[]>([]);
	list = $state.raw<Model[]>([]);
	loaded = $state(false);
	refreshing = $state(false);
	failure = $state.raw<Failure>();
	/** testing holds the ids of the providers that are being tried. */
	testing = $state.raw<ReadonlySet<string>>(new Set());

	#kernel: Kernel;
	#turn = turns();

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	get default(): Model | undefined {
		return this.list.find((m) => m.default);
	}

	get(provider: string, model: string): Model | undefined {
		return this.list.find((m) => m.id === model && (!provider || m.provider === provider));
	}

	async load(refresh = false): Promise<void> {
		const newest = this.#turn();
		try {
			const [providers, list] = await Promise.all([
				this.#kernel.infra.providers(),
				this.#kernel.infra.models({ refresh }),
			]);
			if (!newest()) return;
			this.providers = providers;
			this.list = list;
			this.failure = undefined;
		} catch (e) {
			if (!newest()) return;
			this.failure = failureOf(e);
		}
		this.loaded = true;
	}

	/** refresh looks for servers on this machine and asks every provider for its list. */
	async refresh(): Promise<void> {
		this.refreshing = true;
		try {
			await this.#kernel.infra.discover();
		} catch (e) {
			this.failure = failureOf(e);
		}
		await this.load(true);
		this.refreshing = false;
	}

	/** test tries a provider for real. It never rejects: what failed stands in the report. */
	async test(provider: string, model = ''): Promise<Provider | undefined> {
		this.testing = new Set([...this.testing, provider]);
		try {
			const test = await this.#kernel.infra.testProvider(provider, model);
			this.providers = this.providers.map((p) => (p.id === provider ? { ...p, test } : p));
		} catch (e) {
			this.failure = failureOf(e);
		} finally {
			this.testing = new Set([...this.testing].filter((id) => id !== provider));
		}
		await this.load();
		return this.providers.find((p) => p.id === provider);
	}

	/** retry tests one model again and reports whether it can use tools; undefined is a test that told nothing of it. */
	async retry(provider: string, model: string): Promise<boolean | undefined> {
		const test = (await this.test(provider, model))?.test;
		if (test?.model !== model || test.error) return undefined;
		return test.tools ?? undefined;
	}

	async favourite(m: Model, on: boolean): Promise<void> {
		await this.#kernel.infra.setFavourite(m.provider, m.id, on);
		this.list = this.list.map((o) => (o.id === m.id && o.provider === m.provider ? { ...o, favourite: on } : o));
	}

	async use(m: Pick<Model, 'id' | 'provider'>): Promise<void> {
		await this.#kernel.infra.useModel(m.provider, m.id);
		await this.load();
	}

	receive(e: Event): void {
		if (e.kind === 'provider') void this.load();
	}
}
