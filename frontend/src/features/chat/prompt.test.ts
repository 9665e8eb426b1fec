import { describe, expect, it } from 'vitest';
import type { MCPPrompt } from '../../kernel/api.gen';
import { missing, startedIn, textOf } from './prompt';

const greet: MCPPrompt = {
	...{ server: 'test', name: 'greet', call: 'test:greet' },
	args: [{ name: 'name', required: true }, { name: 'tone' }],
};

describe('a prompt of a server', () => {
	it('is read from the text, and what follows its values is the person’s', () => {
		const s = startedIn('/test:greet name="Ann \\"A\\" Lee" tone=warm be=brief', [greet])!;
		expect(s.values).toEqual({ name: 'Ann "A" Lee', tone: 'warm' });
		expect(s.rest).toBe('be=brief');
		expect(startedIn('/test:sing', [greet])).toBeUndefined();
		expect(startedIn('see /test:greet', [greet])).toBeUndefined();
		expect(startedIn('/test:greetings', [greet])).toBeUndefined();
	});

	it('is written so that it is read the same', () => {
		for (const name of ['Ann', 'Ann Lee', 'a "b" \\ c', '여러 줄\n둘째', 'x=y'])
			for (const rest of ['', 'and more\nthan that']) {
				const s = { prompt: greet, values: { name }, rest };
				expect(startedIn(textOf(s), [greet])).toEqual(s);
			}
	});

	it('says what it lacks', () => {
		expect(missing(startedIn('/test:greet tone=x', [greet])!)).toEqual(['name']);
		expect(missing(startedIn('/test:greet name=" "', [greet])!)).toEqual(['name']);
		expect(missing(startedIn('/test:greet name=x', [greet])!)).toEqual([]);
	});
});
