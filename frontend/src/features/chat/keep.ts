import type { Kernel, Message } from '../../kernel/api.gen';
import { writeNew } from '../../kernel/notes';
import { fileName } from '../../ui/format';
import { i18n } from '../../ui/i18n/index.svelte';

/** Where answers go in the vault. */
const FOLDER = 'Answers';

/** keepAnswer writes an answer as a note that says which run it is from, and from where. It returns the path. */
export async function keepAnswer(kernel: Kernel, answer: Message, title: string): Promise<string> {
	const heading = /^#{1,3} +(.+?)(?: +#*)?$/m.exec(answer.content.slice(0, 400));
	const named = heading?.[1]?.replace(/[*`[\]]/g, '') ?? title;
	const name = fileName(named || i18n.t.knowledge.answer).replace(/[#^[\]]/g, '');
	const top = answer.content.startsWith('#') ? '' : `# ${named || i18n.t.knowledge.answer}\n\n`;
	const head = await provenance(kernel, answer);
	return writeNew(kernel, `${FOLDER}/${name}`, `---\n${head}\n---\n${top}${answer.content.trimEnd()}\n`);
}

/** provenance is the line that the kernel reads in the head of a note that an agent wrote. */
async function provenance(kernel: Kernel, answer: Message): Promise<string> {
	const run = answer.run_id;
	// Without what it has read the answer is worth keeping all the same.
	const labels = run ? await kernel.security.labels({ run_id: run }).catch(() => []) : [];
	const source = [...new Set((labels ?? []).map((l) => l.name).filter((n) => /^https?:\/\//.test(n)))];
	const text = (v: string | undefined) => JSON.stringify(v ?? '');
	const date = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
	return `oxios: {run: ${text(run)}, session: ${text(answer.session_id)}, source: [${source.map(text).join(', ')}], date: ${text(date)}}`;
}
