import type { Section } from '../features/settings/sections';

export type View = 'chat' | 'settings';

const PANE = 'oxios.pane';
const SIDE = 'oxios.side';

/** Below these widths a pane becomes a sheet over the content. */
const SIDE_WIDTH = 1100;
const PANE_WIDTH = 960;

/** Shell knows which view stands open, and which panes. */
export class Shell {
	view = $state<View>('chat');
	/** session is the conversation on the screen; none is the home. */
	session = $state<string>();
	section = $state<Section>('models');
	/** review is what the side panel shows. */
	review = $state.raw<{ runID?: string; path?: string }>({});
	shortcuts = $state(false);

	width = $state(window.innerWidth);
	paneIsSheet = $derived(this.width < PANE_WIDTH);
	sideIsSheet = $derived(this.width < SIDE_WIDTH);
	/** What the person chose for wide windows is remembered; sheets open for the moment only. */
	paneKept = $state(localStorage.getItem(PANE) !== 'closed');
	sideKept = $state(localStorage.getItem(SIDE) === 'open');
	paneSheet = $state(false);
	sideSheet = $state(false);

	pane = $derived(this.paneIsSheet ? this.paneSheet : this.paneKept);
	side = $derived(
		this.view === 'chat' && this.session !== undefined && (this.sideIsSheet ? this.sideSheet : this.sideKept),
	);

	open(id: string | undefined): void {
		this.view = 'chat';
		this.session = id;
		this.review = {};
		this.closeSheets();
	}

	settings(section: Section = this.section): void {
		this.view = 'settings';
		this.section = section;
		this.closeSheets();
	}

	togglePane(): void {
		if (this.paneIsSheet) {
			this.paneSheet = !this.paneSheet;
			this.sideSheet = false;
			return;
		}
		this.paneKept = !this.paneKept;
		localStorage.setItem(PANE, this.paneKept ? 'open' : 'closed');
	}

	toggleSide(): void {
		if (this.sideIsSheet) {
			this.sideSheet = !this.sideSheet;
			this.paneSheet = false;
			return;
		}
		this.sideKept = !this.sideKept;
		localStorage.setItem(SIDE, this.sideKept ? 'open' : 'closed');
	}

	showChanges(runID: string, path?: string): void {
		this.review = { runID, path };
		if (!this.side) this.toggleSide();
	}

	/** closeSheets reports whether one was open. */
	closeSheets(): boolean {
		const was = this.paneSheet || this.sideSheet;
		this.paneSheet = this.sideSheet = false;
		return was;
	}
}
