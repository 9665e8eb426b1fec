import { describe, expect, it } from 'vitest';
import { fuzzy } from './fuzzy';

/** shown is a text with what fitted in brackets, or "" when it does not fit. */
function shown(query: string, text: string): string {
	const hit = fuzzy(query)(text);
	if (!hit) return '';
	let out = '';
	let from = 0;
	for (const [a, b] of hit.at) {
		out += `${text.slice(from, a)}[${text.slice(a, b)}]`;
		from = b;
	}
	return out + text.slice(from);
}

/** order is the texts that fit, the best first. */
function order(query: string, texts: string[]): string[] {
	const find = fuzzy(query);
	return texts
		.flatMap((text) => {
			const hit = find(text);
			return hit ? [{ text, score: hit.score }] : [];
		})
		.sort((a, b) => b.score - a.score)
		.map((x) => x.text);
}

describe('a query in Korean', () => {
	it.each([
		['ㅈㅈ ㅅㅈ', '제주 사진 정리', '[제주] [사진] 정리'],
		['ㅅㅈ', '제주 사진 정리', '제주 [사진] 정리'],
		['ㅈㅅ', '제주 사진 정리', '[제]주 [사]진 정리'],
		['사진', '제주 사진 정리', '제주 [사진] 정리'],
		['정리 제주', '제주 사진 정리', '[제주] 사진 [정리]'],
		['ㅅㅈ', '설정', '[설정]'],
		['새 대', '새 대화', '[새] [대]화'],
	])('%s finds %s', (query, text, want) => expect(shown(query, text)).toBe(want));

	it.each(['ㅈ', '제', '젲', '제주', '제줏', '제주 ㅅ', '제주 사', '제주 샂', '제주 사지', '제주 사진'])(
		'finds the title at every moment of its composition: %s',
		(query) => expect(shown(query, '제주 사진 정리')).not.toBe(''),
	);

	it('finds by two first consonants that the keyboard joined into one', () => {
		expect(shown('ㄳ', '사진 감사')).toBe('사진 [감사]');
		expect(shown('ㅄ', '봄 사진')).toBe('[봄] [사]진');
	});

	it('does not find a syllable that merely shares a vowel', () => expect(shown('바', '제주 사진')).toBe(''));

	it('may come decomposed, as a Mac pastes it', () =>
		expect(shown('사진'.normalize('NFD'), '제주 사진')).toBe('제주 [사진]'));
});

describe('the wrong keyboard layout', () => {
	it('finds Korean typed with English keys', () => expect(shown('tjfwjd', '설정')).toBe('[설정]'));
	it('finds English typed with Korean keys', () => expect(shown('ㄴㄷㅅ샤ㅜㅎㄴ', 'Settings')).toBe('[Settings]'));
});

describe('a query in English', () => {
	it.each([
		['nc', 'New conversation', '[N]ew [c]onversation'],
		['new conv', 'New conversation', '[New] [conv]ersation'],
		['stngs', 'Settings', '[S]e[t]ti[ngs]'],
		['perm mode', 'Permission mode: Ask', '[Perm]ission [mode]: Ask'],
		['qwen14', 'qwen3:14b', '[qwen]3:[14]b'],
		['xyz', 'Settings', ''],
		['sgs', 'a sentence with nothing of it inside', ''],
	])('%s in %s', (query, text, want) => expect(shown(query, text)).toBe(want));

	it('puts what begins so before what contains it, and that before scattered letters', () => {
		expect(order('set', ['Sort every test', 'Reset the page', 'Open settings', 'Settings'])).toEqual([
			'Settings',
			'Open settings',
			'Reset the page',
			'Sort every test',
		]);
	});

	it('puts a whole word before the beginning of a longer one', () => {
		expect(order('dark', ['Darkroom prints', 'Theme: Dark'])[0]).toBe('Darkroom prints');
		expect(order('dark', ['Theme: Darkroom', 'Theme: Dark'])[0]).toBe('Theme: Dark');
	});
});

it('everything fits no words', () => expect(fuzzy('  ')('anything')).toEqual({ score: 0, at: [] }));
