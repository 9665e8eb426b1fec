import { shortPath } from './format';
import { i18n } from './i18n/index.svelte';

/** Named is a space as far as it is named; none is the default one. */
interface Named {
	name: string;
	emoji: string;
}

/** labelOf is how a space is called everywhere: its emoji and its name. */
export function labelOf(s: Named | undefined): string {
	return s ? `${s.emoji} ${s.name}`.trim() : i18n.t.spaces.default;
}

/** tagOf names a space beside a conversation, as the kernel writes it in front of an answer; "" for the default one. */
export function tagOf(s: Named | undefined): string {
	return s ? `[${labelOf(s)}]` : '';
}

/** hintOf says in a few words what a space is for: its folder, or its words. */
export function hintOf(s: { folder: string; words: string[] }): string {
	return s.folder ? shortPath(s.folder) : s.words.slice(0, 3).join(', ');
}

/** whyOf says why a conversation is in its space; named is the path or the words that told, where they are known. */
export function whyOf(why: string, named = ''): string {
	const t = i18n.t.spaces.why;
	if (why === 'person') return t.person;
	if (why === 'path') return t.path(shortPath(named));
	if (why === 'word') return t.word(named);
	if (why === 'active') return t.active;
	return why === 'topic' ? t.topic : t.none;
}
