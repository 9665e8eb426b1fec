import ArrowLeftRight from '@lucide/svelte/icons/arrow-left-right';
import CalendarDays from '@lucide/svelte/icons/calendar-days';
import Columns from '@lucide/svelte/icons/columns-2';
import FilePlus from '@lucide/svelte/icons/file-plus-2';
import FileText from '@lucide/svelte/icons/file-text';
import FolderInput from '@lucide/svelte/icons/folder-input';
import ListChecks from '@lucide/svelte/icons/list-checks';
import MessageCircle from '@lucide/svelte/icons/message-circle';
import Network from '@lucide/svelte/icons/network';
import Trash from '@lucide/svelte/icons/trash-2';
import type { Entry } from '../features/palette/palette.svelte';
import type { VaultHit } from '../kernel/api.gen';
import type { Live } from '../kernel/live.svelte';
import { i18n } from '../ui/i18n/index.svelte';
import { keysOf, shortcuts } from '../ui/keys';

/** NoteStage is what the entries about notes can do on the screen. */
export interface NoteStage {
	/** note opens a note; none makes a new one. */
	note: (path?: string) => void;
	journal: () => void;
	/** notes shows something of all notes. */
	notes: (what: 'trash' | 'graph' | 'check' | 'import') => void;
	/** sides are the two notes side by side: whether there are two, and the ways between them. */
	sides: { two: () => boolean; split: () => void; next: () => void };
	/** asked is the note on the screen, about which ask begins a conversation. */
	asked: () => string | undefined;
	ask: () => void;
}

/** How many notes are found by their names, unless fewer are asked for. */
const NOTES = 20;

/** noteEntries are what can be done with the notes from everywhere. */
export function noteEntries(stage: NoteStage): Entry[] {
	const t = i18n.t.knowledge;
	const o = i18n.other.knowledge;
	const also = (word: string) => `${word} ${t.also} ${o.also}`;
	const shown = [
		['graph', 'graphAll', Network],
		['trash', 'trash', Trash],
		['check', 'check', ListChecks],
		['import', 'import', FolderInput],
	] as const;
	return [
		{
			group: 'actions',
			id: 'note',
			title: t.goto,
			also: also(o.goto),
			icon: FileText,
			page: 'note',
			keys: keysOf(shortcuts.note[0]),
		},
		{
			group: 'actions',
			id: 'note:new',
			title: t.create,
			also: also(o.create),
			icon: FilePlus,
			run: () => stage.note(),
		},
		{
			group: 'actions',
			id: 'journal',
			title: t.today,
			also: also(o.today),
			icon: CalendarDays,
			keys: keysOf(shortcuts.journal[0]),
			run: () => stage.journal(),
		},
		...shown.map(([what, word, icon]): Entry => ({
			group: 'actions',
			id: `notes:${what}`,
			title: i18n.t.notebook[word],
			also: also(i18n.other.notebook[word]),
			icon,
			run: () => stage.notes(what),
		})),
	];
}

/** sideEntries are what can be done with the note on the screen. */
export function sideEntries({ asked, ask, sides }: NoteStage): Entry[] {
	if (!asked()) return [];
	const t = i18n.t.beside;
	const o = i18n.other.beside;
	const { split, nextSide } = shortcuts;
	const two = sides.two();
	const name = two ? ('close' as const) : ('split' as const);
	const also = `${o[name]} ${t.alsoSplit} ${o.alsoSplit}`;
	const out: Entry[] = [
		{ group: 'here', id: 'split', title: t[name], also, icon: Columns, keys: keysOf(split[0]), run: sides.split },
		{ group: 'here', id: 'ask', title: t.ask, also: o.ask, icon: MessageCircle, run: ask },
	];
	if (two) {
		const words = `${o.next} ${t.alsoSplit} ${o.alsoSplit}`;
		const keys = keysOf(nextSide[0]);
		out.splice(1, 0, {
			group: 'here',
			id: 'next',
			title: t.next,
			also: words,
			icon: ArrowLeftRight,
			keys,
			run: sides.next,
		});
	}
	return out;
}

const entryOf = (stage: NoteStage, h: VaultHit): Entry => ({
	group: 'note',
	id: `note:${h.path}`,
	title: h.title,
	icon: FileText,
	hint: h.path.split('/').slice(0, -1).join('/'),
	...(h.snippet ? { below: h.snippet } : {}),
	run: () => stage.note(h.path),
});

/** notesByName are those whose names fit. */
export async function notesByName(live: Live, stage: NoteStage, words: string, most = NOTES): Promise<Entry[]> {
	return ((await live.kernel.knowledge.find(words, most)) ?? []).map((h) => entryOf(stage, h));
}

/** notesByText are those in whose text the words stand. */
export async function notesByText(live: Live, stage: NoteStage, words: string, most: number): Promise<Entry[]> {
	return ((await live.kernel.knowledge.search(words, most)) ?? []).map((h) => entryOf(stage, h));
}
