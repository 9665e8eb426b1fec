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

const FOLDERS = 'oxios.folders';

/** recentFolders are the last folders that a conversation worked in, the newest first. */
export function recentFolders(): string[] {
	try {
		return (JSON.parse(localStorage.getItem(FOLDERS) ?? '[]') as string[]).slice(0, 6);
	} catch {
		return [];
	}
}

export function rememberFolder(path: string): void {
	localStorage.setItem(FOLDERS, JSON.stringify([path, ...recentFolders().filter((p) => p !== path)].slice(0, 6)));
}
