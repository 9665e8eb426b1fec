import { convertHangulToQwerty, convertQwertyToHangul, disassemble, removeLastCharacter } from 'es-hangul';

/** Hit says how well a text fits (higher is better, 100 is a whole word at its start) and which of its characters did. */
export interface Hit {
	score: number;
	/** at are ranges of characters, [from, to), in order and apart from each other. */
	at: [number, number][];
}

/** Text is a text as it is searched: for each code unit of it what a query may name it by, as numbers. */
interface Text {
	length: number;
	/** it is the character in lower case. */
	it: Uint16Array;
	/** first is its first consonant (초성): ㅈ of 줏. 0 without one. */
	first: Uint16Array;
	/** open is the syllable without its final consonant: 주 of 줏. 0 without one. */
	open: Uint16Array;
	/** begins says where words begin. */
	begins: Uint8Array;
	/** mask has a bit for each of all these, so that most texts are passed over at a glance. */
	mask: number;
}

const FIRST = 'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ';
const GA = 0xac00;
const isSyllable = (code: number) => code >= GA && code <= 0xd7a3;
const bit = (code: number) => 1 << ((code * 7) % 31);

/** What was read; titles are asked for again with every key. */
const read = new Map<string, Text>();

function readText(text: string): Text {
	const known = read.get(text);
	if (known) return known;
	if (read.size > 10_000) read.clear();
	const n = text.length;
	const [it, first, open] = [new Uint16Array(n), new Uint16Array(n), new Uint16Array(n)];
	const begins = new Uint8Array(n);
	let mask = 0;
	let wasWord = false;
	let wasUpper = false;
	for (let i = 0; i < n; i++) {
		const c = text[i]!;
		const code = c.charCodeAt(0);
		it[i] = c.toLowerCase().charCodeAt(0);
		if (isSyllable(code)) {
			first[i] = FIRST.charCodeAt(Math.floor((code - GA) / 588));
			open[i] = code - ((code - GA) % 28);
		}
		const word = code < 128 ? /[a-z0-9]/i.test(c) : /[\p{L}\p{N}]/u.test(c);
		const upper = c !== c.toLowerCase();
		begins[i] = word && (!wasWord || (upper && !wasUpper)) ? 1 : 0;
		[wasWord, wasUpper] = [word, upper];
		mask |= bit(it[i]!) | bit(first[i]!) | bit(open[i]!);
	}
	const made = { length: n, it, first, open, begins, mask };
	read.set(text, made);
	return made;
}

/** Spelling is one way in which a word can be meant. */
interface Spelling {
	codes: number[];
	mask: number;
}

function spelling(word: string): Spelling {
	const codes = word.split('').map((c) => c.charCodeAt(0));
	return { codes, mask: codes.reduce((m, c) => m | bit(c), 0) };
}

/** fits reports whether a character of a query stands for one of a text. */
function fits(code: number, text: Text, i: number): boolean {
	return code === text.it[i] || code === text.first[i] || code === text.open[i];
}

/**
 * spellings are the ways in which a word can be meant. While Hangul is composed, the consonant that begins the next
 * syllable stands under the last one (젲 on the way to 제주), and two consonants in a row join (ㄱㅅ becomes ㄳ).
 */
function spellings(word: string): Spelling[] {
	const apart = word.replace(/[ㄳ-ㅄ]/g, (c) => (FIRST.includes(c) ? c : disassemble(c)));
	const last = apart.at(-1)!;
	const code = last.charCodeAt(0);
	if (!isSyllable(code) || (code - GA) % 28 === 0) return [spelling(apart)];
	return [spelling(apart), spelling(apart.slice(0, -1) + removeLastCharacter(last) + disassemble(last).at(-1)!)];
}

/** otherLayout is the word as the same keys write it with the other keyboard layout: ㅁ개 for "ao". */
function otherLayout(word: string): string {
	return /^[a-z]+$/.test(word) ? convertQwertyToHangul(word) : convertHangulToQwerty(word).toLowerCase();
}

/** The score of what begins a word. */
const BEGINS = 80;

/** together finds the word in one piece. */
function together({ codes }: Spelling, text: Text): Hit | undefined {
	const n = codes.length;
	let best: Hit | undefined;
	for (let i = 0; i + n <= text.length; i++) {
		let k = 0;
		while (k < n && fits(codes[k]!, text, i + k)) k++;
		if (k < n) continue;
		const whole = i + n === text.length || text.begins[i + n] === 1;
		const score = (i === 0 ? 92 : text.begins[i] ? BEGINS : n === 1 ? 25 : 50) + (whole ? 8 : 0);
		if (!best || score > best.score) best = { score, at: [[i, i + n]] };
		if (score >= BEGINS) break; // what comes later is hardly better
	}
	return best;
}

/** after is the place behind i of what a code stands for, at the beginning of a word if begins says so; -1 without one. */
function after(i: number, code: number, text: Text, begins: boolean): number {
	for (let j = i + 1; j < text.length; j++) {
		if ((!begins || text.begins[j]) && fits(code, text, j)) return j;
	}
	return -1;
}

/** apart finds the letters of the word one after the other: at the beginnings of words, or anywhere behind the first. */
function apart({ codes }: Spelling, text: Text): Hit | undefined {
	if (codes.length < 2) return undefined;
	const at: [number, number][] = [];
	let i = -1;
	let skipped = 0;
	for (const code of codes) {
		let next = i + 1;
		if (i < 0 || next >= text.length || !fits(code, text, next)) {
			next = after(i, code, text, true);
			if (next < 0 && i >= 0) next = after(i, code, text, false);
			if (next < 0) return undefined;
			if (i >= 0 && !text.begins[next]) skipped += next - i - 1;
		}
		const last = at.at(-1);
		if (last && last[1] === next) last[1]++;
		else at.push([next, next + 1]);
		i = next;
	}
	return skipped > codes.length * 2 ? undefined : { score: 40 - skipped * 3, at };
}

function better(a: Hit | undefined, b: Hit | undefined): Hit | undefined {
	return !a || (b && b.score > a.score) ? b : a;
}

/** Word is a word of a query, with all the ways in which it can be meant. */
interface Word {
	spellings: Spelling[];
	other: Spelling;
}

function find({ spellings, other }: Word, text: Text): Hit | undefined {
	let best: Hit | undefined;
	for (const how of [together, apart]) {
		for (const q of spellings) if ((q.mask & text.mask) === q.mask) best = better(best, how(q, text));
		if (best) return best;
	}
	if ((other.mask & text.mask) !== other.mask) return undefined;
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
	const words: Word[] = typed.map((w) => ({ spellings: spellings(w), other: spelling(otherLayout(w)) }));
	return (text) => {
		if (words.length === 0) return { score: 0, at: [] };
		const known = readText(text);
		let score = 0;
		const at: [number, number][] = [];
		for (const w of words) {
			const hit = find(w, known);
			if (!hit) return undefined;
			score += hit.score;
			at.push(...hit.at);
		}
		// Of two that fit alike the shorter one is meant more often.
		return { score: score / words.length - Math.min(6, text.length / 20), at: join(at) };
	};
}

/** pieces cuts a text at its hits: [piece, whether it is one]. */
export function pieces(text: string, at: [number, number][]): [string, boolean][] {
	const out: [string, boolean][] = [];
	let from = 0;
	for (const [a, b] of at) {
		if (a > from) out.push([text.slice(from, a), false]);
		out.push([text.slice(a, b), true]);
		from = b;
	}
	if (from < text.length) out.push([text.slice(from), false]);
	return out;
}
