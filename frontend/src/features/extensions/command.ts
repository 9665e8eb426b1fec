import type { MCPServer } from '../../kernel/api.gen';

/** wordsOf splits a command line as a shell would: at spaces, but not inside quotes, and a backslash takes the next sign as it is. */
export function wordsOf(line: string): string[] {
	const words: string[] = [];
	let word: string | undefined;
	let quote = '';
	for (let i = 0; i < line.length; i++) {
		const c = line[i]!;
		if (c === '\\' && quote !== "'" && i + 1 < line.length) word = (word ?? '') + line[++i];
		else if (quote) {
			if (c === quote) quote = '';
			else word = (word ?? '') + c;
		} else if (c === '"' || c === "'") {
			quote = c;
			word ??= '';
		} else if (/\s/.test(c)) {
			if (word !== undefined) words.push(word);
			word = undefined;
		} else word = (word ?? '') + c;
	}
	if (word !== undefined) words.push(word);
	return words;
}

/** lineOf is the command line of a server: wordsOf gives the same words. */
export function lineOf(s: Pick<MCPServer, 'command' | 'args'>): string {
	return [s.command, ...(s.args ?? [])]
		.map((w) => (/^[A-Za-z0-9_@%+=:,./~-]+$/.test(w) ? w : `'${w.replaceAll("'", "'\\''")}'`))
		.join(' ');
}

/** Pasted is a server as the settings of other programs write it. */
export interface Pasted {
	name: string;
	command: string;
	args: string[];
	env: Record<string, string>;
}

/** pastedOf reads {"mcpServers": {name: {command, args, env}}}, its inner part, or one server; undefined for anything else. */
export function pastedOf(text: string): Pasted | undefined {
	let v: unknown;
	try {
		v = JSON.parse(text);
	} catch {
		try {
			v = JSON.parse(`{${text}}`); // a piece out of the middle of a file
		} catch {
			return undefined;
		}
	}
	const outer = isObject(v) ? v : {};
	const inner = ['mcpServers', 'servers', 'mcp'].map((key) => outer[key]).find(isObject) ?? outer;
	const one =
		typeof inner.command === 'string' ? (['', inner] as const) : Object.entries(inner).find(([, s]) => isObject(s));
	if (!one) return undefined;
	const s = one[1] as Record<string, unknown>;
	if (typeof s.command !== 'string') return undefined;
	const strings = (list: unknown) => (Array.isArray(list) ? list.filter((a) => typeof a === 'string') : []);
	const env = isObject(s.env)
		? Object.entries(s.env).filter((kv): kv is [string, string] => typeof kv[1] === 'string')
		: [];
	return { name: nameOf(one[0]), command: s.command, args: strings(s.args), env: Object.fromEntries(env) };
}

/** nameOf makes a server's name of what somebody called it. */
export function nameOf(text: string): string {
	return text
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, '-')
		.replace(/^-+|-+$/g, '')
		.slice(0, 32)
		.replace(/-+$/, '');
}

function isObject(v: unknown): v is Record<string, unknown> {
	return typeof v === 'object' && v !== null && !Array.isArray(v);
}
