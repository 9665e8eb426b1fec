import type { Kernel, MemoryImport } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';

/** How many memories go in one call. */
const CALL = 500;

/** Plan is what an import would do. */
export interface Plan {
	added: number;
	changed: number;
	same: number;
	spaces: string[];
	/** wrong are the lines that cannot come in, from 1 on, each with why. */
	wrong: { line: number; text: { en: string; ko?: string } }[];
}

/** Done is what came in. */
export interface Done {
	added: number;
	changed: number;
	spaces: string[];
}

/** linesOf reads the objects of a file, a line each, and which lines hold none. */
export function linesOf(text: string): { all: MemoryImport[]; at: number[]; wrong: Plan['wrong'] } {
	const all: MemoryImport[] = [];
	const at: number[] = [];
	const wrong: Plan['wrong'] = [];
	const t = { en: 'It is no JSON object of the kind that is needed.', ko: '필요한 형식의 JSON 객체가 아닙니다.' };
	text.split('\n').forEach((line, i) => {
		if (line.trim() === '') return;
		try {
			const v: unknown = JSON.parse(line);
			const fits = typeof v === 'object' && v !== null && !Array.isArray(v);
			if (!fits || Object.values(v).some((x) => typeof x !== 'string' && x !== null)) throw new Error();
			all.push(v as MemoryImport);
			at.push(i + 1);
		} catch {
			wrong.push({ line: i + 1, text: t });
		}
	});
	return { all, at, wrong };
}

/** MemoryFile is a file whose memories the person looks at before they come in. */
export class MemoryFile {
	name = $state('');
	plan = $state.raw<Plan>();
	done = $state.raw<Done>();
	failure = $state.raw<Failure>();
	/** came counts what had come in before something failed. */
	came = $state(0);
	busy = $state(false);
	ready = $derived(!!this.plan && this.plan.wrong.length === 0 && this.plan.added + this.plan.changed > 0);

	#kernel: Kernel;
	#all: MemoryImport[] = [];

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	/** look reads a file, and says what would come of it. */
	async look(file: File): Promise<void> {
		this.plan = this.done = undefined;
		this.name = file.name;
		await this.#work(async () => {
			const { all, at, wrong } = linesOf(await file.text());
			const plan: Plan = { added: 0, changed: 0, same: 0, spaces: [], wrong };
			for (let from = 0; from < all.length; from += CALL) {
				const p = await this.#kernel.memory.importPreview(all.slice(from, from + CALL));
				plan.added += p.added;
				plan.changed += p.changed;
				plan.same += p.same;
				plan.spaces = [...new Set([...plan.spaces, ...p.spaces])];
				wrong.push(...p.wrong.map((w) => ({ line: at[from + w.at - 1]!, text: w.text })));
			}
			wrong.sort((a, b) => a.line - b.line);
			this.#all = all;
			this.plan = plan;
		});
	}

	/** run takes the memories in. */
	async run(): Promise<void> {
		const done: Done = { added: 0, changed: 0, spaces: [] };
		this.came = 0;
		await this.#work(async () => {
			for (let from = 0; from < this.#all.length; from += CALL) {
				const r = await this.#kernel.memory.import(this.#all.slice(from, from + CALL));
				done.added += r.added;
				done.changed += r.changed;
				done.spaces.push(...r.spaces);
				this.came = done.added + done.changed;
			}
			// What was there as it came is not counted as changed.
			this.done = { ...done, changed: Math.max(0, done.changed - (this.plan?.same ?? 0)) };
		});
	}

	async #work(work: () => Promise<void>): Promise<void> {
		this.busy = true;
		this.failure = undefined;
		try {
			await work();
		} catch (e) {
			this.failure = failureOf(e);
		} finally {
			this.busy = false;
		}
	}
}

/** faultOf is what is wrong with a line, in the language of the page. */
export const faultOf = (w: Plan['wrong'][number]) => i18n.either(w.text.en, w.text.ko);
