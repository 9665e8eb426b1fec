import type { Memory, MemoryForgotten, MemoryPatch, MemoryView } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { turns } from '../../kernel/turns';

/** Draft is what a person writes over a memory. */
export interface Draft {
	text: string;
	key: string;
}

/** Opened is one memory with its history, and what a person writes over it. */
export class Opened {
	readonly id: string;
	view = $state.raw<MemoryView>();
	/** memory is as the list had it, until all of it is read. */
	memory = $state.raw<Memory>();
	/** failure says why it could not be read; gone that it is not remembered any more. */
	failure = $state.raw<Failure>();
	gone = $derived(this.failure?.code === 'not_found');
	/** draft is there while it is edited. It outlives what the kernel refuses, and another memory that is looked at. */
	draft = $state<Draft>();
	saving = $state(false);
	/** refused says why what was written is not kept. */
	refused = $state.raw<Failure>();

	changed = $derived(
		!!this.draft && (this.draft.text !== this.memory?.text || this.draft.key !== (this.memory?.key ?? '')),
	);
	canSave = $derived(this.changed && !this.saving && this.draft!.text.trim() !== '');

	#live: Live;
	#turn = turns();

	constructor(live: Live, id: string, memory?: Memory) {
		this.#live = live;
		this.id = id;
		this.memory = memory;
	}

	/** load reads it anew. What was read before stays until then, and what is written stays in any case. */
	async load(): Promise<void> {
		const newest = this.#turn();
		try {
			const view = await this.#live.kernel.memory.get(this.id);
			if (!newest()) return;
			this.view = view;
			this.memory = view.memory;
			this.failure = undefined;
		} catch (e) {
			if (newest()) this.failure = failureOf(e);
		}
	}

	edit(): void {
		if (!this.memory || this.memory.replaced_by) return;
		this.draft ??= { text: this.memory.text, key: this.memory.key ?? '' };
	}

	cancel(): void {
		this.draft = undefined;
		this.refused = undefined;
	}

	/** save keeps what was written, and reports whether it did. */
	async save(): Promise<boolean> {
		const { draft, memory } = this;
		if (!draft || !memory || !this.canSave) return false;
		const patch: MemoryPatch = {};
		if (draft.text !== memory.text) patch.text = draft.text;
		if (draft.key !== (memory.key ?? '')) patch.key = draft.key;
		this.saving = true;
		this.refused = undefined;
		try {
			this.memory = await this.#live.kernel.memory.update(this.id, patch);
			this.draft = undefined;
		} catch (e) {
			this.refused = failureOf(e);
			return false;
		} finally {
			this.saving = false;
		}
		await this.load();
		return true;
	}

	/** pin has it always given first, or no longer. */
	async pin(on: boolean): Promise<void> {
		try {
			this.memory = await this.#live.kernel.memory.update(this.id, { pinned: on });
		} catch (e) {
			this.#live.tell(failureOf(e));
		}
	}

	/** move puts it into another space; "" is the default one. */
	async move(space: string): Promise<void> {
		try {
			this.memory = await this.#live.kernel.memory.update(this.id, { space });
		} catch (e) {
			this.#live.tell(failureOf(e));
			await this.load();
		}
	}

	/** forget deletes it for good with what it replaced. */
	forget(): Promise<MemoryForgotten> {
		return this.#live.kernel.memory.forget([this.id]);
	}
}
