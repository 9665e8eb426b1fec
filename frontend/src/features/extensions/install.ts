import { visible } from '../../ui/visible';
import { isObject, nameOf, serverOf, wordsOf, type Pasted } from './command';

/** The bounds of a text that is looked at, and of the servers in it. */
const MOST_TEXT = 64 << 10;
const MOST_SERVERS = 20;

/** installsOf are the servers that a text installs, if it is certain that it is nothing but that: a link of Cursor, VS Code or
 * LM Studio, a line `claude mcp add …`, or a snippet with mcpServers. It is undefined for every other text. */
export function installsOf(text: string): Pasted[] | undefined {
	const t = text.trim();
	if (!t || t.length > MOST_TEXT) return undefined;
	const found = fromLink(t) ?? fromLine(t) ?? fromSnippet(t);
	if (!found || found.length === 0 || found.length > MOST_SERVERS) return undefined;
	// What nobody sees may say something else than what is read.
	return found.every((p) => texts(p).every((s) => visible(s) === s)) ? found : undefined;
}

const texts = (p: Pasted) => [
	p.command,
	p.url,
	...p.args,
	...Object.entries(p.env).flat(),
	...Object.entries(p.headers).flat(),
];

function json(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function fromLink(text: string, deep = 0): Pasted[] | undefined {
	if (deep > 2 || /\s/.test(text) || !URL.canParse(text)) return undefined;
	const url = new URL(text);
	const at = `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, '');
	const q = url.searchParams;
	const named = (config: unknown) => {
		const p = one(q.get('name') ?? '', config);
		return p && [p];
	};
	if (
		at === 'cursor://anysphere.cursor-deeplink/mcp/install' ||
		at === 'lmstudio://add_mcp' ||
		/^https:\/\/(www\.)?cursor\.com(\/[a-z]{2})?\/(install-mcp|link\/mcp(\/|%2F)install)$/i.test(at)
	)
		return named(json(decoded(q.get('config') ?? '')));
	if (/^vscode(-insiders)?:\/*mcp\/install\?/i.test(text)) {
		let raw = text.slice(text.indexOf('?') + 1);
		try {
			raw = decodeURIComponent(raw);
		} catch {
			return undefined;
		}
		const v = json(raw);
		const p = isObject(v) ? one(typeof v.name === 'string' ? v.name : '', v) : undefined;
		return p && [p];
	}
	if (/^https:\/\/(insiders\.)?vscode\.dev\/redirect\/mcp\/install$/i.test(at))
		return named(json(q.get('config') ?? ''));
	if (/^https:\/\/(insiders\.)?vscode\.dev\/redirect$/i.test(at)) return fromLink(q.get('url') ?? '', deep + 1);
	return undefined;
}

/** decoded is text in base64; "" where it is none. */
function decoded(base64: string): string {
	try {
		const bytes = Uint8Array.from(atob(base64.replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/')), (c) =>
			c.charCodeAt(0),
		);
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return '';
	}
}

/** one reads the server of a link: the server itself, or a table with it alone. A command may have its arguments with it. */
function one(name: string, v: unknown): Pasted | undefined {
	if (!isObject(v)) return undefined;
	const inner = Object.entries(v);
	const only = inner[0];
	if (v.command === undefined && v.url === undefined && inner.length === 1 && only)
		return one(name || only[0], only[1]);
	const p = serverOf(name, v);
	if (p && !v.args && /\s/.test(p.command)) {
		const words = wordsOf(p.command);
		return { ...p, command: words[0] ?? '', args: words.slice(1) };
	}
	return p;
}

/** fromLine reads `claude mcp add`, `claude mcp add-json` and `codex mcp add`. */
function fromLine(text: string): Pasted[] | undefined {
	const line = text.replace(/\\\r?\n\s*/g, ' ').replace(/^\$\s+/, '');
	if (!/^(claude|codex)\s+mcp\s+add(-json)?\s/.test(line)) return undefined;
	const [, , verb, ...words] = wordsOf(line);
	if (verb === 'add' && line.includes('\n')) return undefined; // more than one line
	const out: Pasted = { name: '', command: '', args: [], env: {}, url: '', headers: {} };
	let kind = 'stdio';
	const at: string[] = [];
	for (let i = 0; i < words.length; i++) {
		const w = words[i]!;
		if (w === '--') {
			if (at.length !== 1) return undefined;
			at.push(...words.slice(i + 1));
			break;
		}
		const [flag = '', given] = w.startsWith('--') ? split(w, '=') : [w];
		const value = () => given ?? words[++i] ?? '';
		if (flag === '-s' || flag === '--scope') value();
		else if (flag === '-t' || flag === '--transport') kind = value();
		else if (flag === '--url') {
			kind = 'http';
			at.push(value());
		} else if (flag === '-e' || flag === '--env') {
			const [name, v] = split(value(), '=');
			if (!name || v === undefined) return undefined;
			out.env[name] = v;
		} else if (flag === '-H' || flag === '--header') {
			const [name, v] = split(value(), ':');
			if (!name || v === undefined) return undefined;
			out.headers[name.trim()] = v.trim();
		} else if (w.startsWith('-')) return undefined;
		else {
			at.push(w);
			if (at.length === 2 && kind === 'stdio' && verb === 'add') {
				at.push(...words.slice(i + 1)); // all that follows is the server's
				break;
			}
		}
	}
	out.name = nameOf(at[0] ?? '');
	if (verb === 'add-json') {
		const p = at.length === 2 ? one(at[0]!, json(at[1]!)) : undefined;
		return p && [p];
	}
	if (at.length < 2 || !['stdio', 'http', 'streamable-http'].includes(kind)) return undefined;
	const p =
		kind === 'stdio' ? { command: at[1], args: at.slice(2), env: out.env } : { url: at[1], headers: out.headers };
	const read = kind !== 'stdio' && at.length > 2 ? undefined : serverOf(out.name, p);
	return read && [read];
}

const split = (text: string, by: string): [string, string?] => {
	const at = text.indexOf(by);
	return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
};

/** fromSnippet reads settings of other programs. A table called servers may be anything: there each one must say how it speaks. */
function fromSnippet(text: string): Pasted[] | undefined {
	if (!/^(```(json)?\s|\{|")/.test(text)) return undefined;
	const bare = text.replace(/^```(json)?\s*|\s*```$/g, '').replace(/,$/, '');
	const outer = json(bare) ?? json(`{${bare}}`);
	if (!isObject(outer)) return undefined;
	const table = isObject(outer.mcpServers) ? outer.mcpServers : outer.servers;
	if (!isObject(table)) return undefined;
	const sure = table === outer.mcpServers;
	const found = Object.entries(table).map(([name, v]) =>
		isObject(v) && (sure || typeof v.command === 'string' || typeof v.type === 'string')
			? serverOf(name, v)
			: undefined,
	);
	return found.every((p) => p !== undefined) ? found : undefined;
}

/** isKey reports whether a variable holds a key, by its name. */
export function isKey(name: string): boolean {
	return /key|token|secret|passw|credential|auth/i.test(name);
}

/** withoutPlaceholders empties what stands where a value has to be entered: ${input:key}, <your key>, YOUR_KEY_HERE. */
export function withoutPlaceholders(values: Record<string, string>): Record<string, string> {
	const empty =
		/^(Bearer\s+)?(\$\{[^}]*\}|\{env:[^}]*\}|<[^>]*>|\[[^\]]*\]|(your|my|insert|enter)[-_ ].*|x{3,}|\.{3,})$/i;
	return Object.fromEntries(Object.entries(values).map(([name, v]) => [name, empty.test(v.trim()) ? '' : v]));
}
