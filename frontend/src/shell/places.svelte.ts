import { tick, untrack } from 'svelte';
import type AgentPane from '../features/agents/AgentPane.svelte';
import type AgentsView from '../features/agents/AgentsView.svelte';
import { Board } from '../features/agents/board.svelte';
import type AuditView from '../features/audit/AuditView.svelte';
import { AuditRecord } from '../features/audit/record.svelte';
import { metaOf } from '../features/audit/words';
import type Chat from '../features/chat/Chat.svelte';
import { Composer } from '../features/chat/composer.svelte';
import { Conversation } from '../features/chat/conversation.svelte';
import type ServerList from '../features/extensions/ServerList.svelte';
import { Servers } from '../features/extensions/servers.svelte';
import { Skills } from '../features/extensions/skills.svelte';
import { Desk, type Entry } from '../features/inbox/desk.svelte';
import type InboxList from '../features/inbox/InboxList.svelte';
import type KnowledgeList from '../features/knowledge/KnowledgeList.svelte';
import type NoteView from '../features/knowledge/NoteView.svelte';
import { Vault } from '../features/knowledge/vault.svelte';
import type MemoryPane from '../features/memory/MemoryPane.svelte';
import type MemoryView from '../features/memory/MemoryView.svelte';
import { Remembered } from '../features/memory/remembered.svelte';
import { Palette } from '../features/palette/palette.svelte';
import type Sessions from '../features/sessions/Sessions.svelte';
import { Managed } from '../features/spaces/managed.svelte';
import type SpacePane from '../features/spaces/SpacePane.svelte';
import type SpacesView from '../features/spaces/SpacesView.svelte';
import type { Live } from '../kernel/live.svelte';
import { i18n } from '../ui/i18n/index.svelte';
import { shortcutOf } from '../ui/keys';
import { Commands } from './commands.svelte';
import { Shell } from './shell.svelte';

/** Screen is what stands on the screen now, so that it can be given the focus. */
class Screen {
	sessions = $state.raw<Sessions>();
	chat = $state.raw<Chat>();
	inbox = $state.raw<InboxList>();
	servers = $state.raw<ServerList>();
	inboxCard = $state.raw<HTMLElement>();
	agents = $state.raw<AgentsView>();
	agent = $state.raw<AgentPane>();
	memory = $state.raw<MemoryView>();
	memoryPane = $state.raw<MemoryPane>();
	audit = $state.raw<AuditView>();
	spaces = $state.raw<SpacesView>();
	spacePane = $state.raw<SpacePane>();
	notes = $state.raw<KnowledgeList>();
	texts = $state.raw<NoteView>();

	/** table is the one of the views that is a table. */
	get table() {
		return this.agents ?? this.memory ?? this.spaces ?? this.audit;
	}
}

/** Places are the views of the window with what each of them shows, and the ways to go there. It is made while a component is. */
export class Places {
	readonly live: Live;
	readonly shell: Shell;
	readonly desk: Desk;
	readonly board: Board;
	readonly record: AuditRecord;
	readonly remembered: Remembered;
	readonly vault: Vault;
	readonly servers: Servers;
	readonly skills: Skills;
	readonly managed: Managed;
	readonly commands: Commands;
	readonly on = new Screen();

	/** home is written on the home, whatever view stands before it. What was chosen there is for one conversation. */
	home = $state.raw() as Composer;
	palette = $state.raw<Palette>();
	undoing = $state.raw<{ runID: string; redo: boolean; paths?: string[] }>();
	conversation = $derived.by(() => {
		const { session } = this.shell;
		return session ? new Conversation(this.live.kernel, session) : undefined;
	});
	/** provider is whom a message would be sent to from here. */
	provider = $derived.by(() => {
		const { session } = this.shell;
		const here = session ? (this.live.sessions.get(session) ?? this.conversation?.session) : this.home;
		return here?.provider || this.live.setting('provider');
	});
	/** wantsCard is the conversation whose request gets the focus once it is on the screen. */
	#wantsCard = $state<string>();

	constructor(live: Live) {
		this.live = live;
		this.desk = new Desk(live);
		this.board = new Board(live);
		this.record = new AuditRecord(live);
		this.remembered = new Remembered(live);
		this.vault = new Vault(live);
		this.managed = new Managed(live);
		this.servers = new Servers(live);
		this.skills = new Skills(live);
		this.home = new Composer(live, '');
		const { board, managed, record, remembered, vault } = this;
		this.shell = new Shell(
			live.kept,
			(view) => {
				if (view === 'memory') return remembered.opened !== undefined;
				if (view === 'spaces') return managed.opened !== undefined;
				const what = { audit: record.current, knowledge: vault.current, agents: board.current }[view as 'agents'];
				return what !== undefined;
			},
			() => vault.sides.two,
		);
		this.commands = this.#commands();
		this.#follow();
	}

	#commands(): Commands {
		const { managed, remembered, vault } = this;
		return new Commands(this.live, this.shell, {
			conversation: () => this.conversation,
			home: () => this.home,
			search: () => this.search(),
			toCard: (sessionID) => this.toCard(sessionID),
			inbox: () => this.openInbox(),
			agents: () => this.openAgents(),
			memory: (id) => this.openMemory(id),
			remember: () => {
				this.openMemory();
				remembered.adding = true;
			},
			memories: (what) => {
				this.openMemory();
				if (what === 'import') remembered.importing = true;
				else void remembered.save(i18n.t.memoryFile.export);
			},
			audit: () => this.openAudit(),
			knowledge: () => this.openKnowledge(),
			extensions: (add) => {
				this.openExtensions();
				this.servers.adding = add;
			},
			note: (path) => void this.openNote(path),
			journal: () => void this.openJournal(),
			notes: (what) => {
				this.openKnowledge();
				vault.asked = { what };
			},
			sides: { two: () => vault.sides.two, split: () => this.split(), next: () => this.on.texts?.next() },
			ask: () => void (vault.current && this.ask(vault.current.path)),
			asked: () => (this.shell.view === 'knowledge' ? vault.current?.path : undefined),
			spaces: {
				look: (id) => this.lookAt(id),
				create: () => (managed.asked = { kind: 'create' }),
				manage: () => this.openSpaces(),
			},
		});
	}

	/** follow keeps what is shown in step with the kernel, and goes where the shell and the kernel want. */
	#follow(): void {
		const { commands, live, shell, vault } = this;
		$effect(() => {
			const c = this.conversation;
			if (!c) return;
			const offs = [live.onevent((e) => c.receive(e)), live.onreload(() => void c.load())];
			untrack(() => void c.load());
			return () => {
				offs.forEach((off) => off());
				c.close();
			};
		});
		$effect(() => {
			if (!shell.run || !this.conversation) return;
			this.conversation.wanted = shell.run;
			shell.run = undefined;
		});
		// A deep link may come at any time, whatever stands open.
		$effect(() => {
			const id = live.wanted;
			if (!id) return;
			untrack(() => (id === 'inbox' ? this.openInbox() : shell.open(id)));
			live.wanted = undefined;
		});
		// What came of a run is seen when its conversation is in front.
		$effect(() => {
			const c = this.conversation;
			if (!c || !this.#inFront(c)) return;
			const ids = live.inbox.of(c.id);
			if (ids.length > 0) untrack(() => void live.inbox.see(ids).catch(() => {})); // they stay, and are tried again
		});
		// The inbox may say only later that it has the last one, when the person has left.
		$effect(() => {
			const c = this.conversation;
			const id = c?.ended;
			if (!id || !this.#inFront(c)) return;
			untrack(() => void live.inbox.see([id]).catch(() => {}));
		});
		$effect(() => {
			const c = this.conversation;
			if (!this.#wantsCard || this.#wantsCard !== c?.id || !c.loaded || !this.on.chat) return;
			this.#wantsCard = undefined;
			void tick().then(() => this.on.chat?.focusCard());
		});
		$effect(() => {
			if (shell.view !== 'extensions') return;
			const offs = untrack(() => [this.servers.follow(), this.skills.follow()]);
			return () => offs.forEach((off) => off());
		});
		$effect(() => live.onevent((e) => vault.receive(e)));
		$effect(() => live.onreload(() => void vault.again()));
		$effect(() => live.onevent((e) => commands.titles.receive(e)));
		$effect(() => live.onreload(() => commands.titles.forget()));
	}

	/** inFront says that the person sees what comes of a conversation's runs. */
	#inFront(c: Conversation): boolean {
		return this.live.focused && this.shell.view === 'chat' && c.loaded && !c.failure;
	}

	/** shortcut does what a key stands for, and reports whether it stands for anything here. */
	shortcut(e: KeyboardEvent): boolean {
		const { shell, vault } = this;
		const notes = shell.view === 'knowledge';
		switch (shortcutOf(e)) {
			case 'palette':
				this.openPalette();
				return true;
			case 'newChat':
				shell.open(undefined);
				return true;
			case 'search':
				this.search();
				return true;
			case 'inbox':
				this.openInbox();
				return true;
			case 'agents':
				this.openAgents();
				return true;
			case 'memory':
				this.openMemory();
				return true;
			case 'audit':
				this.openAudit();
				return true;
			case 'knowledge':
				this.openKnowledge();
				return true;
			case 'note':
				if (notes) this.openPalette('note');
				return notes;
			case 'journal':
				if (notes) void this.openJournal();
				return notes;
			case 'split':
				if (notes) this.split();
				return notes;
			case 'nextSide':
				if (!notes || !vault.sides.two) return false;
				this.on.texts?.next();
				return true;
			case 'settings':
				shell.settings();
				return true;
			case 'pane':
				shell.togglePane();
				return true;
			case 'side':
				if (notes || (shell.view === 'chat' && shell.session)) shell.toggleSide();
				return true;
			case 'card':
				this.goToCard();
				return true;
			case 'shortcuts':
				shell.shortcuts = true;
				return true;
		}
		return false;
	}

	openPalette(page = ''): void {
		const { commands } = this;
		void commands.titles.load();
		this.palette = new Palette(
			{ entries: () => commands.entries, more: (on, words) => commands.more(on, words), kept: this.live.kept },
			page,
		);
	}

	search(): void {
		const { on, shell } = this;
		const notes = shell.view === 'knowledge';
		const list = () => (notes ? on.notes : on.sessions);
		if (!notes) shell.view = 'chat';
		if (!shell.pane) shell.togglePane();
		// What is typed right after the key is for the field already.
		if (list()) void list()!.focusSearch();
		else void tick().then(() => list()?.focusSearch());
	}

	/** toCard goes to the request that waits in a conversation. */
	toCard(sessionID: string): void {
		if (this.shell.view !== 'chat' || this.shell.session !== sessionID) this.shell.open(sessionID);
		this.#wantsCard = sessionID;
	}

	openInbox(): void {
		this.shell.inbox();
		void tick().then(() => this.on.inbox?.focus());
	}

	openAgents(): void {
		this.shell.agents();
		void tick().then(() => this.on.agents?.focus());
	}

	/** openAgent goes to one agent. */
	openAgent(id: string): void {
		this.board.chosen = id;
		this.openAgents();
	}

	/** openMemory goes to what is remembered, or to one thing of it. */
	openMemory(id?: string): void {
		this.shell.memory();
		if (id) {
			this.remembered.open(id);
			this.shell.showSide();
		}
		void tick().then(() => (id ? this.on.memoryPane : this.on.memory)?.focus());
	}

	/** openSpaces goes to the spaces, or to one of them. */
	openSpaces(id?: string): void {
		this.shell.spaces();
		if (id !== undefined) {
			this.managed.open(id);
			this.shell.showSide();
		}
		void tick().then(() => (id !== undefined ? this.on.spacePane : this.on.spaces)?.focus());
	}

	/** lookAt shows the conversations of a space, null of all. The next one that begins is in it. */
	lookAt(id: string | null): void {
		const { shell } = this;
		this.live.spaces.choose(id);
		shell.closeSheets();
		shell.view = 'chat';
		if (!shell.pane && !shell.paneIsSheet) shell.togglePane();
	}

	openAudit(): void {
		this.shell.audit();
		void tick().then(() => this.on.audit?.focus());
	}

	openExtensions(): void {
		this.shell.extensions();
		void tick().then(() => this.on.servers?.focus());
	}

	openKnowledge(): void {
		this.shell.knowledge();
		void tick().then(() => this.on.notes?.focus());
	}

	/** openNote opens a note; none makes a new one. */
	async openNote(path?: string): Promise<void> {
		if (!path) return void (this.vault.asked = { what: 'create' });
		await this.vault.begin();
		if (!(await this.vault.show(path))) return;
		this.shell.knowledge();
		this.vault.write();
	}

	async openJournal(): Promise<void> {
		await this.vault.begin();
		if (await this.vault.today()) this.shell.knowledge();
	}

	/** split puts a second note beside the one that is open, or closes the side with the focus. */
	split(): void {
		const { sides, current } = this.vault;
		if (sides.two) void sides.close(sides.active);
		else if (current) void sides.split();
	}

	/** ask begins a conversation about a note. A question is sent at once; without one it is written on the home. */
	async ask(path: string, question?: string): Promise<boolean> {
		const { home, live, shell } = this;
		const note = this.vault.held.find((n) => n.path === path);
		if (note && !(await note.save())) {
			live.note(i18n.t.beside.askSaveFirst);
			return false;
		}
		if (!question) {
			void home.attachments.addNote(path);
			shell.open(undefined);
			return true;
		}
		const sent = await home.ask(path, question);
		if (sent || home.wanted) shell.open(sent?.session_id);
		else if (home.failure) live.tell(home.failure);
		return sent !== undefined || home.wanted;
	}

	/** begun goes to the conversation that was begun on the home. */
	begun(id: string): void {
		this.home = new Composer(this.live, '');
		this.shell.open(id);
	}

	/** openRecorded goes from an entry of the audit record to the run that it belongs to. */
	openRecorded(): void {
		const m = this.record.current && metaOf(this.record.current);
		if (m?.session_id) this.shell.open(m.session_id, m.run_id);
	}

	/** openTalk goes from an agent to its conversation. */
	openTalk(): void {
		const p = this.board.current && this.board.root(this.board.current.p);
		if (p) this.shell.open(p.session_id, p.id);
	}

	/** showAgent brings the agent that is open onto the screen, and goes there. */
	async showAgent(field: boolean): Promise<void> {
		this.shell.showSide();
		await tick();
		if (field) this.on.agent?.focusField();
		else this.on.agent?.focus();
	}

	/** back goes from what is open beside a table to the table. */
	back(): void {
		this.shell.closeSheets();
		void this.on.table?.focus();
	}

	/** openEntry goes to a run, or to the request itself. */
	openEntry(e: Entry): void {
		const { shell } = this;
		if (e.kind === 'failed' || e.kind === 'finished') return shell.open(e.run.run.session_id, e.id);
		if (e.kind === 'held' && e.held.count === 1) return shell.open(e.held.runs[0]!.session_id);
		shell.closeSheets();
		if (e.kind !== 'finding' && e.kind !== 'held') this.on.inboxCard?.focus();
	}

	/** goToCard goes to the request on the screen, or to the next conversation that has one. */
	goToCard(): void {
		const { live, shell } = this;
		const here = shell.view === 'chat' ? shell.session : undefined;
		if (shell.view === 'inbox' && this.on.inboxCard) return this.on.inboxCard.focus();
		if (here && live.approvals.of(here).length > 0) return this.on.chat?.focusCard();
		const next = live.approvals.nextSession(here);
		if (next) shell.open(next);
	}
}
