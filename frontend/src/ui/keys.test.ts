import { describe, expect, it } from 'vitest';
import { composing, enter, keysOf, pressed, sends, shortcutOf, shortcuts } from './keys';

function key(init: KeyboardEventInit & { keyCode?: number }): KeyboardEvent {
	const e = new KeyboardEvent('keydown', init);
	if (init.keyCode !== undefined) Object.defineProperty(e, 'keyCode', { value: init.keyCode });
	return e;
}

describe('Korean input', () => {
	it('does not send with the Enter that ends a syllable, and sends with the one after it', () => {
		// As measured with ibus-hangul in WebKitGTK: 229 first, then a real Enter.
		const during = key({ key: 'Enter', code: 'Enter', keyCode: 229 });
		const after = key({ key: 'Enter', code: 'Enter', keyCode: 13 });
		expect(composing(during)).toBe(true);
		expect(sends(during, true)).toBe(false);
		expect(sends(after, true)).toBe(true);
	});

	it('does not send while isComposing is set', () => {
		expect(sends(key({ key: 'Enter', code: 'Enter', keyCode: 13, isComposing: true }), true)).toBe(false);
	});

	it('matches shortcuts by code, because Hangul keys read Unidentified', () => {
		expect(pressed(key({ key: 'ㅜ', code: 'KeyN', ctrlKey: true }), 'Ctrl+KeyN')).toBe(true);
		expect(pressed(key({ key: 'Unidentified', code: 'KeyD' }), 'KeyD')).toBe(true);
	});
});

describe('sending', () => {
	it('breaks the line with Shift', () => {
		expect(sends(key({ key: 'Enter', code: 'Enter', shiftKey: true }), true)).toBe(false);
	});

	it('asks for Ctrl where the person set it so', () => {
		expect(sends(key({ key: 'Enter', code: 'Enter' }), false)).toBe(false);
		expect(sends(key({ key: 'Enter', code: 'Enter', ctrlKey: true }), false)).toBe(true);
	});

	it('counts the Enter of the number pad', () => {
		expect(enter(key({ key: 'Enter', code: 'NumpadEnter' }))).toBe(true);
	});
});

it('a shortcut needs exactly its modifiers', () => {
	expect(pressed(key({ code: 'KeyN' }), 'Ctrl+KeyN')).toBe(false);
	expect(pressed(key({ code: 'KeyN', ctrlKey: true, shiftKey: true }), 'Ctrl+KeyN')).toBe(false);
	expect(pressed(key({ code: 'KeyA', altKey: true }), 'Alt+KeyA')).toBe(true);
});

describe('the shortcuts', () => {
	it('have keys of their own each', () => {
		const all = Object.values(shortcuts).flat();
		expect(new Set(all).size).toBe(all.length);
	});

	it('leave alone what a text field and a browser need', () => {
		// Select all, copy, cut, paste, undo, redo, print, close, new tab, reload, quit.
		for (const letter of 'ACXVZYPWTRQ') {
			expect(shortcutOf(key({ code: `Key${letter}`, ctrlKey: true }))).toBeUndefined();
		}
	});

	it('work while Hangul is on', () => {
		expect(shortcutOf(key({ key: 'ㅏ', code: 'KeyK', ctrlKey: true }))).toBe('palette');
		expect(shortcutOf(key({ key: 'Unidentified', code: 'Comma', ctrlKey: true }))).toBe('settings');
	});

	it('without a modifier work only where no text is written', () => {
		const e = key({ key: '?', code: 'Slash', shiftKey: true });
		expect(shortcutOf(e)).toBe('shortcuts');
		const field = document.createElement('textarea');
		Object.defineProperty(e, 'target', { value: field });
		expect(shortcutOf(e)).toBeUndefined();
	});

	it('are written as the keyboard names them', () => {
		expect(keysOf('Ctrl+KeyK')).toBe('Ctrl K');
		expect(keysOf('Ctrl+Comma')).toBe('Ctrl ,');
		expect(keysOf('Shift+Slash')).toBe('?');
	});
});
