import type { Span } from '../../kernel/api.gen';

const key = (id: string) => `oxios.draft.${id || 'new'}`;

/** draft returns what was typed in a conversation and not sent. The empty id is the home's. */
export function draft(id: string): string {
	return localStorage.getItem(key(id)) ?? '';
}

const pastedKey = (id: string) => `oxios.pasted.${id || 'new'}`;

/** draftPasted are the parts of a draft that were pasted. What cannot be read counts as pasted as a whole. */
export function draftPasted(id: string): Span[] {
	try {
		return JSON.parse(localStorage.getItem(pastedKey(id)) ?? '[]') as Span[];
	} catch {
		return [{ from: 0, to: draft(id).length }];
	}
}

/** keepDraft remembers what is typed. A text too large for the browser's store stays in the page only. */
export function keepDraft(id: string, text: string, pasted: readonly Span[] = []): void {
	try {
		if (pasted.length > 0) localStorage.setItem(pastedKey(id), JSON.stringify(pasted));
		else localStorage.removeItem(pastedKey(id));
		if (text) localStorage.setItem(key(id), text);
		else localStorage.removeItem(key(id));
	} catch {
		localStorage.removeItem(key(id));
	}
}
