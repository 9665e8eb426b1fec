import type { VaultDay, VaultState } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { turns } from '../../kernel/turns';

/** How long the person must have stopped typing before the note of today is shown anew, in milliseconds. */
const REST = 200;

const keys = ['folder', 'format', 'template'] as const;
type Journal = Record<(typeof keys)[number], string>;

/** In the settings file a line of the template begins at \n. */
const lines = (template: string) => template.replaceAll('\\n', '\n');
const inline = (template: string) => template.replaceAll('\n', '\\n');

/** NotesPage knows the folder of the notes, and what the person makes of their journal. */
export class NotesPage {
	state = $state.raw<VaultState>();
	failure = $state.raw<Failure>();
	busy = $state(false);
	/** refused is why the folder that was chosen is not used. */
	refused = $state.raw<Failure>();

	/** draft is what was typed and not saved; the rest is as it is in force. */
	draft = $state.raw<Partial<Journal>>({});
	day = $state.raw<VaultDay>();
	/** wrong is why the journal cannot be as it was typed. */
	wrong = $state.raw<Failure>();

	#live: Live;
	#leave: () => Promise<void>;
	#asked = turns();
	#readings = turns();
	#timer: ReturnType<typeof setTimeout> | undefined;

	/** leave writes the notes that are open. */
	constructor(live: Live, leave: () => Promise<void>) {
		this.#live = live;
		this.#leave = leave;
	}

	/** own says that the notes lie in the folder of Oxios itself. */
	own = $derived(this.state?.history ?? true);

	get kept(): Journal {
		const of = (key: string) => this.#live.setting(`journal_${key}`);
		return { folder: of('folder'), format: of('format'), template: lines(of('template')) };
	}
	get journal(): Journal {
		return { ...this.kept, ...this.draft };
	}
	get changed(): boolean {
		const kept = this.kept;
		return keys.some((k) => this.journal[k] !== kept[k]);
	}

	/** follow reads how it stands, and keeps up with it until the returned function is called. */
	follow(): () => void {
		void this.load();
		void this.#look();
		const again = () => void this.load();
		const off = [
			this.#live.onevent((e) => {
				if (['vault', 'vault.switched', 'problem'].includes(e.kind)) again();
				if (e.kind === 'vault.switched' || e.kind === 'config') void this.#look();
			}),
			this.#live.onreload(again),
		];
		return () => {
			clearTimeout(this.#timer);
			off.forEach((fn) => fn());
		};
	}

	/** load reads how it stands. Of several readings the one that began last counts, whichever answers first. */
	async load(): Promise<void> {
		const newest = this.#readings();
		try {
			const state = await this.#live.kernel.knowledge.state();
			if (!newest()) return;
			this.state = state;
			this.failure = undefined;
		} catch (e) {
			if (newest()) this.failure = failureOf(e);
		}
	}

	/** use puts the notes into another folder, "" for that of Oxios itself. What is open is written before. */
	async use(dir: string): Promise<boolean> {
		this.busy = true;
		this.refused = undefined;
		try {
			await this.#leave();
			this.#live.config = await this.#live.kernel.infra.setConfig('vault_folder', dir);
			await this.load();
			return true;
		} catch (e) {
			this.refused = failureOf(e);
			return false;
		} finally {
			this.busy = false;
		}
	}

	/** type takes what was typed, and shows what would come of it. */
	type(key: keyof Journal, value: string): void {
		this.draft = { ...this.draft, [key]: value };
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.#look(), REST);
	}

	async #look(): Promise<void> {
		const newest = this.#asked();
		const { folder, format, template } = this.journal;
		try {
			const day = await this.#live.kernel.knowledge.journalPreview(folder, format, template);
			if (!newest()) return;
			this.day = day;
			this.wrong = undefined;
		} catch (e) {
			if (newest()) this.wrong = failureOf(e);
		}
	}

	/** save has the journal be as it was typed. */
	async save(): Promise<void> {
		const { journal, kept } = this;
		this.busy = true;
		try {
			for (const k of keys) {
				if (journal[k] === kept[k]) continue;
				const value = k === 'template' ? inline(journal[k]) : journal[k];
				this.#live.config = await this.#live.kernel.infra.setConfig(`journal_${k}`, value);
			}
			this.draft = {};
		} catch (e) {
			this.wrong = failureOf(e);
		} finally {
			this.busy = false;
		}
	}

	/** discard goes back to what is in force. */
	discard(): void {
		this.draft = {};
		void this.#look();
	}
}
