import type { VaultCompared, VaultWriter } from '../api.gen';
import { difference } from './past';

/** FakeEdits knows which runs wrote what stands in the notes. */
export class FakeEdits {
	#by = new Map<string, { text: string; by: VaultWriter[] }>();

	/** wrote is called with what a run makes of a note. */
	wrote(path: string, before: string, text: string, writer: VaultWriter): void {
		const was = this.#by.get(path);
		const others = was?.text === before ? was.by.filter((w) => w.run_id !== writer.run_id) : [];
		this.#by.set(path, { text, by: [writer, ...others] });
	}

	compare(path: string, text: string, now: string, hash: string): VaultCompared {
		const last = this.#by.get(path);
		const diff = text === now ? '' : difference(text, now);
		const count = (sign: string) => diff.split('\n').filter((l, i) => i > 2 && l.startsWith(sign)).length;
		return { path, hash, diff, added: count('+'), removed: count('-'), by: last?.text === now ? last.by : [] };
	}
}
