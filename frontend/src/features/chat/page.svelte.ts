import type { Kernel, PageSaved, StepView } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';

/** Web is what a step did in the web: the machine that it read from, or the words that it looked for. */
export interface Web {
	url?: string;
	host?: string;
	words?: string;
}

/** webOf is what a step did in the web; undefined for one that stayed here. */
export function webOf(step: StepView): Web | undefined {
	const args = (step.args ?? {}) as { url?: unknown; query?: unknown };
	if (step.name === 'web_search') return { words: typeof args.query === 'string' ? args.query : '' };
	if (step.name !== 'web_fetch' || typeof args.url !== 'string') return undefined;
	return { url: args.url, host: URL.parse(args.url)?.hostname.replace(/^www\./, '') ?? args.url };
}

/** readingOf is the page that a step read, as its journal has it; undefined when that has let go of it. */
export function readingOf(step: StepView): { url: string; title: string } | undefined {
	const head = step.output?.split('\n\n')[0]?.split('\n') ?? [];
	if (!/^https?:\/\//.test(head[0] ?? '')) return undefined;
	const called = (step.title ?? '').replace(/^Read /, '');
	return { url: head[0]!, title: called === head[0] ? '' : called };
}

/** PageKeeper saves the page that a step has read as a note, and takes that back. */
export class PageKeeper {
	saving = $state(false);
	saved = $state.raw<PageSaved>();
	failure = $state.raw<Failure>();

	/** save keeps what the step read; with a url the page as it is now. */
	async save(kernel: Kernel, step: StepView, url = ''): Promise<void> {
		await this.#attempt(async () => {
			this.saved = await kernel.knowledge.savePage(url ? { url } : { run_id: step.run_id, step_id: step.id });
		});
	}

	/** undo takes the note away again, unless somebody has written in it. */
	async undo(kernel: Kernel): Promise<void> {
		const note = this.saved;
		if (!note) return;
		await this.#attempt(async () => {
			await kernel.knowledge.delete(note.path, note.hash);
			this.saved = undefined;
		});
	}

	async #attempt(work: () => Promise<void>): Promise<void> {
		this.saving = true;
		this.failure = undefined;
		try {
			await work();
		} catch (e) {
			this.failure = failureOf(e);
		} finally {
			this.saving = false;
		}
	}
}
