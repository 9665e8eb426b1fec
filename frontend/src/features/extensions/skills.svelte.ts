import type { SkillDetails, SkillRegistry, SkillRights, SkillSearch, SkillView } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { once, turns } from '../../kernel/turns';

/** isModule tells whether a file of a skill is a WebAssembly module. */
export const isModule = (file: string) => file.toLowerCase().endsWith('.wasm');

/** Skills is what the view of extensions shows of skills: all of them, and the one that is open with its review. */
export class Skills {
	list = $state.raw<SkillView[]>([]);
	failure = $state.raw<Failure>();
	/** chosen is the name of the skill that is open. */
	chosen = $state<string>();
	details = $state.raw<SkillDetails>();
	/** refused says why the last order failed. */
	refused = $state.raw<Failure>();
	installing = $state(false);
	/** updating is the name of the skill that is being fetched again. */
	updating = $state<string>();

	readonly current = $derived.by(() => this.list.find((v) => v.name === this.chosen));

	#live: Live;
	#turn = turns();

	constructor(live: Live) {
		this.#live = live;
	}

	readonly load = once(async () => {
		try {
			this.list = await this.#live.kernel.skills.list();
			this.failure = undefined;
		} catch (e) {
			this.failure = failureOf(e);
		}
		if (this.chosen) await this.#read(this.chosen);
	});

	/** follow reads the skills, and again when something of them changed, until the returned function is called. */
	follow(): () => void {
		void this.load();
		const offs = [
			this.#live.onevent((e) => {
				if (e.kind === 'skills') void this.load();
			}),
			this.#live.onreload(() => void this.load()),
		];
		return () => offs.forEach((off) => off());
	}

	/** open shows a skill with its review; none closes the one that is open. */
	async open(name: string | undefined): Promise<void> {
		this.chosen = name;
		this.details = undefined;
		this.refused = undefined;
		if (name) await this.#read(name);
	}

	async #read(name: string): Promise<void> {
		const newest = this.#turn();
		try {
			const details = await this.#live.kernel.skills.show(name);
			if (newest()) this.details = details;
		} catch (e) {
			const failure = failureOf(e);
			if (!newest()) return;
			if (failure.code === 'not_found') this.chosen = undefined;
			else this.refused = failure;
		}
	}

	/** install copies a skill into the home and opens it for review. It rejects when the kernel refuses. */
	async install(path: string): Promise<void> {
		const v = await this.#live.kernel.skills.install(path);
		await this.load();
		await this.open(v.name);
	}

	registries(): Promise<SkillRegistry[]> {
		return this.#live.kernel.skills.registries();
	}

	/** registry has a registry asked from now on, or no longer, and returns all of them. */
	registry(address: string, on: boolean): Promise<SkillRegistry[]> {
		return on ? this.#live.kernel.skills.addRegistry(address) : this.#live.kernel.skills.removeRegistry(address);
	}

	/** search asks the registries that were added. */
	search(words: string): Promise<SkillSearch> {
		return this.#live.kernel.skills.search(words);
	}

	async accept(name: string, hash: string): Promise<void> {
		await this.#try(() => this.#live.kernel.skills.accept(name, hash));
	}

	async allow(name: string, rights: SkillRights): Promise<void> {
		await this.#try(() => this.#live.kernel.skills.allow(name, rights));
	}

	/** update installs a skill again from where it came from. */
	async update(name: string): Promise<void> {
		this.updating = name;
		await this.#try(() => this.#live.kernel.skills.update(name));
		this.updating = undefined;
	}

	async pin(name: string, on: boolean): Promise<void> {
		await this.#try(() => this.#live.kernel.skills.pin(name, on));
	}

	/** save writes a skill as a zip to where the person wants it. */
	async save(name: string, title: string): Promise<void> {
		await this.#try(() => this.#live.files.skill(name, { title, name: `${name}.zip` }));
	}

	async enable(name: string, on: boolean): Promise<void> {
		await this.#try(() => this.#live.kernel.skills.enable(name, on));
	}

	async remove(name: string): Promise<void> {
		await this.#try(() => this.#live.kernel.skills.remove(name));
	}

	async #try(order: () => Promise<unknown>): Promise<void> {
		this.refused = undefined;
		try {
			await order();
		} catch (e) {
			this.refused = failureOf(e);
		}
		await this.load();
	}
}
