import BellOff from '@lucide/svelte/icons/bell-off';
import Blocks from '@lucide/svelte/icons/blocks';
import Brain from '@lucide/svelte/icons/brain';
import BookOpen from '@lucide/svelte/icons/book-open';
import CirclePause from '@lucide/svelte/icons/circle-pause';
import CirclePlay from '@lucide/svelte/icons/circle-play';
import Cpu from '@lucide/svelte/icons/cpu';
import Download from '@lucide/svelte/icons/download';
import FileInput from '@lucide/svelte/icons/file-input';
import Hand from '@lucide/svelte/icons/hand';
import House from '@lucide/svelte/icons/house';
import InboxIcon from '@lucide/svelte/icons/inbox';
import Keyboard from '@lucide/svelte/icons/keyboard';
import MessageCircle from '@lucide/svelte/icons/message-circle';
import MessageCirclePlus from '@lucide/svelte/icons/message-circle-plus';
import PanelLeft from '@lucide/svelte/icons/panel-left';
import RotateCw from '@lucide/svelte/icons/rotate-cw';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import SquarePen from '@lucide/svelte/icons/square-pen';
import type { Composer } from '../features/chat/composer.svelte';
import type { Conversation } from '../features/chat/conversation.svelte';
import type { Entry } from '../features/palette/palette.svelte';
import { Titles } from '../features/palette/titles.svelte';
import { LEAST } from '../features/memory/remembered.svelte';
import { sections } from '../features/settings/sections';
import type { Session } from '../kernel/api.gen';
import type { Live } from '../kernel/live.svelte';
import { quietUntil, tomorrow, toSetting } from '../kernel/quiet';
import { inWindow, showQuick } from '../kernel/window';
import { shortPath } from '../ui/format';
import { i18n } from '../ui/i18n/index.svelte';
import { keysOf, shortcuts } from '../ui/keys';
import { Choices } from './commands-choices';
import { also, attempt, entry } from './commands-entry';
import { hereEntries } from './commands-here';
import { noteEntries, notesByName, notesByText, sideEntries, type NoteStage } from './commands-notes';
import { spaceEntries, type SpaceStage } from './commands-spaces';
import type { Shell } from './shell.svelte';

/** Stage is what stands on the screen, and what it can do. */
export interface Stage extends NoteStage {
	conversation: () => Conversation | undefined;
	/** home is what is written on the home, where a conversation begins. */
	home: () => Composer;
	search: () => void;
	/** toCard goes to the request that waits in a conversation. */
	toCard: (sessionID: string) => void;
	inbox: () => void;
	agents: () => void;
	/** memory goes to what is remembered, or to one thing of it. */
	memory: (id?: string) => void;
	/** remember asks what should be remembered. */
	remember: () => void;
	/** memories takes them from a file, or writes them to one. */
	memories: (what: 'import' | 'export') => void;
	audit: () => void;
	/** extensions goes to the servers of tools; add asks for a new one. */
	extensions: (add: boolean) => void;
	knowledge: () => void;
	spaces: Omit<SpaceStage, 'onScreen'>;
}

/** How many messages a full-text search shows. */
const FOUND = 8;

/** Commands are the entries of the palette: all that can be done, gone to and chosen from here. */
export class Commands {
	readonly titles: Titles;
	#live: Live;
	#shell: Shell;
	#stage: Stage;
	#choices: Choices;

	constructor(live: Live, shell: Shell, stage: Stage) {
		this.#live = live;
		this.#shell = shell;
		this.#stage = stage;
		this.#choices = new Choices(live, shell, { onScreen: () => this.#onScreen, home: stage.home });
		this.titles = new Titles(live.kernel);
	}

	readonly entries = $derived.by(() => [
		...this.#waiting(),
		...this.#here(),
		...sideEntries(this.#stage),
		...this.#actions(),
		...this.#goto(),
		...spaceEntries(this.#live, { ...this.#stage.spaces, onScreen: () => this.#onScreen }),
		...this.#conversations(),
		...this.#choices.entries,
	]);

	/** more finds what is not among the entries: words in messages, a path. */
	async more(page: string, words: string): Promise<Entry[]> {
		if (page === 'folder') return this.#choices.path(words);
		if (page === 'note') return notesByName(this.#live, this.#stage, words);
		if (page !== '' || words === '') return [];
		const [list, notes, within, memories] = await Promise.all([
			this.#live.kernel.state.sessions({ search: words, limit: FOUND }),
			notesByName(this.#live, this.#stage, words, FOUND).catch(() => []),
			notesByText(this.#live, this.#stage, words, FOUND).catch(() => []),
			this.#memories(words).catch(() => []),
		]);
		const named = new Set(notes.map((e) => e.id));
		const said = list.map((s) => {
			const run = () => this.#shell.open(s.id, s.hit_run);
			return { ...this.#session(s), group: 'text' as const, ...(s.snippet ? { below: s.snippet } : {}), run };
		});
		return [...said, ...notes, ...within.filter((e) => !named.has(e.id)), ...memories];
	}

	/** memories are those of all spaces that fit, the best first. */
	async #memories(text: string): Promise<Entry[]> {
		const { memory, space } = this.#live.kernel;
		const [stats, spaces] = await Promise.all([memory.stats(), space.list()]);
		const found = await Promise.all(
			Object.keys(stats.spaces).map((s) => memory.search({ text, space: s, k: FOUND, least: LEAST })),
		);
		// Scores are comparable within one search only; which share of the words stands in a memory is so among all.
		const best = found.flat().sort((a, b) => b.cover - a.cover);
		return best.slice(0, FOUND).map((m) => {
			const of = spaces.find((s) => s.id === m.space);
			return entry('memory', `memory:${m.id}`, {
				title: m.text,
				icon: Brain,
				...(of ? { hint: `${of.emoji} ${of.name}` } : {}),
				run: () => this.#stage.memory(m.id),
			});
		});
	}

	#here(): Entry[] {
		const c = this.#shell.view === 'chat' ? this.#stage.conversation() : undefined;
		return c ? hereEntries(this.#live, this.#shell, c, this.#onScreen, this.#stage.toCard) : [];
	}

	/** onScreen is the conversation on the screen. */
	get #onScreen(): Session | undefined {
		const c = this.#shell.view === 'chat' ? this.#stage.conversation() : undefined;
		return c && (this.#live.sessions.get(c.id) ?? c.session);
	}

	#waiting(): Entry[] {
		return this.#live.approvals.pending.flatMap((a) => {
			const id = a.request.session_id;
			if (!id) return [];
			const title = this.#live.sessions.get(id)?.title;
			return entry('waiting', `card:${a.id}`, {
				title: i18n.either(a.request.title, a.request.title_ko),
				also: also('waiting'),
				icon: Hand,
				...(title ? { hint: title } : {}),
				run: () => this.#stage.toCard(id),
			});
		});
	}

	#actions(): Entry[] {
		const t = i18n.t.palette;
		const o = i18n.other;
		const shell = this.#shell;
		const live = this.#live;
		const paused = live.status?.paused ?? false;
		const out = [
			entry('actions', 'new', {
				title: i18n.t.sessions.create,
				also: `${o.sessions.create} ${also('new')}`,
				icon: SquarePen,
				keys: keysOf(shortcuts.newChat[0]),
				run: () => shell.open(undefined),
			}),
			entry('actions', 'search', {
				title: i18n.t.sessions.search,
				also: `${o.sessions.search} ${also('search')}`,
				icon: Search,
				keys: keysOf(shortcuts.search[0]),
				run: () => this.#stage.search(),
			}),
			...noteEntries(this.#stage),
			...this.#choices.pages,
			entry('actions', 'remember', {
				title: i18n.t.memory.add,
				also: `${o.memory.add} ${i18n.t.memory.also} ${o.memory.also}`,
				icon: Brain,
				run: () => this.#stage.remember(),
			}),
			entry('actions', 'server-add', {
				title: i18n.t.extensions.add,
				also: `${o.extensions.add} ${i18n.t.extensions.also} ${o.extensions.also}`,
				icon: Blocks,
				run: () => this.#stage.extensions(true),
			}),
			entry('actions', 'memory-import', {
				title: i18n.t.memoryFile.import,
				also: `${o.memoryFile.import} ${i18n.t.memoryFile.also} ${o.memoryFile.also}`,
				icon: FileInput,
				run: () => this.#stage.memories('import'),
			}),
			entry('actions', 'memory-export', {
				title: i18n.t.memoryFile.export,
				also: `${o.memoryFile.export} ${i18n.t.memoryFile.also} ${o.memoryFile.also}`,
				icon: Download,
				run: () => this.#stage.memories('export'),
			}),
			entry('actions', 'pause', {
				title: paused ? t.resumeAll : t.pauseAll,
				also: `${paused ? o.palette.resumeAll : o.palette.pauseAll} ${also('pause')}`,
				icon: paused ? CirclePlay : CirclePause,
				run: () =>
					attempt(
						live,
						live.kernel.agents.pause(!paused).then((s) => (live.status = s)),
					),
			}),
			...this.#quiet(),
			entry('actions', 'list', {
				title: t.toggleList,
				also: o.palette.toggleList,
				icon: PanelLeft,
				keys: keysOf(shortcuts.pane[0]),
				run: () => shell.togglePane(),
			}),
			entry('actions', 'shortcuts', {
				title: i18n.t.keyboard.title,
				also: `${o.keyboard.title} help`,
				icon: Keyboard,
				keys: keysOf(shortcuts.shortcuts[0]),
				run: () => (shell.shortcuts = true),
			}),
		];
		if (inWindow()) {
			out.push(
				entry('actions', 'quick', {
					title: i18n.t.quick.title,
					also: `${o.quick.title} ${i18n.t.quick.also} ${o.quick.also}`,
					icon: MessageCirclePlus,
					...(live.hotkey.keys ? { keys: live.hotkey.keys } : {}),
					run: () => attempt(live, showQuick()),
				}),
			);
		}
		if (live.status?.offline?.length) {
			out.unshift(
				entry('actions', 'send-now', {
					title: t.sendNow,
					also: o.palette.sendNow,
					icon: RotateCw,
					run: () => attempt(live, live.kernel.infra.reconnect()),
				}),
			);
		}
		return out;
	}

	/** quiet are the ways to have no notices for a while. */
	#quiet(): Entry[] {
		const t = i18n.t.quiet;
		const until = (id: string, title: string, also: string, at: () => string) =>
			entry('actions', `quiet:${id}`, {
				title,
				also: `${i18n.other.quiet.now} ${also} ${t.also} ${i18n.other.quiet.also}`,
				icon: BellOff,
				run: () => void this.#live.set('quiet_until', at()),
			});
		const o = i18n.other.quiet;
		const out = [
			until('hour', `${t.now}: ${t.hour}`, o.hour, () => toSetting(new Date(Date.now() + 3_600_000))),
			until('tomorrow', `${t.now}: ${t.tomorrow}`, o.tomorrow, () => toSetting(tomorrow(new Date()))),
		];
		const chosen = (key: string) => (key === 'quiet_until' ? this.#live.setting(key) : '');
		if (quietUntil(chosen, new Date())) out.push(until('end', `${t.now}: ${t.end}`, o.end, () => ''));
		return out;
	}

	#goto(): Entry[] {
		const o = i18n.other;
		const home = entry('goto', 'home', {
			title: i18n.t.palette.home,
			also: `${o.palette.home} ${i18n.t.views.chat} ${o.views.chat}`,
			icon: House,
			run: () => this.#shell.open(undefined),
		});
		const inbox = entry('goto', 'inbox', {
			title: i18n.t.inbox.title,
			also: `${o.inbox.title} ${i18n.t.inbox.also} ${o.inbox.also}`,
			icon: InboxIcon,
			keys: keysOf(shortcuts.inbox[0]),
			run: () => this.#stage.inbox(),
		});
		const agents = entry('goto', 'agents', {
			title: i18n.t.agents.title,
			also: `${o.agents.title} ${i18n.t.agents.also} ${o.agents.also}`,
			icon: Cpu,
			keys: keysOf(shortcuts.agents[0]),
			run: () => this.#stage.agents(),
		});
		const memory = entry('goto', 'memory', {
			title: i18n.t.memory.title,
			also: `${o.memory.title} ${i18n.t.memory.also} ${o.memory.also}`,
			icon: Brain,
			keys: keysOf(shortcuts.memory[0]),
			run: () => this.#stage.memory(),
		});
		const audit = entry('goto', 'audit', {
			title: i18n.t.audit.title,
			also: `${o.audit.title} ${i18n.t.audit.also} ${o.audit.also}`,
			icon: ScrollText,
			keys: keysOf(shortcuts.audit[0]),
			run: () => this.#stage.audit(),
		});
		const extensions = entry('goto', 'extensions', {
			title: i18n.t.extensions.title,
			also: `${o.extensions.title} ${i18n.t.extensions.also} ${o.extensions.also}`,
			icon: Blocks,
			run: () => this.#stage.extensions(false),
		});
		const knowledge = entry('goto', 'knowledge', {
			title: i18n.t.knowledge.title,
			also: `${o.knowledge.title} ${i18n.t.knowledge.also} ${o.knowledge.also}`,
			icon: BookOpen,
			keys: keysOf(shortcuts.knowledge[0]),
			run: () => this.#stage.knowledge(),
		});
		return [
			home,
			inbox,
			agents,
			memory,
			extensions,
			knowledge,
			audit,
			...sections.map((s) =>
				entry('goto', `settings:${s}`, {
					title: i18n.t.palette.settings(i18n.t.settings[s]),
					also: o.palette.settings(o.settings[s]),
					icon: Settings,
					...(s === 'models' ? { keys: keysOf(shortcuts.settings[0]) } : {}),
					run: () => this.#shell.settings(s),
				}),
			),
		];
	}

	#session(s: Session): Entry {
		const title = s.title || i18n.t.sessions.untitled;
		const hint = shortPath(s.folder);
		return entry('conversations', `session:${s.id}`, {
			title,
			icon: MessageCircle,
			hint,
			run: () => this.#shell.open(s.id, s.hit_run),
		});
	}

	#conversations(): Entry[] {
		const all = this.titles.list.length > 0 ? this.titles.list : this.#live.sessions.list;
		return all.filter((s) => s.id !== this.#shell.session).map((s) => this.#session(s));
	}
}
