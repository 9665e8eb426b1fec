import type { SpaceDetected, SpaceView } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { tagOf } from '../../ui/space';
import type { Mode } from './composer.svelte';

/** How long words rest before it is asked where they belong, in milliseconds. */
const REST = 250;
/** How far a mode goes: a guess of the kernel makes none wider. */
const RANK: Record<string, number> = { ask: 0, guarded: 1, autonomous: 2 };

/** Placing is the space that a new conversation would begin in, and what it would have of it. The kernel decides when it is sent. */
export class Placing {
	/** chosen is what the person said for this message: a space, or null to have it found out. */
	chosen = $state<string | null>();
	/** found is what the kernel says of the words that rest; while nothing is written, the active space, if there is one. */
	found = $state.raw<SpaceDetected>();
	/** view is the space in force, none for the default one. */
	view = $state.raw<SpaceView>();
	/** folder is that of the space in force; "" for the usual one. */
	folder = $state('');

	/** foreign says that the person chose a folder: the mode of the active space is not said of that. */
	#foreign = $state(false);
	#live: Live;
	#turn = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(live: Live) {
		this.#live = live;
	}

	/** wanted is the space that the message names: what was chosen for it, else the one that is looked at. */
	get wanted(): string | null {
		if (this.chosen === undefined) return this.#live.spaces.chosen;
		// A space that was archived or removed meanwhile can begin nothing.
		const there = !this.chosen || this.#live.spaces.open.some((s) => s.id === this.chosen);
		return there ? this.chosen : null;
	}

	get space(): string {
		return this.wanted ?? this.found?.space ?? '';
	}

	/** why says why it is that one: person, path, word, active, topic, or "". */
	get why(): string {
		return this.wanted !== null ? 'person' : (this.found?.why ?? '');
	}

	/** with are the settings of the space in force. */
	get with() {
		const s = this.view?.space;
		return s?.model ? s : s && { ...s, provider: '' };
	}

	get mode(): string {
		const mode = this.view?.space.mode ?? '';
		const usual = (this.#live.setting('mode') || 'guarded') as Mode;
		const guessed = this.why === 'topic' || (this.why === 'active' && this.#foreign);
		return guessed && RANK[mode]! >= RANK[usual]! ? '' : mode;
	}

	/** follow finds it out for these words, once they rest, and for the folder that the person chose. */
	follow(text: string, folder: string): void {
		clearTimeout(this.#timer);
		const mine = ++this.#turn;
		void this.#live.spaces.version;
		const { wanted } = this;
		if (!this.#live.spaces.any) return this.#take(undefined, undefined, '');
		if (wanted !== null) return void this.#look(mine, undefined, wanted);
		this.#foreign = folder !== '';
		if (!text.trim() && !folder) return this.#begin(mine);
		this.#timer = setTimeout(() => void this.#find(mine, text, folder), REST);
	}

	/** begin shows where a message goes that names nothing. */
	#begin(mine: number): void {
		const s = this.#live.spaces.active;
		if (!s) return this.#take(undefined, undefined, '');
		const found = { space: s.id, name: s.name, tag: tagOf(s), why: 'active', named: '', sure: 1 };
		void this.#look(mine, found, s.id);
	}

	async #find(mine: number, text: string, folder: string): Promise<void> {
		try {
			const found = await this.#live.kernel.space.detect(text, folder);
			if (mine === this.#turn) await this.#look(mine, found, found.space);
		} catch {
			if (mine === this.#turn) this.#take(undefined, undefined, ''); // the kernel finds it when it is sent
		}
	}

	/** look learns what a conversation has of its space. */
	async #look(mine: number, found: SpaceDetected | undefined, id: string): Promise<void> {
		const view = id ? await this.#live.kernel.space.get(id).catch(() => undefined) : undefined;
		let folder = view?.folder ?? '';
		if (view && found?.why === 'path' && !view.space.folder) {
			const named = await this.#live.kernel.exec.folder(found.named).catch(() => undefined);
			if (named?.exists) folder = named.path;
		}
		if (mine === this.#turn) this.#take(found, view, folder);
	}

	#take(found: SpaceDetected | undefined, view: SpaceView | undefined, folder: string): void {
		this.found = found;
		this.view = view;
		this.folder = folder;
	}
}
