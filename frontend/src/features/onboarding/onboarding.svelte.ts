import type { Found, Model, Policy, Provider, TestReport } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';

/** Onboarding finds a model and asks what agents may do. Only this machine is asked without a word from the person. */
export class Onboarding {
	step = $state<1 | 2>(1);
	looking = $state(false);
	found = $state.raw<Found[]>([]);
	tests = $state.raw<Record<string, TestReport>>({});
	/** trying is the provider that is being tried. */
	trying = $state.raw<ReadonlySet<string>>(new Set());
	failure = $state.raw<Failure>();
	policy = $state.raw<Policy>();
	busy = $state(false);

	#live: Live;

	constructor(live: Live) {
		this.#live = live;
	}

	/** look asks this machine. Servers that run here are tried at once; nothing outside is. */
	async look(): Promise<void> {
		this.looking = true;
		this.failure = undefined;
		try {
			this.found = await this.#live.kernel.infra.discover();
			await Promise.all(
				this.found.filter((f) => f.running && f.provider.local && !f.problem).map((f) => this.try(f.provider.id)),
			);
		} catch (e) {
			this.failure = failureOf(e);
		}
		this.looking = false;
	}

	/** try tests a provider; it reports what failed instead of throwing. */
	async try(id: string): Promise<TestReport | undefined> {
		this.trying = new Set([...this.trying, id]);
		try {
			const test = await this.#live.kernel.infra.testProvider(id, '');
			this.tests = { ...this.tests, [id]: test };
			return test;
		} catch (e) {
			this.failure = failureOf(e);
			return undefined;
		} finally {
			this.trying = new Set([...this.trying].filter((x) => x !== id));
		}
	}

	/** use takes the provider's model for new conversations and goes on. */
	async use(provider: Provider): Promise<void> {
		await this.#work(async () => {
			const test = this.tests[provider.id] ?? (await this.try(provider.id));
			if (!test || test.error || !test.answers) return;
			const model = test.model || (await this.#first(provider));
			if (!model) return;
			await this.#live.kernel.infra.useModel(provider.id, model);
			await this.next();
		});
	}

	async #first(provider: Provider): Promise<string | undefined> {
		const known = provider.models?.[0] as Model | undefined;
		if (known) return known.id;
		return (await this.#live.kernel.infra.models({ provider: provider.id }))[0]?.id;
	}

	async demo(): Promise<void> {
		await this.#work(async () => {
			await this.#live.kernel.infra.startDemo();
			await this.next();
		});
	}

	async next(): Promise<void> {
		this.policy = await this.#live.kernel.security.policy();
		this.step = 2;
	}

	/** finish keeps the choices and opens the home. */
	async finish(mode: string, folder: string): Promise<void> {
		await this.#work(async () => {
			await this.#live.kernel.infra.setConfig('mode', mode);
			await this.#live.kernel.infra.setConfig('folder', folder);
			await this.#live.kernel.infra.finishOnboarding();
			await this.#live.load();
		});
	}

	async #work(fn: () => Promise<void>): Promise<void> {
		this.busy = true;
		this.failure = undefined;
		try {
			await fn();
		} catch (e) {
			this.failure = failureOf(e);
		} finally {
			this.busy = false;
		}
	}
}
