import type { Kernel, Session } from '../../kernel/api.gen';
import type { Event } from '../../kernel/transport';

const PAGE = 500;

/**
 * Titles are all conversations by name, so that fuzzy words find them, which the kernel's search does not do. They are
 * read once, when they are first asked for, and then kept as the events tell.
 */
export class Titles {
	list = $state.raw<Session[]>([]);
	#kernel: Kernel;
	#read: Promise<void> | undefined;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	/** load reads what is not known yet. A page that fails leaves what came before it. */
	load(): Promise<void> {
		return (this.#read ??= this.#all().catch(() => {
			this.#read = undefined;
		}));
	}

	/** forget has the next load read everything anew, after events were missed. */
	forget(): void {
		this.#read = undefined;
	}

	async #all(): Promise<void> {
		let before: string | undefined;
		const all: Session[] = [];
		for (;;) {
			const page = await this.#kernel.state.sessions({ limit: PAGE, ...(before ? { before } : {}) });
			all.push(...page);
			this.list = [...all];
			if (page.length < PAGE) return;
			before = page.at(-1)!.id;
		}
	}

	receive(e: Event): void {
		if (!this.#read) return;
		if (e.kind === 'session') {
			const s = e.data as Session;
			const rest = this.list.filter((o) => o.id !== s.id);
			this.list = s.archived ? rest : [s, ...rest];
		} else if (e.kind === 'session.deleted') {
			this.list = this.list.filter((s) => s.id !== e.session_id);
		}
	}
}
