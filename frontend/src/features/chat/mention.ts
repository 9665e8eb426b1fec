/** Token is what is being written behind an @, or behind the / that begins a message. */
export interface Token {
	sign: '@' | '/';
	/** from and to are its place in the text, the sign included. */
	from: number;
	to: number;
	words: string;
}

/** An @ where a word begins, with what stands behind it: a path, in quotes if it has spaces. */
const writing = /(?:^|[\s([{'"‘“])@("(?:[^"\\]|\\.)*|[^\s"@]*)$/;
/** One word without another slash, so no path; then perhaps what is chosen with it. */
const command = /^\/([^\s/]*|[^\s/]+ .*)$/;

/** tokenAt is what is being written where the caret stands. */
export function tokenAt(text: string, caret: number): Token | undefined {
	const begin = text.lastIndexOf('\n', caret - 1) + 1;
	const line = text.slice(begin, caret);
	const rest = text.slice(caret);
	if (begin === 0 && command.test(line) && !/^\S*\//.test(rest)) {
		return { sign: '/', from: 0, to: caret + /^\S*/.exec(rest)![0].length, words: line.slice(1) };
	}
	const path = writing.exec(line)?.[1];
	if (path === undefined) return undefined;
	const quoted = path.startsWith('"');
	const more = (quoted ? /^[^\s"]*"?/ : /^[^\s"@]*/).exec(rest)![0].length;
	return { sign: '@', from: caret - path.length - 1, to: caret + more, words: quoted ? path.slice(1) : path };
}

const sent = /(^|[\s([{'"‘“])(@(?:"(?:[^"\\\n]|\\.)+"|[^\s"@]+))/g;

/** bare is a mention without what was written to it: the end of a sentence, a Korean particle behind the ending. */
function bare(word: string): string {
	if (word.startsWith('@"')) return word;
	return word.replace(/[.,;:!?)\]}'’”…]+$/, '').replace(/(\.[a-z0-9]{1,8})[가-힣]+$/i, '$1');
}

/**
 * mentionsIn cuts a text at its mentions: [piece, whether it is one]. What has neither a dot nor a slash is no path, as
 * @media or somebody's name.
 */
export function mentionsIn(text: string): [string, boolean][] {
	const out: [string, boolean][] = [];
	let from = 0;
	for (const m of text.matchAll(sent)) {
		const path = bare(m[2]!);
		if (!/[./"]/.test(path)) continue;
		const at = m.index + m[1]!.length;
		if (at > from) out.push([text.slice(from, at), false]);
		out.push([path, true]);
		from = at + path.length;
	}
	if (from < text.length) out.push([text.slice(from), false]);
	return out;
}

/** written is a path as it is mentioned: so that mentionsIn finds the whole of it again. */
export function written(path: string): string {
	const named = /[./]/.test(path) ? path : `./${path}`;
	const plain = `@${named}`;
	const [[piece, whole] = []] = mentionsIn(plain);
	return whole && piece === plain ? plain : `@${JSON.stringify(named)}`;
}
