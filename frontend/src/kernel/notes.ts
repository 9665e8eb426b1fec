import type { Kernel } from './api.gen';
import { failureOf } from './transport';

/** writeNew writes a text as a note that was not there. Where the name is taken it gets a number. It returns the path. */
export async function writeNew(kernel: Kernel, name: string, text: string): Promise<string> {
	for (let i = 1; ; i++) {
		const path = i === 1 ? `${name}.md` : `${name} ${i}.md`;
		try {
			return (await kernel.knowledge.write({ path, text, base: '' })).path;
		} catch (e) {
			if (failureOf(e).code !== 'conflict' || i >= 100) throw e;
		}
	}
}
