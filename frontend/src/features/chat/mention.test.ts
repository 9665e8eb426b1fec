import { describe, expect, it } from 'vitest';
import { mentionsIn, tokenAt, written } from './mention';

/** at is what is being written where the text has a |. */
function at(text: string) {
	const caret = text.indexOf('|');
	const whole = text.replace('|', '');
	const token = tokenAt(whole, caret);
	return token && [token.sign, token.words, whole.slice(token.from, token.to)];
}

describe('what is being written', () => {
	it('is a mention where a word begins', () => {
		expect(at('@|')).toEqual(['@', '', '@']);
		expect(at('see @src/ma|')).toEqual(['@', 'src/ma', '@src/ma']);
		expect(at('(@a|')).toEqual(['@', 'a', '@a']);
		expect(at('two lines\n@제주|')).toEqual(['@', '제주', '@제주']);
		expect(at('me@example.com|')).toBeUndefined();
		expect(at('@a.txt |')).toBeUndefined();
		expect(at('|@a')).toBeUndefined();
	});

	it('has spaces in quotes', () => {
		expect(at('@"a b|')).toEqual(['@', 'a b', '@"a b']);
		expect(at('@"a b|c.txt" and more')).toEqual(['@', 'a b', '@"a bc.txt"']);
		expect(at('@"a b.txt" |')).toBeUndefined();
	});

	it('goes to the end of the word that the caret stands in', () => {
		expect(at('@src/ma|in.go is long')).toEqual(['@', 'src/ma', '@src/main.go']);
		expect(at('/mo|de')).toEqual(['/', 'mo', '/mode']);
	});

	it('is a command at the very beginning, and no path', () => {
		expect(at('/|')).toEqual(['/', '', '/']);
		expect(at('/새대|')).toEqual(['/', '새대', '/새대']);
		expect(at('/model qwen/qwen3 14|')).toEqual(['/', 'model qwen/qwen3 14', '/model qwen/qwen3 14']);
		expect(at(' /mode|')).toBeUndefined();
		expect(at('a\n/mode|')).toBeUndefined();
		expect(at('/etc/ho|')).toBeUndefined();
		expect(at('/etc|/hosts')).toBeUndefined();
		expect(at('/mode\nand more|')).toBeUndefined();
	});

	it('is found at once at the end of a long text', () => {
		const text = `${'word @x '.repeat(120_000)}@a`;
		const began = performance.now();
		expect(tokenAt(text, text.length)?.words).toBe('a');
		expect(performance.now() - began).toBeLessThan(100);
	});
});

describe('a mention in a message', () => {
	const found = (text: string) => mentionsIn(text).flatMap(([piece, is]) => (is ? [piece] : []));

	it('is cut out, and nothing is lost', () => {
		const text = 'Compare @src/a.go, @"b c.txt" and (@docs/). Not me@x.com.';
		expect(found(text)).toEqual(['@src/a.go', '@"b c.txt"', '@docs/']);
		expect(
			mentionsIn(text)
				.map(([p]) => p)
				.join(''),
		).toBe(text);
		expect(mentionsIn('')).toEqual([]);
	});

	it('ends before a sentence does, and before a Korean particle', () => {
		expect(found('Look at @a.txt. And @b.md?')).toEqual(['@a.txt', '@b.md']);
		expect(found('@보고서.hwp를 @src/main.go와 비교')).toEqual(['@보고서.hwp', '@src/main.go']);
	});

	it('is a path: what has neither a dot nor a slash is a name or code', () => {
		expect(found('@media (x) @Override @minji. @')).toEqual([]);
	});

	it('is written so that all of it is found again', () => {
		for (const path of [
			'src/main.go',
			'Makefile',
			'src/',
			'a b.txt',
			'보고서.hwp',
			'v1.0초안',
			'odd).txt.',
			'say "hi".txt',
			'a\\b c',
			'@x/y',
			'.env',
		]) {
			const text = written(path);
			expect(
				mentionsIn(`see ${text} now`).filter(([, is]) => is),
				path,
			).toEqual([[text, true]]);
		}
		expect([written('a b.txt'), written('Makefile'), written('src/x.ts')]).toEqual([
			'@"a b.txt"',
			'@./Makefile',
			'@src/x.ts',
		]);
	});
});
