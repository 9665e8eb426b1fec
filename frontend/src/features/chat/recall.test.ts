import { describe, expect, it } from 'vitest';
import { Recall } from './recall';

/** field is a field that shows what is brought back, with the caret at its end. */
function field(sent: string[]) {
	const recall = new Recall();
	const f = {
		text: '',
		press: (by: 1 | -1, caret?: number): boolean => {
			const got = recall.go(by, f.text, caret ?? f.text.length, sent);
			if (got !== undefined) f.text = got;
			return got !== undefined;
		},
	};
	return f;
}

describe('↑', () => {
	it('goes back to the first message and forward to the empty field', () => {
		const f = field(['one', 'two']);
		const seen = [1, 1, 1, -1, -1, -1].map((by) => [f.press(by as 1 | -1), f.text]);
		expect(seen).toEqual([
			[true, 'two'],
			[true, 'one'],
			[false, 'one'],
			[true, 'two'],
			[true, ''],
			[false, ''],
		]);
	});

	it('leaves what was written to its writer', () => {
		const f = field(['one', 'two']);
		f.text = 'my own';
		expect(f.press(1)).toBe(false);
		f.text = '';
		f.press(1);
		f.text += ', changed';
		expect(f.press(1)).toBe(false);
		expect(f.press(-1)).toBe(false);
		f.text = '';
		f.press(1);
		expect(f.text).toBe('two');
	});

	it('moves between the lines of a message first', () => {
		const f = field(['one', 'first\nsecond']);
		f.press(1);
		expect(f.press(1)).toBe(false);
		expect(f.press(-1, 3)).toBe(false);
		expect(f.press(1, 3)).toBe(true);
		expect(f.text).toBe('one');
	});

	it('has nothing to do before anything was sent', () => {
		expect(field([]).press(1)).toBe(false);
	});
});
