import type { Section } from '../features/settings/sections';
import type { Kept } from '../kernel/kept.svelte';

export type View =
	'chat' | 'inbox' | 'agents' | 'knowledge' | 'memory' | 'spaces' | 'audit' | 'extensions' | 'settings';

/** Tab is a page of the side panel. */
export type Tab = 'plan' | 'changes';

/** Pane is a part of the frame that resizes and hides: the list on the left, the side panel on the right. */
export type Pane = 'list' | 'side';

/** Width of a pane, in pixels. */
export const widths: Record<Pane, { least: number; usual: number; most: number }> = {
	list: { least: 200, usual: 256, most: 400 },
	side: { least: 300, usual: 364, most: 560 },
};

/** Below these widths of the window a pane becomes a sheet over the content. */
const SIDE_WIDTH = 1100;
const LIST_WIDTH = 960;
const RAIL = 80;
/** What the content keeps at least beside both panes, and when two notes stand side by side in it. */
const CONTENT = 380;
const TWO = 640;

const between = (least: number, n: number, most: number) => Math.max(least, Math.min(n, most));

/** fitted is how wide the open panes are drawn: as they were set, less where the window has no room for it. */
export function fitted(
	window: number,
	set: Record<Pane, number>,
	open: Record<Pane, boolean>,
	two = false,
): Record<Pane, number> {
	const room = window - RAIL - (two ? TWO : CONTENT);
	const list = between(widths.list.least, Math.min(set.list, room - (open.side ? widths.side.least : 0)), set.list);
	const side = between(widths.side.least, Math.min(set.side, room - (open.list ? list : 0)), set.side);
	return { list, side };
}

/** Shell knows which view stands open, and which panes. */
export class Shell {
	view = $state<View>('chat');
	/** session is the conversation on the screen; none is the home. */
	session = $state<string>();
	/** run is to be brought onto the screen with its conversation. */
	run = $state<string>();
	section = $state<Section>('models');
	/** tab is what the side panel shows; none is the plan where there is one. */
	tab = $state<Tab>();
	/** review is what the side panel shows. */
	review = $state.raw<{ runID?: string; path?: string }>({});
	shortcuts = $state(false);

	width = $state(window.innerWidth);
	paneIsSheet = $derived(this.width < LIST_WIDTH);
	sideIsSheet = $derived(this.width < SIDE_WIDTH);
	/** What the person chose for wide windows is remembered; sheets open for the moment only. */
	paneSheet = $state(false);
	sideSheet = $state(false);
	paneKept = $state(true);
	sideKept = $state(false);
	/** noteKept is the panel beside a note, which stands open unless the person closed it. */
	noteKept = $state(true);

	/** The tables of agents, of memories, of spaces and of the audit record have no list beside them, and beside them stands what is open. */
	table = $derived(['agents', 'memory', 'spaces', 'audit'].includes(this.view));
	pane = $derived(!this.table && (this.paneIsSheet ? this.paneSheet : this.paneKept));
	/** two says that two notes stand side by side. */
	#two: () => boolean = () => false;
	side = $derived.by(() => {
		if (this.table) return this.#opened(this.view) && (!this.sideIsSheet || this.sideSheet);
		if (this.view === 'knowledge')
			return this.#opened(this.view) && (this.sideIsSheet ? this.sideSheet : this.noteKept);
		return this.view === 'chat' && this.session !== undefined && (this.sideIsSheet ? this.sideSheet : this.sideKept);
	});

	#set = $state.raw<Record<Pane, number>>({ list: widths.list.usual, side: widths.side.usual });
	/** sizes are the widths as they are drawn. */
	sizes = $derived(
		fitted(
			this.width,
			this.#set,
			{ list: this.pane && !this.paneIsSheet, side: this.side && !this.sideIsSheet },
			this.view === 'knowledge' && this.#two(),
		),
	);

	#kept: Kept;
	#opened: (view: View) => boolean;

	/** opened reports whether something is open in the table of that view, two whether two notes stand side by side. */
	constructor(kept: Kept, opened: (view: View) => boolean = () => false, two = () => false) {
		this.#kept = kept;
		this.#opened = opened;
		this.#two = two;
		this.paneKept = kept.get('pane.list') !== 'closed';
		this.sideKept = kept.get('pane.side') === 'open';
		this.noteKept = kept.get('pane.note') !== 'closed';
		const width = (pane: Pane) => {
			const { least, usual, most } = widths[pane];
			return between(least, Number(kept.get(`pane.${pane}.width`)) || usual, most);
		};
		this.#set = { list: width('list'), side: width('side') };
	}

	/** resize draws a pane at this width, or as near to it as it may come; with done it is remembered. */
	resize(pane: Pane, width: number, done: boolean): void {
		const { least, most } = widths[pane];
		this.#set = { ...this.#set, [pane]: Math.round(between(least, width, most)) };
		if (done) this.#kept.set(`pane.${pane}.width`, String(this.#set[pane]));
	}

	open(id: string | undefined, run?: string): void {
		this.view = 'chat';
		this.session = id;
		this.run = run;
		this.review = {};
		this.tab = undefined;
		this.closeSheets();
	}

	inbox(): void {
		this.view = 'inbox';
		this.closeSheets();
	}

	agents(): void {
		this.view = 'agents';
		this.closeSheets();
	}

	memory(): void {
		this.view = 'memory';
		this.closeSheets();
	}

	spaces(): void {
		this.view = 'spaces';
		this.closeSheets();
	}

	knowledge(): void {
		this.view = 'knowledge';
		this.closeSheets();
	}

	audit(): void {
		this.view = 'audit';
		this.closeSheets();
	}

	extensions(): void {
		this.view = 'extensions';
		this.closeSheets();
	}

	settings(section: Section = this.section): void {
		this.view = 'settings';
		this.section = section;
		this.closeSheets();
	}

	togglePane(): void {
		if (this.table) return;
		if (this.paneIsSheet) {
			this.paneSheet = !this.paneSheet;
			this.sideSheet = false;
			return;
		}
		this.paneKept = !this.paneKept;
		this.#kept.set('pane.list', this.paneKept ? 'open' : 'closed');
	}

	toggleSide(): void {
		if (this.sideIsSheet) {
			this.sideSheet = !this.sideSheet;
			this.paneSheet = false;
			return;
		}
		if (this.table) return;
		if (this.view === 'knowledge') {
			this.noteKept = !this.noteKept;
			this.#kept.set('pane.note', this.noteKept ? 'open' : 'closed');
			return;
		}
		this.sideKept = !this.sideKept;
		this.#kept.set('pane.side', this.sideKept ? 'open' : 'closed');
	}

	showChanges(runID: string, path?: string): void {
		this.review = { runID, path };
		this.tab = 'changes';
		this.showSide();
	}

	showSide(): void {
		if (!this.side) this.toggleSide();
	}

	/** closeSheets reports whether one was open. */
	closeSheets(): boolean {
		const was = this.paneSheet || this.sideSheet;
		this.paneSheet = this.sideSheet = false;
		return was;
	}
}
