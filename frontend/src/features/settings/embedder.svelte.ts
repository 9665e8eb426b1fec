import type { EmbedderTest, MemoryEmbedding, Provider } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { host } from './presets';
import { turns } from '../../kernel/turns';

/** Suggestions are models that embed texts and that many people have, by the kind of provider. */
const suggestions: Record<string, string[]> = {
	ollama: ['nomic-embed-text', 'bge-m3', 'mxbai-embed-large'],
	lmstudio: ['text-embedding-nomic-embed-text-v1.5', 'text-embedding-bge-m3'],
	openai: ['text-embedding-3-small', 'text-embedding-3-large'],
};

/** EmbedderPage knows which embedder is in use, and the one that the person thinks of. */
export class EmbedderPage {
	state = $state.raw<MemoryEmbedding>();
	failure = $state.raw<Failure>();
	/** provider is what is chosen on the page: "" is the built-in one. */
	provider = $state('');
	model = $state('');
	test = $state.raw<EmbedderTest>();
	busy = $state<'' | 'test' | 'use' | 'anew' | 'again'>('');

	#live: Live;
	#turn = turns();
	#touched = false;

	constructor(live: Live) {
		this.#live = live;
	}

	/** chosen is the reference of what is chosen on the page; undefined while no model is named. */
	chosen = $derived.by(() => {
		if (!this.provider) return '';
		return this.model.trim() ? `${this.provider}/${this.model.trim()}` : undefined;
	});
	inUse = $derived(this.state !== undefined && this.chosen === this.state.embedder);

	/** providers are those that could embed: whatever is switched on, and the one in use. */
	get providers(): Provider[] {
		const used = this.state?.embedder.split('/')[0];
		return this.#live.models.providers.filter(
			(p) => !p.demo && (p.enabled || (p.source === 'environment' && !p.problem) || p.id === used),
		);
	}
	get picked(): Provider | undefined {
		return this.providers.find((p) => p.id === this.provider);
	}
	/** away says that texts would leave this computer. */
	get away(): boolean {
		return this.picked !== undefined && !here(this.picked);
	}
	get suggested(): string[] {
		return suggestions[this.picked?.kind ?? ''] ?? suggestions.openai!;
	}

	/** follow reads how it stands, and keeps up with it until the returned function is called. */
	follow(): () => void {
		void this.load();
		const off = [
			this.#live.onevent((e) => {
				if (e.kind === 'embedding') this.#take(e.data as MemoryEmbedding);
				else if (e.kind === 'memory' || e.kind === 'config') void this.load();
			}),
			this.#live.onreload(() => void this.load()),
		];
		return () => off.forEach((f) => f());
	}

	async load(): Promise<void> {
		const newest = this.#turn();
		try {
			const now = await this.#live.kernel.memory.embedding();
			if (!newest()) return;
			this.#take(now);
			this.failure = undefined;
		} catch (e) {
			if (newest()) this.failure = failureOf(e);
		}
	}

	#take(s: MemoryEmbedding): void {
		this.state = s;
		if (this.#touched) return; // what the person is about to choose stays
		const [provider, ...model] = s.embedder.split('/');
		this.provider = provider!;
		this.model = model.join('/');
	}

	/** pick chooses a provider, with a model that it is likely to have. */
	pick(provider: string): void {
		this.#touched = true;
		this.provider = provider;
		this.test = undefined;
		const used = this.state?.embedder ?? '';
		this.model =
			provider && used.startsWith(`${provider}/`) ? used.slice(provider.length + 1) : (this.suggested[0] ?? '');
	}

	/** name names the model. */
	name(model: string): void {
		this.#touched = true;
		this.model = model;
		this.test = undefined;
	}

	async tryIt(): Promise<void> {
		await this.#do('test', async () => {
			this.test = undefined;
			this.test = await this.#live.kernel.memory.tryEmbedder(this.chosen ?? '');
		});
	}

	async use(): Promise<void> {
		await this.#do('use', async () => {
			this.#live.config = await this.#live.kernel.infra.setConfig('embedder', this.chosen ?? '');
			this.#touched = false;
			this.test = undefined;
			this.#take(await this.#live.kernel.memory.embedding());
		});
	}

	async anew(): Promise<void> {
		await this.#do('anew', async () => this.#take(await this.#live.kernel.memory.reembed()));
	}

	/** again has what failed tried at once. */
	async again(): Promise<void> {
		await this.#do('again', async () => void (await this.#live.kernel.infra.reconnect()));
	}

	async #do(what: EmbedderPage['busy'], work: () => Promise<void>): Promise<void> {
		if (this.busy) return;
		this.busy = what;
		try {
			await work();
		} catch (e) {
			this.#live.tell(failureOf(e));
		} finally {
			this.busy = '';
		}
	}
}

/** here reports whether a provider is on this computer, whatever its kind. */
export function here(p: Provider): boolean {
	return p.local || /^(localhost|127\.|\[::1\])/.test(host(p.base_url));
}
