import { afterEach, describe, expect, it } from 'vitest';
import { contextSize, day, duration, fileName, money, shortPath, size, span, tokens } from './format';
import { en } from './i18n/en';
import { i18n, languageOf } from './i18n/index.svelte';
import { ko } from './i18n/ko';

afterEach(() => i18n.set('en'));

describe('the name of a file', () => {
	it.each([
		['Fix a/b: why?', 'Fix a b why'],
		['..hidden', 'hidden'],
		['제주 사진 정리', '제주 사진 정리'],
		['a\nb', 'a b'],
		['', 'oxios'],
		['x'.repeat(90), 'x'.repeat(60)],
	])('of %j is %j', (title, name) => expect(fileName(title)).toBe(name));
});

describe('figures', () => {
	it('never shows a small sum as nothing', () => {
		expect(money(0.0001)).toBe('<$0.001');
		expect(money(0.011)).toBe('$0.011');
		expect(money(0.42)).toBe('$0.42');
	});
	it('writes tokens and sizes short', () => {
		expect(tokens(820)).toBe('820');
		expect(tokens(12_400)).toBe('12.4k');
		expect(contextSize(40_960)).toBe('40k');
		expect(contextSize(128_000)).toBe('128k');
		expect(size(10_400_000)).toBe('10.4 MB');
	});
	it('says the length of a window in its largest whole unit', () => {
		expect([900, 5400, 3600, 21600].map(span)).toEqual(['15 min', '90 min', '1 h', '6 h']);
	});

	it('says durations in the language of the page', () => {
		expect(duration(700)).toBe('0.7 s');
		expect(duration(252_000)).toBe('4 min 12 s');
		i18n.set('ko');
		expect(duration(700)).toBe('0.7초');
	});
	it('counts days by the calendar, not by 24 hours', () => {
		const now = new Date(2026, 10, 21, 0, 30);
		expect(day(new Date(2026, 10, 20, 23, 50).toISOString(), now)).toBe(-1);
		expect(day(new Date(2026, 10, 21, 23, 0).toISOString(), now)).toBe(0);
	});
	it('shortens the home only as a whole folder', () => {
		expect(shortPath('/home/minji/src')).toBe('~/src');
		expect(shortPath('/rootless/x')).toBe('/rootless/x');
	});
});

describe('dictionary', () => {
	const leaves = (d: object, path = ''): [string, unknown][] =>
		Object.entries(d).flatMap(([k, v]) =>
			typeof v === 'object' ? leaves(v, `${path}${k}.`) : [[path + k, v] as [string, unknown]],
		);

	it('has every sentence in both languages, and none empty', () => {
		const english = new Map(leaves(en));
		const korean = new Map(leaves(ko));
		expect([...korean.keys()].sort()).toEqual([...english.keys()].sort());
		for (const [key, value] of [...english, ...korean]) expect(value, key).not.toBe('');
	});

	it('has no English sentence left in Korean', () => {
		const english = new Map(leaves(en));
		const same = leaves(ko).filter(([key, v]) => typeof v === 'string' && v === english.get(key));
		// A command and the name of a product are the same in every language.
		const named = ([key]: [string, unknown]) =>
			key.startsWith('extensions.import.programs.') ||
			['about.owners.run', 'about.owners.serve', 'audit.who.oxios', 'chat.oxios'].includes(key);
		expect(same.filter((leaf) => !named(leaf)).map(([key]) => key)).toEqual([]);
	});

	it('counts one thing as one', () => {
		expect(en.chat.filesChanged(1)).toBe('1 file changed');
		expect(en.chat.filesChanged(2)).toBe('2 files changed');
		expect(ko.chat.filesChanged(2)).toBe('파일 2개 변경');
	});

	it('follows the system where the setting says auto', () => {
		expect(languageOf('auto', ['fr-FR', 'ko-KR', 'en-US'])).toBe('ko');
		expect(languageOf('', ['de-DE'])).toBe('en');
		expect(languageOf('en', ['ko-KR'])).toBe('en');
	});
});
