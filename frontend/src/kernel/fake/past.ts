import type { VaultHistory, VaultText, VaultTrashed, VaultVersion } from '../api.gen';
import { no } from './core';

interface Kept {
	at: string;
	text: string;
	run?: string;
}

/** How many lines stand around a difference. */
const AROUND = 3;

/** difference is a diff of two texts, in one hunk. */
export function difference(before: string, after: string): string {
	const a = before.split('\n');
	const b = after.split('\n');
	let from = 0;
	while (from < Math.min(a.length, b.length) && a[from] === b[from]) from++;
	let to = 0;
	while (to < Math.min(a.length, b.length) - from && a.at(-1 - to) === b.at(-1 - to)) to++;
	const first = Math.max(0, from - AROUND);
	const lines = [
		...a.slice(first, from).map((l) => ` ${l}`),
		...a.slice(from, a.length - to).map((l) => `-${l}`),
		...b.slice(from, b.length - to).map((l) => `+${l}`),
		...a.slice(a.length - to, a.length - to + AROUND).map((l) => ` ${l}`),
	];
	return `--- a\n+++ b\n@@ -${first + 1},${a.length} +${first + 1},${b.length} @@\n${lines.join('\n')}\n`;
}

/** FakePast is what notes were before, and what was deleted. */
export class FakePast {
	trash: (VaultTrashed & { text: string })[] = [];
	#before = new Map<string, Kept[]>();
	#count = 0;

	/** wrote keeps what a note held before it is written. */
	wrote(path: string, text: string | undefined): void {
		if (text !== undefined) this.#list(path, text).push({ at: new Date().toISOString(), text });
	}

	/** #list is what a note held, the oldest first; each begins with a day of work. */
	#list(path: string, text: string): Kept[] {
		const known = this.#before.get(path);
		if (known) return known;
		const lines = text.split('\n');
		const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
		const made: Kept[] = [
			{ at: ago(31), text: lines.slice(0, Math.ceil(lines.length / 3)).join('\n') },
			{ at: ago(7), text: lines.slice(0, Math.ceil((lines.length * 2) / 3)).join('\n'), run: 'r-parser' },
		];
		this.#before.set(path, made);
		return made;
	}

	#all(path: string, now: string | undefined): Kept[] {
		if (now === undefined) throw no('not_found', `There is no note ${path}, and the history knows of none.`);
		const kept = this.#list(path, now).filter((k) => k.text !== now);
		return [...kept, { at: new Date(Date.now() - 60_000).toISOString(), text: now }].reverse();
	}

	#version(path: string, list: Kept[], i: number, now: string): VaultVersion {
		const v = list[i]!;
		const count = (text: string) => text.split('\n').length;
		const more = count(v.text) - (list[i + 1] ? count(list[i + 1]!.text) : 0);
		return {
			id: `v${list.length - i}`,
			path,
			at: v.at,
			size: v.text.length,
			added: Math.max(0, more),
			removed: Math.max(0, -more),
			...(v.run ? { run_id: v.run, session_id: 's-parser' } : {}),
			...(v.text === now ? { now: true } : {}),
		};
	}

	history(path: string, now: string | undefined): VaultHistory {
		const list = this.#all(path, now);
		const versions = list.map((_, i) => this.#version(path, list, i, now!));
		return { path, kept: true, days: 30, versions, more: false };
	}

	version(path: string, id: string, now: string | undefined): VaultText {
		const list = this.#all(path, now);
		const i = list.length - Number(id.slice(1));
		const v = list[i];
		if (!v) throw no('not_found', `${path} has no version ${id}.`);
		const diff = v.text === now ? '' : difference(v.text, now!);
		return { ...this.#version(path, list, i, now!), text: v.text, encoding: 'UTF-8', diff };
	}

	/** put takes what was deleted, and returns by what it comes back. */
	put(path: string, text: string): string {
		const id = `trash-${++this.#count}`;
		this.trash = [{ id, path, text, at: new Date().toISOString(), size: text.length, hash: id }, ...this.trash];
		return id;
	}

	take(ids: string[]): { path: string; text: string }[] {
		const out = this.trash.filter((x) => ids.includes(x.id));
		this.trash = this.trash.filter((x) => !ids.includes(x.id));
		return out;
	}
}
