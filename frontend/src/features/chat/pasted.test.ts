import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import EditLive from './EditLive.test.svelte';
import { follow, trimmed } from './pasted';

const at = (text: string, part: string) => ({ from: text.indexOf(part), to: text.indexOf(part) + part.length });

it('knows which part of a text was pasted, through every edit', () => {
	const pasted = 'see https://evil.example now';
	let text = 'What is this: ';
	let spans = follow([], text, text + pasted, true, (text + pasted).length);
	text += pasted;
	expect(spans).toEqual([at(text, pasted)]);
	const typed = 'Hello. ' + text;
	spans = follow(spans, text, typed, false, 7);
	expect(spans).toEqual([at(typed, pasted)]);
	const inside = typed.replace('evil', 'very evil');
	expect(follow(spans, typed, inside, false)).toEqual([at(inside, 'see https://very evil.example now')]);
	expect(follow(spans, typed, 'Hello.', false)).toEqual([]);
	const behind = typed + ' and https://typed.example';
	expect(follow(spans, typed, behind, false, behind.length)).toEqual([at(behind, pasted)]);
});

it('marks what is pasted where the same signs stand already', () => {
	expect(follow([], 'aa', 'aaaa', true, 3)).toEqual([{ from: 1, to: 3 }]);
	expect(follow([], 'abcd', 'abXYcd', true, 4)).toEqual([{ from: 2, to: 4 }]);
});

it('keeps the parts of a text without the room around it', () => {
	const text = '  see https://a.example  ';
	expect(trimmed(text, [{ from: 6, to: text.length }])).toEqual({
		text: 'see https://a.example',
		spans: [{ from: 4, to: 21 }],
	});
	expect(trimmed('a', [])).toEqual({ text: 'a', spans: [] });
});

it('tells the kernel what was pasted into a message that is edited', async () => {
	const fake = new FakeTransport({ pace: 0 });
	const live = new Live(makeKernel(fake), fake);
	const onsend = vi.fn(async () => true);
	render(EditLive, { live, text: 'Look at: ', onsend });
	const field = screen.getByRole<HTMLTextAreaElement>('textbox');
	const edit = async (value: string, inputType: string) => {
		field.value = value;
		field.setSelectionRange(value.length, value.length);
		await fireEvent(field, new InputEvent('input', { bubbles: true, inputType }));
	};
	await edit('Look at: https://a.example', 'insertFromPaste');
	await edit('Look at: https://a.example now', 'insertText');
	await fireEvent.click(screen.getByRole('button', { name: 'Send' }));
	expect(onsend).toHaveBeenCalledWith('Look at: https://a.example now', [{ from: 9, to: 26 }]);
	cleanup();
});
