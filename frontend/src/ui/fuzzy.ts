import { convertHangulToQwerty, convertQwertyToHangul, disassemble, removeLastCharacter } from 'es-hangul';

/** Hit says how well a text fits (higher is better, 100 is a whole word at its start) and which of its characters did. */
export interface Hit {
	score: number;
	/** at are ranges of characters, [from, to), in order and apart from each other. */
	at: [number, number][];
}

/** Sign is what a Korean query may name a character by. */
interface Sign {
	/** it is the character in lower case. */
	it: string;
	/** first is its first consonant (초성): ㅈ of 줏. "" without one. */
	first: string;
	/** open is the syllable without its final consonant: 주 of 줏. "" without one. */
	open: string;
	/** word says that it is a letter or a figure. */
	word: boolean;
	upper: boolean;
}

/** Letter is one character of a text. */
interface Letter extends Sign {
	/** begins says that a word begins here. */
	begins: boolean;
}

const FIRST = 'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ';
const isSyllable = (c: string) => c >= '가' && c <= '힣';

/** What was read of characters and of texts; titles are asked for again with every key. */
const signs = new Map<string, Sign>();
const read = new Map<string, Letter[]>();
const MOST = 10_000;

function signOf(c: string): Sign {
	const known = signs.get(c);
	if (known) return known;
	if (signs.size > MOST) signs.clear();
	const code = c.charCodeAt(0) - 0xac00;
	const syllable = isSyllable(c);
	const made: Sign = {
		it: c.toLowerCase(),
		first: syllable ? FIRST[Math.floor(code / 588)]! : '',
		open: syllable ? String.fromCharCode(0xac00 + code - (code % 28)) : '',
		word: /[\p{L}\p{N}]/u.test(c),
		upper: /\p{Lu}/u.test(c),
	};
	signs.set(c, made);
	return made;
}

function letters(text: string): Letter[] {
	const known = read.get(text);
	if (known) return known;
	if (read.size > MOST) read.clear();
	let before: Sign | undefined;
	// Single code units: a range then counts as the string does.
	const made = text.split('').map((c) => {
		const sign = signOf(c);
		const begins = sign.word && (!before?.word || (sign.upper && !before.upper));
		before = sign;
		return { ...sign, begins };
	});
	read.set(text, made);
	return made;
}

/** fits reports whether a character of a query stands for one of a text. */
function fits(q: string, l: Letter): boolean {
	return q === l.it || q === l.first || q === l.open;
}

/**
 * spellings are the ways in which a word can be meant. While Hangul is composed, the consonant that begins the next
 * syllable stands under the last one (젲 on the way to 제주), and two consonants in a row join (ㄱㅅ becomes ㄳ).
 */
function spellings(word: string): string[] {
	const apart = word.replace(/[ㄳ-ㅄ]/g, (c) => (FIRST.includes(c) ? c : disassemble(c)));
	const last = apart.at(-1)!;
	if (!isSyllable(last) || (last.charCodeAt(0) - 0xac00) % 28 === 0) return [apart];
	return [apart, apart.slice(0, -1) + removeLastCharacter(last) + disassemble(last).at(-1)!];
}

/** otherLayout is the word as the same keys write it with the other keyboard layout: ㅁ개 for "ao". */
function otherLayout(word: string): string {
	return /^[a-z]+$/.test(word) ? convertQwertyToHangul(word) : convertHangulToQwerty(word).toLowerCase();
}

/** The score of what begins a word. */
const BEGINS = 80;

/** together finds the word in one piece. */
function together(q: string, text: Letter[]): Hit | undefined {
	let best: Hit | undefined;
	for (let i = 0; i + q.length <= text.length; i++) {
		let n = 0;
		while (n < q.length && fits(q[n]!, text[i + n]!)) n++;
		if (n < q.length) continue;
		const after = text[i + n];
		const score =
			(i === 0 ? 92 : text[i]!.begins ? BEGINS : q.length === 1 ? 25 : 50) + (!after || after.begins ? 8 : 0);
		if (!best || score > best.score) best = { score, at: [[i, i + n]] };
	}
	return best;
}

/** apart finds the letters of the word one after the other: at the beginnings of words, or anywhere behind the first. */
function apart(q: string, text: Letter[]): Hit | undefined {
	if (q.length < 2) return undefined;
	const at: [number, number][] = [];
	let i = -1;
	let skipped = 0;
	for (const c of q) {
		let next = i + 1;
		const near = text[next];
		if (i < 0 || !near || !fits(c, near)) {
			next = text.findIndex((l, j) => j > i && l.begins && fits(c, l));
			if (next < 0 && i >= 0) next = text.findIndex((l, j) => j > i && fits(c, l));
			if (next < 0) return undefined;
			if (i >= 0 && !text[next]!.begins) skipped += next - i - 1;
		}
		const last = at.at(-1);
		if (last && last[1] === next) last[1]++;
		else at.push([next, next + 1]);
		i = next;
	}
	return skipped > q.length * 2 ? undefined : { score: 40 - skipped * 3, at };
}

function better(a: Hit | undefined, b: Hit | undefined): Hit | undefined {
	return !a || (b && b.score > a.score) ? b : a;
}

/** Word is a word of a query, with all the ways in which it can be meant. */
interface Word {
	spellings: string[];
	other: string;
}

function find({ spellings, other }: Word, text: Letter[]): Hit | undefined {
	let best: Hit | undefined;
	for (const q of spellings) best = better(best, together(q, text));
	for (const q of best ? [] : spellings) best = better(best, apart(q, text));
	if (best) return best;
	// Two letters of the other layout stand inside of many words by chance.
	const hit = together(other, text);
	return hit && hit.score >= BEGINS ? { ...hit, score: hit.score / 2 } : undefined;
}

function join(ranges: [number, number][]): [number, number][] {
	const out: [number, number][] = [];
	for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
		const last = out.at(-1);
		if (last && from <= last[1]) last[1] = Math.max(last[1], to);
		else out.push([from, to]);
	}
	return out;
}

/**
 * fuzzy reads a query and returns what finds it in texts. All words of the query must be there, in any order; Hangul is
 * also found by first consonants (ㅈㅈ finds 제주), while it is being composed, and in the wrong keyboard layout.
 * Without a word everything fits.
 */
export function fuzzy(query: string): (text: string) => Hit | undefined {
	const typed = query.normalize('NFC').toLowerCase().split(/\s+/).filter(Boolean);
	const words: Word[] = typed.map((w) => ({ spellings: spellings(w), other: otherLayout(w) }));
	return (text) => {
		if (words.length === 0) return { score: 0, at: [] };
		const read = letters(text);
		let score = 0;
		const at: [number, number][] = [];
		for (const w of words) {
			const hit = find(w, read);
			if (!hit) return undefined;
			score += hit.score;
			at.push(...hit.at);
		}
		// Of two that fit alike the shorter one is meant more often.
		return { score: score / words.length - Math.min(6, text.length / 20), at: join(at) };
	};
}
