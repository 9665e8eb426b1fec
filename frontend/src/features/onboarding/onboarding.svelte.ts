import type { Found, Model, Policy, Provider, TestReport } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';
import { adviceFor } from './advice';

/** How long it takes until this machine is looked at again while it has no model, in milliseconds. */
const AGAIN = 3_000;

/**
 * Onboarding finds a model and asks what agents may do. Without a word from the person only this machine is asked, and
 * what the environment names with address, key and model: that is their word.
 */
export class Onboarding {
	step = $state<1 | 2>(1);
	/** quiet is the model that the environment names, while it is tested before anything is asked; host is "" until it is known. */
	quiet = $state.raw<{ model: string; host: string }>();
	looking = $state(false);
	looked = $state(false);
	found = $state.raw<Found[]>([]);
	tests = $state.raw<Record<string, TestReport>>({});
	/** trying is the provider that is being tried. */
	trying = $state.raw<ReadonlySet<string>>(new Set());
	failure = $state.raw<Failure>();
	policy = $state.raw<Policy>();
	busy = $state(false);
	/** pays says that the provider that was chosen charges for what is used. */
	pays = $state(false);

	/** bare says that nothing here could answer: no server with a model, and no key. */
	bare = $derived(this.looked && !this.found.some((f) => this.mayAnswer(f)));
	/** empty is a server that runs, but has no model. */
	empty = $derived(this.found.find((f) => f.running && (f.provider.models ?? []).length === 0));
	advice = $derived.by(() => adviceFor(this.#live.status?.memory_mb ?? 0));

	#live: Live;

	constructor(live: Live) {
		this.#live = live;
	}

	/** mayAnswer reports whether a provider could be used: it has a key, or it runs here with a model and did not fail. */
	mayAnswer(f: Found): boolean {
		if (f.problem || this.tests[f.provider.id]?.error) return false;
		if (this.added(f)) return true;
		return !f.provider.local || (f.provider.models ?? []).length > 0;
	}

	/** resume goes on where the first start was left: with the rights, if a model was chosen. */
	async resume(): Promise<void> {
		const { has_model } = this.#live.status ?? {};
		const id = this.#live.setting('provider');
		if (!has_model || !id) return;
		await this.#work(async () => {
			const provider = (await this.#live.kernel.infra.providers()).find((p) => p.id === id);
			if (provider) await this.#chosen(provider, this.#live.setting('model'));
		});
	}

	/**
	 * fromEnvironment tests what the environment names with address, key and model, once, and reports whether it answers:
	 * there is nothing to ask then.
	 */
	async fromEnvironment(): Promise<boolean> {
		const model = this.#live.status?.model;
		const known = model ? { model, host: '' } : undefined; // so that nothing is asked which needs no answer
		this.quiet = known;
		await this.look(true);
		if (this.quiet !== known) return false; // the person chose to choose
		const named = this.found.find((f) => f.named);
		if (!named) {
			this.quiet = undefined;
			await this.#tryHere();
			return false;
		}
		const { provider } = named;
		const quiet = { model: provider.models?.[0]?.id ?? '', host: provider.name };
		this.quiet = quiet;
		const test = await this.try(provider.id);
		if (this.quiet !== quiet) return false; // the person chose to choose
		this.quiet = undefined;
		if (!test?.answers || test.error) {
			await this.#tryHere();
			return false;
		}
		try {
			await this.#live.kernel.infra.finishOnboarding();
		} catch (e) {
			this.failure = failureOf(e);
			return false;
		}
		this.#live.note(i18n.t.provider.fromEnvironment(test.model || quiet.model, quiet.host));
		return true;
	}

	/** choose ends the quiet test: the person wants another model. */
	choose(): void {
		this.quiet = undefined;
		void this.#tryHere();
	}

	/** added reports whether the person added a provider themselves. */
	added(f: Found): boolean {
		return f.provider.source === 'window' || f.provider.source === 'config';
	}

	/** look asks this machine. Servers that run here are tried at once, unless only is set; nothing outside is. */
	async look(only = false): Promise<void> {
		this.looking = true;
		this.failure = undefined;
		try {
			await this.#find(only);
		} catch (e) {
			this.failure = failureOf(e);
		}
		this.looked = true;
		this.looking = false;
	}

	async #find(only = false): Promise<void> {
		const [found, known] = await Promise.all([this.#live.kernel.infra.discover(), this.#live.kernel.infra.providers()]);
		// What the person added stands first, with what came of its test.
		const added = known.filter((p) => p.source === 'window' || p.source === 'config');
		const rest = found.filter((f) => f.named || !added.some((p) => p.base_url === f.provider.base_url));
		this.found = [...added.map((p) => ({ provider: p, source: p.source, running: false, named: false })), ...rest];
		for (const p of added) if (p.test && !this.tests[p.id]) this.tests = { ...this.tests, [p.id]: p.test };
		if (!only) await this.#tryHere();
	}

	async #tryHere(): Promise<void> {
		const untried = this.found.filter((f) => f.running && f.provider.local && !f.problem && !this.tests[f.provider.id]);
		await Promise.all(untried.map((f) => this.try(f.provider.id)));
	}

	/**
	 * watch looks again and again while the machine has no model, and goes on with the first that answers and can use
	 * tools: the person is in a terminal then. It stops when the returned function is called.
	 */
	watch(): () => void {
		const timer = setInterval(() => {
			if (this.bare && this.step === 1 && !this.looking && !this.busy && this.trying.size === 0) void this.#appear();
		}, AGAIN);
		return () => clearInterval(timer);
	}

	async #appear(): Promise<void> {
		this.looking = true;
		try {
			await this.#find();
		} catch {
			return; // it is asked again
		} finally {
			this.looking = false;
		}
		const ready = this.found.find((f) => {
			const test = this.tests[f.provider.id];
			return f.provider.local && test?.answers && !test.error && test.tools !== false;
		});
		if (ready && this.step === 1) await this.use(ready.provider);
	}

	/** again has a provider tried once more, whatever came of it before. */
	async again(f: Found): Promise<void> {
		const { [f.provider.id]: _, ...rest } = this.tests;
		this.tests = rest;
		await (f.provider.local && !this.added(f) ? this.look() : this.try(f.provider.id));
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

	/** add takes a provider that the form saved: one that answered is used, another one is shown in the list. */
	async add(provider: Provider, test?: TestReport): Promise<void> {
		const { [provider.id]: _, ...rest } = this.tests;
		this.tests = test ? { ...rest, [provider.id]: test } : rest;
		if (test?.answers) await this.use(provider);
		if (this.step === 1) await this.look();
	}

	/** use takes the provider's model for new conversations and goes on. */
	async use(provider: Provider): Promise<void> {
		await this.#work(async () => {
			const test = this.tests[provider.id] ?? (await this.try(provider.id));
			if (!test || test.error || !test.answers) return;
			const model = test.model || (await this.#first(provider));
			if (!model) return;
			await this.#live.kernel.infra.useModel(provider.id, model);
			await this.#chosen(provider, model);
		});
	}

	/** chosen goes on with the rights once a model is chosen. */
	async #chosen(provider: Provider, model: string): Promise<void> {
		// A limit of money holds only where the price is known.
		const known =
			provider.local || provider.demo
				? undefined
				: (await this.#live.kernel.infra.models({ provider: provider.id })).find((m) => m.id === model);
		this.pays = known?.price !== undefined && !known.free;
		await this.next();
	}

	async #first(provider: Provider): Promise<string | undefined> {
		const known = provider.models?.[0] as Model | undefined;
		if (known) return known.id;
		return (await this.#live.kernel.infra.models({ provider: provider.id }))[0]?.id;
	}

	async demo(): Promise<void> {
		await this.#work(async () => {
			await this.#live.kernel.infra.startDemo();
			this.pays = false;
			await this.next();
		});
	}

	async next(): Promise<void> {
		this.policy = await this.#live.kernel.security.policy();
		this.step = 2;
	}

	/** back goes to the models again, which a start that was resumed has not looked for yet. */
	back(): void {
		this.step = 1;
		if (!this.looked && !this.looking) void this.look();
	}

	/** keep keeps the choices. The first start ends with the first answer, see FirstAnswer. */
	async keep(mode: string, folder: string, dayUSD?: string): Promise<void> {
		await this.#work(async () => {
			await this.#live.kernel.infra.setConfig('mode', mode);
			await this.#live.kernel.infra.setConfig('folder', folder);
			if (dayUSD !== undefined) await this.#live.kernel.infra.setConfig('day_usd', dayUSD);
			this.#live.kept.set('first', 'answer'); // what is left is the first answer
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
