import type {
	Link,
	Note,
	NoteWrite,
	VaultBacklink,
	VaultChange,
	VaultEntry,
	VaultGraph,
	VaultGraphOf,
	VaultHit,
	VaultIssue,
	VaultTag,
	VaultTask,
	VaultTaskQuery,
} from '../api.gen';
import { FakeEdits } from './edits';
import { FakePast } from './past';
import { folderCalls, moveFolder } from './vault-folders';
import { no, type Core } from './core';
import { FakeFiles } from './vaultfiles';
import { iso } from './data';
import { day } from './data/notes';

const stem = (path: string) => path.split('/').at(-1)!.replace(/\.md$/, '');
const withEnd = (path: string) => (/\.md$/.test(path) ? path : `${path}.md`);
const hashOf = (text: string) => {
	let h = 7;
	for (const c of text) h = (h * 31 + c.codePointAt(0)!) >>> 0;
	return `h${h.toString(16)}`;
};
const first = [...'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ'];
/** initials are the 초성 of a text. */
const initials = (text: string) =>
	[...text].map((c) => (/[가-힣]/.test(c) ? first[Math.floor((c.charCodeAt(0) - 0xac00) / 588)]! : c)).join('');
const bytes = (text: string) => new TextEncoder().encode(text).length;
const front = (text: string) => /^---\n([\s\S]*?)\n---\n/.exec(text);
const tagsOf = (text: string) => {
	const own = /^tags: \[([^\]]*)\]$/m.exec(front(text)?.[1] ?? '')?.[1] ?? '';
	const inText = [...text.matchAll(/(?:^|\s)#([\p{L}\d_/-]+)/gu)].map((m) => m[1]!);
	return [...new Set([...own.split(',').map((s) => s.trim()), ...inText])].filter(Boolean);
};

const open = {
	en: 'Line 2: a bracket or a quotation mark is opened and not closed.',
	ko: '2번째 줄: 괄호나 따옴표를 열고 닫지 않았습니다.',
};

/** FakeVault keeps notes in the page, as the kernel does in files. */
export class FakeVault {
	/** encodings are those of the notes that are not UTF-8. */
	encodings: Record<string, string> = {};
	/** gone says that the folder of the vault is not there. */
	gone = false;
	/** rival has somebody else change a note right before the person writes it, once. */
	rival = false;
	/** busy has an agent add to the note that is opened first, a moment later. */
	busy = false;
	#core: Core;
	#past = new FakePast();
	#edits = new FakeEdits();
	/** empty are the folders that were made, which may hold nothing. */
	#empty = new Set<string>();
	/** files are those beside the notes. */
	files: FakeFiles;

	constructor(core: Core) {
		this.#core = core;
		this.files = new FakeFiles({
			note: (name) => (this.#resolve(name) ? this.#read(name) : undefined),
			put: (path, text) => this.#put(path, text),
			change: (path) => {
				core.emit('vault', [path]);
				return this.#change(path, hashOf(path));
			},
		});
		Object.assign(this.calls, this.files.calls);
	}

	get #notes(): Record<string, string> {
		if (this.gone) throw no('unavailable', 'The vault folder ~/Vault is not there. What Oxios knows of it is kept.');
		return this.#core.world.notes;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'knowledge.tree': () => this.#tree(),
		'knowledge.entries': (paths: string[]) => this.#tree().filter((e) => e.kind !== 'folder' && paths.includes(e.path)),
		'knowledge.read': (name: string) => {
			const note = this.#read(name);
			const { text } = note;
			if (this.busy) setTimeout(() => this.agent(note.path, `${text}\n## ${day()}\n\n- [ ] 3 photos are left\n`), 300);
			this.busy = false;
			return note;
		},
		'knowledge.compare': (path: string, text: string) => {
			const now = this.#notes[path];
			if (now === undefined) throw no('not_found', `There is no note ${path}.`);
			return this.#edits.compare(path, text, now, hashOf(now));
		},
		...folderCalls(
			() => this.#notes,
			this.#empty,
			this.#past,
			(paths) => this.#core.emit('vault', paths),
		),
		'knowledge.search': (query: string, k: number) => this.#search(query, k),
		'knowledge.find': (name: string, k: number): VaultHit[] => {
			const q = name.toLowerCase();
			return Object.keys(this.#notes)
				.filter((p) => stem(p).toLowerCase().includes(q) || initials(stem(p)).includes(q))
				.slice(0, k)
				.map((path) => ({ path, title: stem(path), score: 1 }));
		},
		'knowledge.backlinks': (name: string) => this.#backlinks(name),
		'knowledge.tags': (): VaultTag[] => {
			const all = Object.values(this.#notes).flatMap(tagsOf);
			return [...new Set(all)].sort().map((tag) => ({ tag, count: all.filter((t) => t === tag).length }));
		},
		'knowledge.tasks': (q: VaultTaskQuery): VaultTask[] =>
			Object.keys(this.#notes)
				.flatMap((p) => this.#tasks(p))
				.filter((t) => !q.path || t.path === q.path),
		'knowledge.unlinked': (name: string) => this.#unlinked(name),
		'knowledge.graph': (q: VaultGraphOf) => this.#graph(q),
		'knowledge.movePreview': (from: string, to: string) => this.#movePreview(from, this.#target(from, to)),
		'knowledge.link': (path: string, line: number, to: string) => {
			const lines = this.#notes[path]!.split('\n');
			const at = lines[line - 1]!.toLowerCase().indexOf(stem(to).toLowerCase());
			const said = lines[line - 1]!.slice(at, at + stem(to).length);
			const link = said === stem(to) ? said : `${stem(to)}|${said}`;
			lines[line - 1] = `${lines[line - 1]!.slice(0, at)}[[${link}]]${lines[line - 1]!.slice(at + said.length)}`;
			return this.#put(path, lines.join('\n'));
		},
		'knowledge.history': (path: string) => this.#past.history(path, this.#notes[path]),
		'knowledge.version': (path: string, id: string) => this.#past.version(path, id, this.#notes[path]),
		'knowledge.trash': () => this.#past.trash,
		'knowledge.restore': (id: string) => {
			const x = this.#past.take([id])[0];
			if (!x) throw no('not_found', 'That file is not in the trash any more. Nothing was changed.');
			if (!/\.md$/.test(x.path)) return this.files.put(x.path, x.text);
			return this.#put(x.path, x.text);
		},
		'knowledge.forget': (ids: string[]) => ({
			files: this.#past.take(ids).length,
			notes: [
				{ en: 'The history of the notes still holds what they said.', ko: '노트 이력에는 내용이 남아 있습니다.' },
			],
		}),
		'knowledge.importPreview': (dir: string) => {
			if (!dir.startsWith('/')) throw no('invalid', `The folder ${dir} cannot be taken over. Nothing was copied.`);
			return { copied: 214, bytes: 3_400_000, same: 2, clashes: [{ path: 'Broken head.md' }] };
		},
		'knowledge.import': () => ({ copied: 214, bytes: 3_400_000, same: 2 }),
		'knowledge.check': () => this.#check(),
		'knowledge.write': (w: NoteWrite) =>
			this.#write(withEnd(w.path ?? ''), this.#from(w.run_id) + (w.text ?? ''), w.base ?? ''),
		'knowledge.append': (path: string, text: string) => {
			const at = withEnd(path);
			return this.#put(at, `${this.#notes[at] ?? ''}${text}\n`);
		},
		'knowledge.delete': (path: string, base: string) => {
			const file = this.files.take(path);
			if (file) return { ...this.#change(path, ''), trash: this.#past.put(path, file) };
			const was = this.#notes[path];
			if (was === undefined) throw no('not_found', `There is no note ${path}.`);
			if (base && base !== hashOf(was)) throw this.#stale(path);
			delete this.#notes[path];
			const trash = this.#past.put(path, was);
			this.#core.emit('vault', [path]);
			return { ...this.#change(path, ''), trash };
		},
		'knowledge.move': (from: string, to: string) => this.#move(from, this.#target(from, to)),
		'knowledge.toggle': (path: string, line: number) => {
			const lines = this.#notes[path]!.split('\n');
			lines[line - 1] = lines[line - 1]!.replace(/\[(.)\]/, (_, m) => (m === ' ' ? '[x]' : '[ ]'));
			return this.#put(path, lines.join('\n'));
		},
		'knowledge.addTask': (path: string, text: string) => this.#put(path, `${this.#notes[path] ?? ''}- [ ] ${text}\n`),
		'knowledge.journal': (date: string, text: string) => {
			const name = date || day();
			const path = `journal/${name}.md`;
			return this.#put(path, (this.#notes[path] ?? `# ${name}\n\n`) + text);
		},
	};

	/** outside is what another program does to a note. */
	outside(path: string, text: string | undefined): void {
		if (text === undefined) delete this.#notes[path];
		else this.#notes[path] = text;
		this.#core.emit('vault', [path]);
	}

	/** agent is what the agent of a conversation makes of a note. */
	agent(path: string, text: string, writer = { run_id: 'r-parser', session_id: 's-parser' }): void {
		const title = this.#core.world.sessions.find((s) => s.id === writer.session_id)?.title ?? '';
		this.#edits.wrote(path, this.#notes[path] ?? '', text, { ...writer, title });
		this.outside(path, text);
	}

	/** target is where a move leads: a note keeps its end. */
	#target(from: string, to: string): string {
		return this.#notes[from] === undefined ? to : withEnd(to);
	}

	#tree(): VaultEntry[] {
		const out = new Map<string, VaultEntry>();
		for (const path of this.#empty) out.set(path, { path, name: path.split('/').at(-1)!, kind: 'folder' });
		const files = this.files.entries();
		for (const [path, text] of [...Object.entries(this.#notes), ...files.map((f) => [f.path, ''] as const)]) {
			const parts = path.split('/');
			for (let i = 1; i < parts.length; i++) {
				const dir = parts.slice(0, i).join('/');
				out.set(dir, { path: dir, name: parts[i - 1]!, kind: 'folder' });
			}
			const file = files.find((f) => f.path === path);
			if (file) out.set(path, file);
			else
				out.set(path, { path, name: stem(path), kind: 'note', title: stem(path), size: bytes(text), modified: iso() });
		}
		return [...out.values()];
	}

	#resolve(target: string): string | undefined {
		const all = Object.keys(this.#notes);
		return all.find((p) => p === target || p === withEnd(target)) ?? all.find((p) => stem(p) === stem(target));
	}

	#links(text: string): Link[] {
		return text.split('\n').flatMap((line, i) =>
			[...line.matchAll(/\[\[([^\]|#]+)(?:#([^\]|]+))?(?:\|([^\]]+))?\]\]/g)].map((m) => {
				const to = this.#resolve(m[1]!) ?? this.files.find(m[1]!);
				return { target: m[1]!, line: i + 1, to: to ?? '', ...(m[3] ? { alias: m[3] } : {}) };
			}),
		);
	}

	#tasks(path: string): VaultTask[] {
		return this.#notes[path]!.split('\n').flatMap((line, i) => {
			const m = /^\s*- \[(.)\] (.*)$/.exec(line);
			return m ? [{ path, line: i + 1, text: m[2]!, done: m[1] !== ' ', mark: m[1]! }] : [];
		});
	}

	#read(name: string): Note {
		const path = this.#resolve(name);
		if (!path) throw no('not_found', `There is no note ${name}.`);
		const text = this.#notes[path]!;
		const head = front(text)?.[1] ?? '';
		const own = /^oxios: \{run: "(.*?)", session: "(.*?)", source: \[(.*?)\], date: "(.*?)"\}$/m.exec(head);
		return {
			path,
			title: stem(path),
			text,
			hash: hashOf(text),
			modified: iso(),
			tags: tagsOf(text),
			headings: text.split('\n').flatMap((line, i) => {
				const m = /^(#{1,6}) (.+)$/.exec(line);
				return m ? [{ level: m[1]!.length, text: m[2]!, line: i + 1 }] : [];
			}),
			links: this.#links(text),
			tasks: this.#tasks(path),
			words: text.split(/\s+/).length,
			encoding: this.encodings[path] ?? 'UTF-8',
			...(/^tags: \[[^\]]*$/m.test(head) ? { frontmatter_error: open } : {}),
			...(own
				? {
						provenance: {
							run: own[1]!,
							session: own[2]!,
							source: JSON.parse(`[${own[3]}]`) as string[],
							date: own[4]!,
						},
					}
				: {}),
		};
	}

	#search(query: string, k: number): VaultHit[] {
		const q = query.toLowerCase();
		return Object.entries(this.#notes)
			.flatMap(([path, text]): VaultHit[] => {
				const lines = text.split('\n');
				const line = lines.findIndex((l) => l.toLowerCase().includes(q) && !l.startsWith('oxios:'));
				const title = stem(path);
				if (line < 0) return title.toLowerCase().includes(q) ? [{ path, title, line: 0, score: 1 }] : [];
				const snippet = lines[line]!;
				const at = snippet.toLowerCase().indexOf(q);
				const from = bytes(snippet.slice(0, at));
				const mark = [from, from + bytes(snippet.slice(at, at + q.length))];
				return [{ path, title, snippet, marks: [mark], line: line + 1, score: 1 }];
			})
			.slice(0, k);
	}

	#backlinks(name: string): VaultBacklink[] {
		return Object.entries(this.#notes).flatMap(([path, text]) =>
			this.#links(text)
				.filter((l) => l.to === name)
				.map((l) => ({ path, title: stem(path), line: l.line, text: text.split('\n')[l.line - 1]! })),
		);
	}

	/** unlinked are the lines of other notes that name a note, but in no link. */
	#unlinked(name: string): VaultBacklink[] {
		const word = stem(name).toLowerCase();
		return Object.entries(this.#notes).flatMap(([path, text]) =>
			path === name
				? []
				: text.split('\n').flatMap((line, i) =>
						line
							.replace(/\[\[[^\]]*\]\]/g, '')
							.toLowerCase()
							.includes(word)
							? [{ path, title: stem(path), line: i + 1, text: line }]
							: [],
					),
		);
	}

	#graph(q: VaultGraphOf): VaultGraph {
		const edges = Object.entries(this.#notes).flatMap(([path, text]) =>
			this.#links(text).map((l) => [path, l.to || l.target] as const),
		);
		let names = new Set<string>(q.path ? [q.path] : [...Object.keys(this.#notes), ...edges.map((e) => e[1])]);
		for (let i = 0; q.path && i < (q.depth ?? 1); i++) {
			const near = names;
			names = new Set([...near, ...edges.filter((e) => near.has(e[0]) || near.has(e[1])).flat()]);
		}
		const list = [...names];
		const kept = edges.filter((e) => names.has(e[0]) && names.has(e[1]) && e[0] !== e[1]);
		return {
			nodes: list.map((path) => ({
				path,
				title: stem(path),
				links: kept.filter((e) => e[1] === path).length,
				missing: this.#notes[path] === undefined && !this.files.find(path),
			})),
			edges: kept.map((e) => ({ from: list.indexOf(e[0]), to: list.indexOf(e[1]) })),
		};
	}

	#movePreview(from: string, to: string) {
		if (this.#notes[to] !== undefined) throw no('conflict', `${to} is there already. Nothing was changed.`);
		const links = (text: string) => text.split(`[[${stem(from)}`).length - 1;
		const all = Object.entries(this.#notes).map(([path, text]) => ({ path, links: links(text) }));
		const touched = stem(from) === stem(to) || this.#notes[from] === undefined ? [] : all.filter((n) => n.links > 0);
		return { from, to, links: touched.reduce((sum, n) => sum + n.links, 0), in: touched, notes: [] };
	}

	#check(): VaultIssue[] {
		return Object.entries(this.#notes).flatMap(([path, text]): VaultIssue[] => [
			...this.#links(text)
				.filter((l) => !l.to)
				.map((l) => ({
					kind: 'broken_link',
					path,
					line: l.line,
					target: l.target,
					text: {
						en: `The link to ${l.target} leads nowhere.`,
						ko: `${l.target}(으)로 가는 링크가 끊어져 있습니다.`,
					},
				})),
			...(/^---\ntags: \[[^\]]*\n/.test(text)
				? [
						{
							kind: 'frontmatter',
							path,
							line: 1,
							text: {
								en: `The frontmatter cannot be read: ${open.en}`,
								ko: `머리말(frontmatter)을 읽을 수 없습니다: ${open.ko}`,
							},
						},
					]
				: []),
		]);
	}

	#stale(path: string) {
		return no('conflict', `${path} was changed by somebody else in the meantime. It stays as it is.`);
	}

	/** from is the head of a note with the words of a run. */
	#from(run?: string): string {
		if (!run) return '';
		const session = this.#core.world.runs.find((r) => r.run.id === run)?.run.session_id ?? '';
		return `---\noxios: {run: "${run}", session: "${session}", source: [], date: "${iso()}"}\n---\n`;
	}

	#write(path: string, text: string, base: string): VaultChange {
		const was = this.#notes[path];
		if (was === undefined && base) throw no('conflict', `${path} is not there any more.`);
		if (was !== undefined && !base) throw no('conflict', `${path} is there already. Nothing was changed.`);
		if (was !== undefined && this.rival) {
			this.rival = false;
			this.outside(path, `${was}\nAdded by another program.\n`);
			throw this.#stale(path);
		}
		if (was !== undefined && hashOf(was) !== base) throw this.#stale(path);
		return this.#put(path, text);
	}

	#put(path: string, text: string): VaultChange {
		this.#past.wrote(path, this.#notes[path]);
		this.#notes[path] = text;
		this.#core.emit('vault', [path]);
		return this.#change(path, hashOf(text));
	}

	#move(from: string, to: string): VaultChange {
		if (this.#notes[to] !== undefined) throw no('conflict', `${to} is there already. Nothing was changed.`);
		if (this.#notes[from] === undefined) {
			const moved = moveFolder(this.#notes, this.#empty, from, to);
			this.#core.emit('vault', moved);
			return { ...this.#change(to, ''), changed: moved.length / 2 };
		}
		let links = 0;
		const touched = [from, to];
		for (const [path, text] of Object.entries(this.#notes)) {
			const next = text.replaceAll(`[[${stem(from)}]]`, () => (links++, `[[${stem(to)}]]`));
			if (next !== text) touched.push(path);
			this.#notes[path] = next;
		}
		this.#notes[to] = this.#notes[from]!;
		delete this.#notes[from];
		this.#core.emit('vault', touched);
		return { ...this.#change(to, hashOf(this.#notes[to]!)), links };
	}

	#change(path: string, hash: string): VaultChange {
		return { path, hash, changed: 1, links: 0, notes: [] };
	}
}
