import { describe, expect, it } from 'vitest';
import { Speaker } from './speech';

const words = { code: 'Code.', table: 'Table.' };

/** streamed speaks a text that comes in pieces of n characters, and returns what was said at each piece. */
function streamed(text: string, n: number): string[][] {
	const speaker = new Speaker();
	const out: string[][] = [];
	for (let i = n; i < text.length + n; i += n) out.push(speaker.next(text.slice(0, i), words));
	out.push(speaker.rest(text, words));
	return out.filter((x) => x.length > 0);
}

const said = (text: string, n = 3) => streamed(text, n).flat();

describe('what is announced', () => {
	it('are whole sentences, each once, however small the pieces are', () => {
		const text = 'There are two files. One is a note! Shall I read it?';
		for (const n of [1, 3, 7, 100]) {
			expect(said(text, n)).toEqual(['There are two files.', 'One is a note!', 'Shall I read it?']);
		}
	});

	it('is nothing while a sentence is not complete', () => {
		const speaker = new Speaker();
		expect(speaker.next('There are two', words)).toEqual([]);
		expect(speaker.next('There are two files.', words)).toEqual([]); // 3.5 may still become of it
		expect(speaker.next('There are two files. ', words)).toEqual(['There are two files.']);
		expect(speaker.rest('There are two files. ', words)).toEqual([]);
	});

	it('does not end at the point of a number', () => {
		expect(said('It takes 3.5 GB. Fine.')).toEqual(['It takes 3.5 GB.', 'Fine.']);
	});

	it('is Korean too', () => {
		expect(said('파일이 두 개 있습니다. 하나는 메모예요! 읽을까요?')).toEqual([
			'파일이 두 개 있습니다.',
			'하나는 메모예요!',
			'읽을까요?',
		]);
	});

	it('is a line of a list as it stands', () => {
		expect(said('Two things:\n\n- **one**\n- [two](https://example.org)\n')).toEqual(['Two things:', 'one', 'two']);
	});

	it('names code and tables instead of reading them out', () => {
		const text =
			'Run this:\n\n```sh\nrm -rf build. now\necho ok\n```\n\nThen look:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nDone.';
		for (const n of [1, 5, 400]) expect(said(text, n)).toEqual(['Run this:', 'Code.', 'Then look:', 'Table.', 'Done.']);
	});

	it('has no marks of markdown in it', () => {
		expect(said('## A head\n\nThis is *very* `small` and **bold**.')).toEqual([
			'A head',
			'This is very small and bold.',
		]);
	});
});
