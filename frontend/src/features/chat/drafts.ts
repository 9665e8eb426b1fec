const key = (id: string) => `oxios.draft.${id || 'new'}`;

/** draft returns what was typed in a conversation and not sent. The empty id is the home's. */
export function draft(id: string): string {
	return localStorage.getItem(key(id)) ?? '';
}

/** keepDraft remembers what is typed. A text too large for the browser's store stays in the page only. */
export function keepDraft(id: string, text: string): void {
	try {
		if (text) localStorage.setItem(key(id), text);
		else localStorage.removeItem(key(id));
	} catch {
		localStorage.removeItem(key(id));
	}
}
