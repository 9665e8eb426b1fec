import type { VaultEntry } from '../../kernel/api.gen';

/** Row is one line of the tree as it is drawn. */
export interface Row {
	entry: VaultEntry;
	/** level counts from 1, as a screen reader says it. */
	level: number;
	open: boolean;
}

const order = new Intl.Collator(undefined, { numeric: true });

/** nameOf is the name of a note, without its folder and .md. */
export const nameOf = (path: string): string => path.split('/').at(-1)!.replace(/\.md$/i, '');

/** folderOf is the folder that a path lies in, "" at the top. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** joined is a path of a folder and a name, with .md. */
export function joined(folder: string, name: string): string {
	const parts = [...folder.split('/'), ...name.replace(/\.md$/i, '').split('/')].map((p) => p.trim()).filter(Boolean);
	return `${parts.join('/')}.md`;
}

/** placed is where a note, a folder or another file would lie under a name in a folder. */
export function placed(folder: string, name: string, kind: string): string {
	const path = joined(folder, name);
	return kind === 'note' ? path : path.replace(/\.md$/, '') + (/\.md$/i.test(name) ? name.slice(-3) : '');
}

/** above are the folders that a path lies in, the outermost first. */
export function above(path: string): string[] {
	const parts = path.split('/').slice(0, -1);
	return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

/** Inside is what each folder holds, the top under "". */
export type Inside = Map<string, { entries: VaultEntry[]; sorted: boolean }>;

/** insideOf sorts entries into their folders. */
export function insideOf(entries: VaultEntry[]): Inside {
	const out: Inside = new Map();
	for (const e of entries) {
		const folder = folderOf(e.path);
		const list = out.get(folder);
		if (list) list.entries.push(e);
		else out.set(folder, { entries: [e], sorted: false });
	}
	return out;
}

const rank = (e: VaultEntry) => (e.kind === 'folder' ? 0 : 1);

/** rowsOf are the lines of the tree: folders before notes, and only what lies in open folders. */
export function rowsOf(inside: Inside, open: ReadonlySet<string>): Row[] {
	const out: Row[] = [];
	const walk = (folder: string, level: number) => {
		const list = inside.get(folder);
		if (!list) return;
		if (!list.sorted) list.entries.sort((a, b) => rank(a) - rank(b) || order.compare(a.name, b.name));
		list.sorted = true;
		for (const entry of list.entries) {
			const isOpen = entry.kind === 'folder' && open.has(entry.path);
			out.push({ entry, level, open: isOpen });
			if (isOpen) walk(entry.path, level + 1);
		}
	};
	walk('', 1);
	return out;
}

/** pieces cuts a text at marks, which the kernel counts in bytes; each piece says whether it was found. */
export function pieces(text: string, marks: number[][] = []): [string, boolean][] {
	const raw = new TextEncoder().encode(text);
	const cut = (from: number, to: number) => new TextDecoder().decode(raw.subarray(from, to));
	const out: [string, boolean][] = [];
	let at = 0;
	for (const [from = 0, to = 0] of marks) {
		if (from < at || to <= from) continue;
		out.push([cut(at, from), false], [cut(from, to), true]);
		at = to;
	}
	out.push([cut(at, raw.length), false]);
	return out.filter(([piece]) => piece !== '');
}

/** Target is what a link in a text leads to: a note with a place in it, or an address. */
export interface Target {
	to: string;
	fragment: string;
	outside: boolean;
}

/** linkAt is the link that stands at a column of a line. */
export function linkAt(line: string, column: number): Target | undefined {
	for (const m of line.matchAll(/\[\[([^\]\n]+)\]\]|\[[^\]\n]*\]\(\s*<?([^)>\n]+)>?\s*\)|https?:\/\/[^\s<>)\]]+/g)) {
		if (column < m.index || column > m.index + m[0].length) continue;
		if (m[1] !== undefined) return inside(m[1].split('|')[0]!);
		const address = (m[2] ?? m[0]).replace(/\s+"[^"]*"$/, '');
		return /^[a-z][a-z\d+.-]*:/i.test(address)
			? { to: address, fragment: '', outside: true }
			: inside(decoded(address));
	}
	return undefined;
}

function inside(text: string): Target {
	const [to = '', ...rest] = text.split('#');
	return { to: to.trim(), fragment: rest.join('#').trim(), outside: false };
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
