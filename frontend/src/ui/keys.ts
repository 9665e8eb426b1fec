/**
 * composing reports whether a key belongs to an input method that is putting a character together.
 * With ibus-hangul in WebKitGTK the Enter that ends a syllable comes with keyCode 229 and is followed by a real Enter:
 * the first one must do nothing, the second one counts.
 */
export function composing(e: KeyboardEvent): boolean {
	return e.isComposing || e.keyCode === 229;
}

/** enter reports whether a key is an Enter that a person means, outside of a composition. */
export function enter(e: KeyboardEvent): boolean {
	return (e.code === 'Enter' || e.code === 'NumpadEnter' || e.key === 'Enter') && !composing(e);
}

/** sends reports whether a key sends a message: Enter alone, or, when a person set it so, Enter with Ctrl. */
export function sends(e: KeyboardEvent, enterSends: boolean): boolean {
	if (!enter(e) || e.shiftKey || e.altKey) return false;
	return enterSends ? !e.ctrlKey && !e.metaKey : e.ctrlKey || e.metaKey;
}

/** inField reports whether a key was pressed where text is written; single letters work only elsewhere. */
export function inField(e: KeyboardEvent): boolean {
	const at = e.target as HTMLElement | null;
	return !!at?.closest?.('input, textarea, select, [contenteditable]');
}

const mac = /Mac|iPhone|iPad/.test(navigator.platform ?? '');

/**
 * pressed reports whether e is the shortcut: "Ctrl+KeyN", "Alt+KeyA", "Escape". It compares codes, because a letter key
 * reads Unidentified while Hangul is on. Ctrl is the command key on a Mac.
 */
export function pressed(e: KeyboardEvent, shortcut: string): boolean {
	const parts = shortcut.split('+');
	const code = parts.pop();
	const main = mac ? e.metaKey : e.ctrlKey;
	return (
		e.code === code &&
		main === parts.includes('Ctrl') &&
		e.altKey === parts.includes('Alt') &&
		e.shiftKey === parts.includes('Shift') &&
		!(mac ? e.ctrlKey : e.metaKey)
	);
}

/** withCtrl reports whether the main modifier was held: what is chosen then opens beside. */
export const withCtrl = (e: MouseEvent | KeyboardEvent): boolean => (mac ? e.metaKey : e.ctrlKey);

const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };

/** moved is how many rows of a list a key goes down; undefined for a key that moves nowhere. */
export function moved(e: KeyboardEvent): number | undefined {
	const key = Object.keys(moves).find((code) => pressed(e, code));
	return key ? moves[key] : undefined;
}

/** ctrl is the name of the main modifier on this machine. */
export const ctrl = mac ? '⌘' : 'Ctrl';

/**
 * The shortcuts of the whole window, each with the keys that do it; the first is the one that is shown. A browser keeps
 * some for itself (Ctrl N opens a window of its own), so those have a second way.
 */
export const shortcuts = {
	palette: ['Ctrl+KeyK'],
	newChat: ['Ctrl+KeyN', 'Alt+KeyN'],
	search: ['Ctrl+KeyF'],
	pane: ['Ctrl+KeyB'],
	side: ['Ctrl+Alt+KeyB'],
	inbox: ['Ctrl+KeyI'],
	agents: ['Ctrl+Shift+KeyA'],
	memory: ['Ctrl+Shift+KeyM'],
	audit: ['Ctrl+Shift+KeyL'],
	knowledge: ['Ctrl+Shift+KeyK'],
	note: ['Ctrl+KeyO'],
	journal: ['Ctrl+KeyJ'],
	split: ['Ctrl+Backslash'],
	nextSide: ['F6'],
	settings: ['Ctrl+Comma'],
	card: ['Alt+KeyA'],
	shortcuts: ['Shift+Slash', 'F1'],
} as const;

export type Shortcut = keyof typeof shortcuts;

/** shortcutOf returns the shortcut that a key is. One without a modifier works only where no text is written. */
export function shortcutOf(e: KeyboardEvent): Shortcut | undefined {
	for (const name of Object.keys(shortcuts) as Shortcut[]) {
		for (const keys of shortcuts[name]) {
			const plain = keys.startsWith('Shift+');
			if (pressed(e, keys) && !(plain && inField(e))) return name;
		}
	}
	return undefined;
}

const names: Record<string, string> = {
	Ctrl: ctrl,
	Alt: mac ? '⌥' : 'Alt',
	Shift: mac ? '⇧' : 'Shift',
	Comma: ',',
	Backslash: '\\',
	Escape: 'Esc',
	Enter: '↵',
	ArrowUp: '↑',
};

/** keysOf is how a shortcut is written on the screen: "Ctrl K". */
export function keysOf(keys: string): string {
	if (keys === 'Shift+Slash') return '?';
	return keys
		.split('+')
		.map((k) => names[k] ?? k.replace(/^(Key|Digit)/, ''))
		.join(' ');
}
