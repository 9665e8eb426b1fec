import type { Kernel } from './api.gen';
import { failureOf } from './transport';

/**
 * writeNew writes a text as a note that was not there. Where the name is taken it gets a number. It returns the path.
 * A run is the one whose words they are: the note says so, and carries what that run had read.
 */
export async function writeNew(kernel: Kernel, name: string, text: string, run?: string): Promise<string> {
	for (let i = 1; ; i++) {
		const path = i === 1 ? `${name}.md` : `${name} ${i}.md`;
		try {
			return (await kernel.knowledge.write({ path, text, base: '', run_id: run })).path;
		} catch (e) {
			if (failureOf(e).code !== 'conflict' || i >= 100) throw e;
		}
	}
}
