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
	return writeNew(kernel, `${FOLDER}/${name}`, `${top}${answer.content.trimEnd()}\n`, answer.run_id);
}
