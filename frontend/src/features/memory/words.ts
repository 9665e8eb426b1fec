import type { Label, Memory, MemoryCuration } from '../../kernel/api.gen';
import { clock, day } from '../../ui/format';
import { i18n } from '../../ui/i18n/index.svelte';

/** dateOf is a day as people say it; of this year without the year. */
export function dateOf(at: string, now = new Date()): string {
	const d = new Date(at);
	const year = d.getFullYear() === now.getFullYear() ? {} : ({ year: 'numeric' } as const);
	return d.toLocaleDateString(i18n.language, { day: 'numeric', month: 'short', ...year });
}

/** lately is a time in a list: of today the clock, else the day. */
export function lately(at: string, now = new Date()): string {
	return day(at, now) === 0 ? clock(at) : dateOf(at, now);
}

/** exactly is a time with its year. */
export function exactly(at: string): string {
	const date = new Date(at).toLocaleDateString(i18n.language, {
		day: 'numeric',
		month: 'short',
		year: 'numeric',
	});
	return `${date}, ${clock(at)}`;
}

/** sourceOf says where a memory comes from; title is that of its conversation, where it is known. */
export function sourceOf(m: Memory, title = ''): string {
	const t = i18n.t.memory;
	if (m.source === 'conversation' && title) return t.from(title);
	return t.sources[m.source] ?? m.source;
}

export const kindOf = (m: Memory) => i18n.t.memory.kinds[m.kind] ?? m.kind;

/** fromOutside reports whether what its agent had read may hold words of somebody else. */
export const fromOutside = (m: Memory) => (m.labels ?? []).some((l) => l.untrusted);

/** marksOf says of what was read what matters about it. */
export function marksOf(l: Label): string {
	const t = i18n.t.memory;
	return [l.untrusted ? t.outsideMark : '', l.sensitive ? t.privateMark : ''].filter(Boolean).join(', ');
}

/** hits splits a text at the words that it was looked for by: every second part is one of them. */
export function hits(text: string, words: string): string[] {
	const parts = words.split(/\s+/).filter((w) => w.length > 1 || /\p{Script=Hangul}/u.test(w));
	if (parts.length === 0) return [text];
	const any = parts.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
	return text.split(new RegExp(`(${any})`, 'giu'));
}

const NIGHT = 36 * 3_600_000;

/** whenOf says when the memories were put in order: last night, or a day. */
export function whenOf(r: MemoryCuration, now = new Date()): string {
	const recent = now.getTime() - new Date(r.at).getTime() < NIGHT;
	return r.night && recent ? i18n.t.tidied.lastNight : lately(r.at, now);
}

/** partsOf says what was done, each kind by itself; nothing when nothing was. */
export function partsOf(r: MemoryCuration): string[] {
	const kinds = ['merged', 'dated', 'replaced', 'pruned', 'cleared'] as const;
	return kinds.filter((k) => r[k] > 0).map((k) => i18n.t.tidied[k](r[k]));
}
