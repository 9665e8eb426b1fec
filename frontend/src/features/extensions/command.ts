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
	/** url is the address of one that runs elsewhere, in place of command. */
	url: string;
	headers: Record<string, string>;
}

/** addressOf is the address of a server that runs elsewhere, if a text is nothing but that. */
export function addressOf(text: string): URL | undefined {
	const t = text.trim();
	return /^https?:\/\/[^\s'"]+$/i.test(t) && URL.canParse(t) ? new URL(t) : undefined;
}

/** pastedOf reads {"mcpServers": {name: {command, args, env}}}, its inner part, or one server; undefined for anything else.
 * In place of a command there can be {url, headers}. */
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
		typeof inner.command === 'string' || typeof inner.url === 'string'
			? (['', inner] as const)
			: Object.entries(inner).find(([, s]) => isObject(s));
	return one && serverOf(one[0], one[1]);
}

/** serverOf reads one server of the settings of another program. */
export function serverOf(called: string, v: unknown): Pasted | undefined {
	if (!isObject(v)) return undefined;
	const s = v;
	const url = typeof s.url === 'string' && addressOf(s.url) && s.type !== 'sse' ? s.url.trim() : '';
	if (typeof s.command !== 'string' && !url) return undefined;
	const strings = (list: unknown) => (Array.isArray(list) ? list.filter((a) => typeof a === 'string') : []);
	const texts = (o: unknown) =>
		Object.fromEntries(
			isObject(o) ? Object.entries(o).filter((kv): kv is [string, string] => typeof kv[1] === 'string') : [],
		);
	const name = nameOf(called);
	if (url) return { ...{ name, url, command: '', args: [], env: {} }, headers: texts(s.headers) };
	return {
		...{ name, url, headers: {} },
		...{ command: s.command as string, args: strings(s.args), env: texts(s.env) },
	};
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

export function isObject(v: unknown): v is Record<string, unknown> {
	return typeof v === 'object' && v !== null && !Array.isArray(v);
}
