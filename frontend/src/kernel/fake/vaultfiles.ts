import type { Note, VaultAttach, VaultBlock, VaultChange, VaultEmbed, VaultEntry, VaultPlaces } from '../api.gen';
import { SEA } from './attach';
import { no } from './core';
import { iso, type World } from './data';

/** Beside is what the files need of the notes. */
interface Beside {
	note: (name: string) => Note | undefined;
	put: (path: string, text: string) => VaultChange;
	change: (path: string) => VaultChange;
}

const kinds: Record<string, string> = { iVBOR: 'image/png', PHN2Z: 'image/svg+xml' };
const base = (path: string) => path.split('/').at(-1)!;
const link = /!\[\[([^\]|#]*)(?:#([^\]|]+))?(?:\|([^\]]*))?\]\]|!\[[^\]]*\]\(<?([^)>]+)>?\)/;
const raw = (data: string) => atob(data);

/** blocksOf are the paragraphs and items of a text. */
function blocksOf(text: string): VaultBlock[] {
	const lines = text.split('\n');
	return lines.flatMap((line, i) => {
		const item = /^\s*- /.test(line);
		if (!line.trim() || line.startsWith('#') || (!item && i > 0 && lines[i - 1]!.trim())) return [];
		let end = i + 1;
		while (!item && lines[end]?.trim()) end++;
		const id = / \^([a-z\d-]+)$/i.exec(lines[end - 1]!)?.[1];
		return [{ line: i + 1, end, text: line.replace(/ \^[a-z\d-]+$/i, '').trim(), ...(id ? { id } : {}) }];
	});
}

/** FakeFiles are the files beside the notes, in base64. */
export class FakeFiles {
	#all = new Map<string, { data: string; at: string }>();
	#coming = new Map<string, { name: string; data: string }>();
	#beside: Beside;
	#count = 0;

	constructor(beside: Beside) {
		this.#beside = beside;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'knowledge.attachPart': (id: string, name: string, size: number, offset: number, data: string) => {
			if (size > 50 << 20) throw this.#tooLarge(name);
			const of = id || `part-${++this.#count}`;
			const had = this.#coming.get(of)?.data ?? '';
			if (raw(had).length !== offset) throw no('conflict', `A part of ${name} did not fit to what came before.`);
			this.#coming.set(of, { name, data: btoa(raw(had) + raw(data)) });
			return of;
		},
		'knowledge.attach': (a: VaultAttach) => {
			const name = a.name || base(a.path ?? 'file');
			const data = a.data || this.#coming.get(a.upload ?? '')?.data || (a.path ? btoa('file') : '');
			if (name.includes('no room')) {
				throw no(
					'disk_full',
					`attachments/${name} could not be written: no space left on device. Nothing was changed.`,
					'Free some space, or look at the permissions of the vault.',
				);
			}
			if (!data) throw no('invalid', `${name} is empty. Nothing was added.`);
			const [, stem, ext] = /^(.*?)(\.\w+)?$/.exec(name)!;
			let path = `attachments/${name}`;
			for (let n = 2; this.#all.has(path); n++) path = `attachments/${stem} (${n})${ext ?? ''}`;
			return this.put(path, data);
		},
		'knowledge.file': (path: string, offset: number, n: number) => {
			const f = this.#all.get(path);
			if (!f) throw no('not_found', `There is no note ${path}.`);
			return {
				...this.#info(path),
				disk: `/home/minji/Vault/${path}`,
				data: btoa(raw(f.data).slice(offset, offset + n)),
			};
		},
		'knowledge.embed': (from: string, source: string) => this.#embed(from, source),
		'knowledge.places': (_from: string, name: string, text: string): VaultPlaces => {
			const note = name ? this.#beside.note(name) : undefined;
			if (name && !note) throw no('not_found', `There is no note ${name}.`);
			const headings = (note?.text ?? text).split('\n').flatMap((line, i) => {
				const m = /^(#{1,6}) (.+)$/.exec(line);
				return m ? [{ level: m[1]!.length, text: m[2]!, line: i + 1 }] : [];
			});
			const blocks = blocksOf(note?.text ?? text);
			return { path: note?.path ?? '', hash: note?.hash ?? '', headings, blocks, free: `id${++this.#count}` };
		},
		'knowledge.anchor': (path: string, line: number, hash: string) => {
			const note = this.#beside.note(path)!;
			if (hash && hash !== note.hash) throw no('conflict', `${path} was changed by somebody else in the meantime.`);
			const block = blocksOf(note.text).find((b) => b.line === line)!;
			const id = block.id ?? `id${++this.#count}`;
			const lines = note.text.split('\n');
			if (!block.id) lines[block.end - 1] += ` ^${id}`;
			return { id, change: this.#beside.put(path, lines.join('\n')) };
		},
	};

	/** find is the path of a file that a link names. */
	find(target: string): string | undefined {
		return [...this.#all.keys()].find((p) => p === target || base(p) === base(target));
	}

	entries(): VaultEntry[] {
		return [...this.#all].map(([path, f]) => ({
			path,
			name: base(path),
			kind: 'file',
			size: raw(f.data).length,
			modified: f.at,
		}));
	}

	put(path: string, data: string): VaultChange {
		this.#all.set(path, { data, at: iso() });
		return this.#beside.change(path);
	}

	/** take removes a file and returns what it held. */
	take(path: string): string | undefined {
		const f = this.#all.get(path);
		if (!f) return undefined;
		this.#all.delete(path);
		this.#beside.change(path);
		return f.data;
	}

	#tooLarge(name: string) {
		return no(
			'too_large',
			`${name} has more than 50 MB. Nothing was added.`,
			'Put a smaller file here, and keep the large one elsewhere.',
		);
	}

	#info(path: string) {
		const f = this.#all.get(path)!;
		const mime = kinds[f.data.slice(0, 5)];
		return { path, size: raw(f.data).length, modified: f.at, ...(mime ? { mime } : {}) };
	}

	#embed(from: string, source: string): VaultEmbed {
		const m = link.exec(source.startsWith('!') ? source : `!${source}`);
		if (!m) throw no('invalid', `"${source}" is no link to a file of the vault.`);
		const [, wiki, fragment = '', alias = '', address] = m;
		const target = (wiki ?? decodeURIComponent(address!.split('#')[0]!)).trim();
		const read = { target, fragment, alias, kind: '', path: '', size: 0, modified: iso() };
		const path = this.find(target);
		if (path) {
			const info = this.#info(path);
			return { ...read, ...info, kind: info.mime ? 'image' : 'file' };
		}
		const note = this.#beside.note(target || from);
		if (!note) return { ...read, missing: 'file' };
		const found = { ...read, kind: 'note', path: note.path, size: note.text.length, modified: note.modified, line: 1 };
		const lines = note.text.split('\n');
		let part = note.text.replace(/^---\n[\s\S]*?\n---\n/, '');
		if (fragment.startsWith('^')) {
			const b = blocksOf(note.text).find((b) => b.id === fragment.slice(1));
			if (!b) return { ...found, missing: 'block' };
			part = lines.slice(b.line - 1, b.end).join('\n');
			found.line = b.line;
		} else if (fragment) {
			const i = (note.headings ?? []).findIndex((h) => h.text.toLowerCase() === fragment.toLowerCase());
			if (i < 0) return { ...found, missing: 'heading' };
			const h = note.headings![i]!;
			const next = note.headings!.slice(i + 1).find((x) => x.level <= h.level);
			part = lines.slice(h.line - 1, next ? next.line - 1 : undefined).join('\n');
			found.line = h.line;
		}
		return { ...found, text: part.replace(/ \^[a-z\d-]+$/gim, '').trim() };
	}
}

/** embeddedScene has notes that show a picture, parts of each other, and what is not there. */
export function embeddedScene(w: World, files: FakeFiles, ko: boolean): void {
	const [trip, plan, sea] = ko
		? ['제주 여행', 'Oxios 설계', '제주 바다.svg']
		: ['Jeju trip', 'Oxios design', 'sea at Jeju.svg'];
	files.put(`attachments/${sea}`, btoa(SEA));
	files.put(`attachments/${ko ? '배표' : 'ferry'}.pdf`, btoa('%PDF-1.7'.repeat(9000)));
	w.notes[`${trip}.md`] = ko
		? `# 제주 여행\n\n첫날 아침, 성산에서.\n\n![[${sea}|260]]\n\n## 남은 일\n\n![[${plan}#남은 일]]\n\n![[숙소]]\n\n![[배표.pdf]]\n\n배는 여덟 시에 떠난다.\n`
		: `# Jeju trip\n\nThe first morning, at Seongsan.\n\n![[${sea}|260]]\n\n## Open\n\n![[${plan}#Open]]\n\n![[Where to stay]]\n\n![[ferry.pdf]]\n\nThe boat leaves at eight.\n`;
}
