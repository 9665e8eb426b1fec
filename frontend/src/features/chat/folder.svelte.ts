import type { Folder, Kernel } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';

/** Chooser looks at folders as the kernel sees them, and knows which may be worked in. */
export class Chooser {
	path = $state('');
	folder = $state.raw<Folder>();
	failure = $state.raw<Failure>();

	refusal = $derived(
		this.failure
			? i18n.either(this.failure.message, this.failure.message_ko)
			: this.folder?.refused
				? i18n.either(this.folder.reason, this.folder.reason_ko)
				: '',
	);
	usable = $derived(!!this.folder && !this.folder.refused && !this.failure);
	/** inside are the folders in it; the kernel may name them or give their paths too. */
	inside = $derived.by(() => {
		const at = this.folder;
		if (!at) return [];
		return ((at.entries ?? []) as unknown[]).map((e) => {
			if (typeof e === 'string') return { name: e, path: `${at.path.replace(/\/$/, '')}/${e}` };
			const { name, path } = e as { name: string; path?: string };
			return { name, path: path || `${at.path.replace(/\/$/, '')}/${name}` };
		});
	});

	#kernel: Kernel;
	#turn = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	/** type looks once the person has stopped typing. */
	type(path: string): void {
		this.path = path;
		this.#turn++; // what is still looked at is not written over it
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.settled(), 200);
	}

	/** settled looks at what was typed, if that is still to be done. */
	async settled(): Promise<void> {
		if (this.#timer === undefined) return;
		clearTimeout(this.#timer);
		this.#timer = undefined;
		await this.#look(this.path, false);
	}

	async look(path: string): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		await this.#look(path, true);
	}

	async #look(path: string, write: boolean): Promise<void> {
		const turn = ++this.#turn;
		try {
			const folder = await this.#kernel.exec.folder(path);
			if (turn !== this.#turn) return;
			this.folder = folder;
			this.failure = undefined;
			if (write) this.path = folder.display || folder.path;
		} catch (e) {
			if (turn === this.#turn) this.failure = failureOf(e);
		}
	}
}
