import { no } from './core';
import type { FakePast } from './past';

type Notes = Record<string, string>;

const below = (paths: Iterable<string>, folder: string) => [...paths].filter((p) => `${p}/`.startsWith(`${folder}/`));

/** folderCalls are those about the folders of the vault; empty are the ones that were made, which may hold nothing. */
export const folderCalls = (
	notes: () => Notes,
	empty: Set<string>,
	past: FakePast,
	tell: (paths: string[]) => void,
	// eslint-disable-next-line @typescript-eslint/no-explicit-any
): Record<string, (...args: any[]) => unknown> => ({
	'knowledge.makeFolder': (path: string) => {
		if (below([...Object.keys(notes()), ...empty], path).length > 0)
			throw no('conflict', `${path} is there already. Nothing was changed.`);
		empty.add(path);
		tell([path]);
		return path;
	},
	'knowledge.removeFolder': (path: string) => {
		const inside = below(Object.keys(notes()), path);
		const trash = inside.map((p) => past.put(p, notes()[p]!));
		for (const p of inside) delete notes()[p];
		for (const p of below(empty, path)) empty.delete(p);
		tell([...inside, path]);
		return { path, trash };
	},
});

/** moveFolder gives a folder another path, and returns all paths that were and are. */
export function moveFolder(notes: Notes, empty: Set<string>, from: string, to: string): string[] {
	const at = (p: string) => to + p.slice(from.length);
	const inside = below(Object.keys(notes), from);
	const folders = below(empty, from);
	if (inside.length + folders.length === 0) throw no('not_found', `There is no note ${from}.`);
	for (const p of inside) {
		notes[at(p)] = notes[p]!;
		delete notes[p];
	}
	for (const p of folders) {
		empty.delete(p);
		empty.add(at(p));
	}
	return [...inside, ...inside.map(at)];
}
