import BellOff from '@lucide/svelte/icons/bell-off';
import Brain from '@lucide/svelte/icons/brain';
import BookOpen from '@lucide/svelte/icons/book-open';
import CirclePause from '@lucide/svelte/icons/circle-pause';
import CirclePlay from '@lucide/svelte/icons/circle-play';
import Copy from '@lucide/svelte/icons/copy';
import Cpu from '@lucide/svelte/icons/cpu';
import Download from '@lucide/svelte/icons/download';
import FileDiff from '@lucide/svelte/icons/file-diff';
import FileInput from '@lucide/svelte/icons/file-input';
import FolderIcon from '@lucide/svelte/icons/folder';
import Hand from '@lucide/svelte/icons/hand';
import House from '@lucide/svelte/icons/house';
import InboxIcon from '@lucide/svelte/icons/inbox';
import Keyboard from '@lucide/svelte/icons/keyboard';
import Languages from '@lucide/svelte/icons/languages';
import MessageCircle from '@lucide/svelte/icons/message-circle';
import MessageCirclePlus from '@lucide/svelte/icons/message-circle-plus';
import PanelLeft from '@lucide/svelte/icons/panel-left';
import Pin from '@lucide/svelte/icons/pin';
import RotateCw from '@lucide/svelte/icons/rotate-cw';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import Shield from '@lucide/svelte/icons/shield';
import Square from '@lucide/svelte/icons/square';
import SquarePen from '@lucide/svelte/icons/square-pen';
import SunMoon from '@lucide/svelte/icons/sun-moon';
import type { Composer, Mode } from '../features/chat/composer.svelte';
import { open, type Conversation } from '../features/chat/conversation.svelte';
import type { Entry } from '../features/palette/palette.svelte';
import { Titles } from '../features/palette/titles.svelte';
import { LEAST } from '../features/memory/remembered.svelte';
import { sections } from '../features/settings/sections';
import type { Session } from '../kernel/api.gen';
import type { Live } from '../kernel/live.svelte';
import { quietUntil, tomorrow, toSetting } from '../kernel/quiet';
import { failureOf } from '../kernel/transport';
import { inWindow, showQuick } from '../kernel/window';
import { copyText } from '../ui/clipboard';
import { fileName, shortPath } from '../ui/format';
import { i18n, type Language } from '../ui/i18n/index.svelte';
import { keysOf, shortcuts } from '../ui/keys';
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
	knowledge: () => void;
	spaces: Omit<SpaceStage, 'onScreen'>;
}

/** How many messages a full-text search shows. */
const FOUND = 8;
/** How many folders a typed path shows. */
const FOLDERS = 12;

const entry = (group: Entry['group'], id: string, e: Omit<Entry, 'group' | 'id'>): Entry => ({ group, id, ...e });

/** Commands are the entries of the palette: all that can be done, gone to and chosen from here. */
export class Commands {
	readonly titles: Titles;
	#live: Live;
	#shell: Shell;
	#stage: Stage;

	constructor(live: Live, shell: Shell, stage: Stage) {
		this.#live = live;
		this.#shell = shell;
		this.#stage = stage;
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
		...this.#models(),
		...this.#choices(),
		...this.#folders(),
	]);

	/** more finds what is not among the entries: words in messages, a path. */
	async more(page: string, words: string): Promise<Entry[]> {
		if (page === 'folder') return this.#path(words);
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

	/** What is chosen applies to the conversation on the screen, or to the one that begins on the home. */
	get #scope(): string {
		return this.#onScreen ? i18n.t.palette.forThis : i18n.t.palette.forNew;
	}

	/** onScreen is the conversation on the screen. */
	get #onScreen(): Session | undefined {
		const c = this.#shell.view === 'chat' ? this.#stage.conversation() : undefined;
		return c && (this.#live.sessions.get(c.id) ?? c.session);
	}

	#waiting(): Entry[] {
		const also = this.#also('waiting');
		return this.#live.approvals.pending.flatMap((a) => {
			const id = a.request.session_id;
			if (!id) return [];
			const title = this.#live.sessions.get(id)?.title;
			return entry('waiting', `card:${a.id}`, {
				title: i18n.either(a.request.title, a.request.title_ko),
				also,
				icon: Hand,
				...(title ? { hint: title } : {}),
				run: () => this.#stage.toCard(id),
			});
		});
	}

	#here(): Entry[] {
		const c = this.#shell.view === 'chat' ? this.#stage.conversation() : undefined;
		if (!c) return [];
		const t = i18n.t.palette;
		const out: Entry[] = [];
		const last = c.runs.at(-1)?.run;
		if (this.#live.approvals.of(c.id).length > 0) {
			out.push(
				entry('here', 'card', {
					title: t.card,
					also: this.#also('waiting'),
					icon: Hand,
					keys: keysOf(shortcuts.card[0]),
					run: () => this.#stage.toCard(c.id),
				}),
			);
		}
		if (c.active) {
			const run = () => this.#do(c.stop());
			out.push(entry('here', 'stop', { title: t.stop, also: this.#also('stop'), icon: Square, keys: 'Esc', run }));
		} else if (last && !open(last)) {
			if (last.state !== 'done') {
				const run = () => this.#do(c.continue(last.id));
				out.push(entry('here', 'continue', { title: t.continue, also: this.#also('continue'), icon: CirclePlay, run }));
			}
			out.push(
				entry('here', 'again', {
					title: t.again,
					also: i18n.other.palette.again,
					icon: RotateCw,
					run: () => this.#do(c.again(last.id)),
				}),
			);
		}
		if (c.changes.length > 0) {
			const title = this.#shell.side ? t.hideChanges : t.changes;
			out.push(
				entry('here', 'changes', {
					title,
					also: `${i18n.other.palette.changes} diff`,
					icon: FileDiff,
					hint: String(c.changes.length),
					keys: keysOf(shortcuts.side[0]),
					run: () => this.#shell.toggleSide(),
				}),
			);
		}
		const session = this.#onScreen;
		if (session) {
			const pin = () => this.#do(this.#live.sessions.update(c.id, { pinned: !session.pinned }));
			const title = session.pinned ? t.unpin : t.pin;
			out.push(entry('here', 'pin', { title, also: i18n.other.palette.pin, icon: Pin, run: pin }));
		}
		out.push(
			entry('here', 'export', {
				title: t.export,
				also: `${this.#also('export')} ${i18n.other.palette.export}`,
				icon: Download,
				page: 'export',
			}),
			entry('export', 'export:md', {
				title: t.markdown,
				within: 'export',
				icon: Download,
				run: () => this.#export(c.id, 'md'),
			}),
			entry('export', 'export:json', {
				title: t.json,
				within: 'export',
				icon: Download,
				run: () => this.#export(c.id, 'json'),
			}),
			entry('export', 'export:copy', { title: t.copyAll, within: 'export', icon: Copy, run: () => this.#copy(c.id) }),
		);
		return out;
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
				also: `${o.sessions.create} ${this.#also('new')}`,
				icon: SquarePen,
				keys: keysOf(shortcuts.newChat[0]),
				run: () => shell.open(undefined),
			}),
			entry('actions', 'search', {
				title: i18n.t.sessions.search,
				also: `${o.sessions.search} ${this.#also('search')}`,
				icon: Search,
				keys: keysOf(shortcuts.search[0]),
				run: () => this.#stage.search(),
			}),
			...noteEntries(this.#stage),
			this.#opens('model', Cpu),
			this.#opens('mode', Shield),
			this.#opens('folder', FolderIcon),
			this.#opens('theme', SunMoon),
			this.#opens('language', Languages),
			entry('actions', 'remember', {
				title: i18n.t.memory.add,
				also: `${o.memory.add} ${i18n.t.memory.also} ${o.memory.also}`,
				icon: Brain,
				run: () => this.#stage.remember(),
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
				also: `${paused ? o.palette.resumeAll : o.palette.pauseAll} ${this.#also('pause')}`,
				icon: paused ? CirclePlay : CirclePause,
				run: () => this.#do(live.kernel.agents.pause(!paused).then((s) => (live.status = s))),
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
					run: () => this.#do(showQuick()),
				}),
			);
		}
		if (live.status?.offline?.length) {
			out.unshift(
				entry('actions', 'send-now', {
					title: t.sendNow,
					also: o.palette.sendNow,
					icon: RotateCw,
					run: () => this.#do(live.kernel.infra.reconnect()),
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

	#opens(page: 'model' | 'mode' | 'theme' | 'language' | 'folder', icon: Entry['icon']): Entry {
		const title = i18n.t.palette[page];
		const hint = page === 'theme' || page === 'language' ? {} : { hint: this.#scope };
		return entry('actions', page, {
			title,
			also: `${this.#also(page)} ${i18n.other.palette[page]}`,
			icon,
			page,
			...hint,
		});
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

	#models(): Entry[] {
		const { models, setting } = { models: this.#live.models, setting: (k: string) => this.#live.setting(k) };
		const off = new Set(models.providers.filter((p) => !p.enabled).map((p) => p.id));
		const s = this.#onScreen;
		const home = this.#shell.view === 'chat' ? this.#stage.home() : undefined;
		const model = s?.model || home?.model || setting('model');
		const provider = s?.provider || home?.provider || setting('provider');
		return models.list
			.filter((m) => !off.has(m.provider))
			.map((m) =>
				entry('model', `model:${m.provider}/${m.id}`, {
					title: m.id,
					also: i18n.t.palette.modelIs(`${m.provider_name} ${m.id}`),
					within: 'model',
					icon: Cpu,
					hint: m.provider_name,
					current: m.id === model && m.provider === provider,
					run: () => this.#use({ provider: m.provider, model: m.id }),
				}),
			);
	}

	/** choices are the settings with a few values. */
	#choices(): Entry[] {
		const t = i18n.t;
		const o = i18n.other;
		const live = this.#live;
		const modes: Mode[] = ['ask', 'guarded', 'autonomous'];
		const mode = this.#onScreen?.mode || (this.#shell.view === 'chat' ? this.#stage.home().mode : live.setting('mode'));
		const themes = ['auto', 'light', 'dark'] as const;
		const languages: { id: 'auto' | Language; name: string }[] = [
			{ id: 'auto', name: t.language.auto },
			{ id: 'en', name: 'English' },
			{ id: 'ko', name: '한국어' },
		];
		return [
			...modes.map((m) =>
				entry('mode', `mode:${m}`, {
					title: t.palette.modeIs(t.modes[m]),
					also: o.palette.modeIs(o.modes[m]),
					within: 'mode',
					icon: Shield,
					current: m === mode,
					run: () => this.#use({ mode: m }),
				}),
			),
			...themes.map((name) =>
				entry('theme', `theme:${name}`, {
					title: t.palette.themeIs(t.appearance[name]),
					also: o.palette.themeIs(o.appearance[name]),
					within: 'theme',
					icon: SunMoon,
					current: (live.setting('theme') || 'auto') === name,
					run: () => void live.set('theme', name),
				}),
			),
			...languages.map(({ id, name }) =>
				entry('language', `language:${id}`, {
					title: t.palette.languageIs(name),
					also: o.palette.languageIs(id === 'auto' ? o.language.auto : name),
					within: 'language',
					icon: Languages,
					current: (live.setting('language') || 'auto') === id,
					run: () => void live.set('language', id),
				}),
			),
		];
	}

	#folders(): Entry[] {
		const on = this.#onScreen?.folder || this.#stage.home().folder;
		const known = [...new Set([...this.#live.kept.folders, this.#live.setting('folder')])].filter(Boolean);
		return known.map((path) => this.#folder(path, path === on));
	}

	#folder(path: string, current = false): Entry {
		const title = i18n.t.palette.folderIs(shortPath(path));
		const run = () => this.#use({ folder: path });
		return entry('folder', `folder:${path}`, { title, within: 'folder', icon: FolderIcon, current, run });
	}

	/** path offers the folder that is being typed, and those inside it. A run makes no folder to work in. */
	async #path(words: string): Promise<Entry[]> {
		if (!/^[~/]/.test(words)) return [];
		const asked = await this.#live.kernel.exec.folder(words);
		const above = asked.exists || !asked.parent ? asked : await this.#live.kernel.exec.folder(asked.parent);
		const rest = asked.exists ? '' : (asked.path.split('/').at(-1) ?? '').toLowerCase();
		const inside = (above.entries ?? [])
			.filter((f) => f.name.toLowerCase().startsWith(rest))
			.map((f) => `${above.display.replace(/\/$/, '')}/${f.name}`);
		const found = asked.exists && !asked.refused ? [asked.display, ...inside] : inside;
		return found.slice(0, FOLDERS).map((path) => this.#folder(path));
	}

	/** use changes the conversation on the screen, the one that begins on the home, or what new ones begin with. */
	#use(p: { provider?: string; model?: string; mode?: Mode; folder?: string }): void {
		if (p.folder) this.#live.kept.usedFolder(p.folder);
		const session = this.#onScreen;
		if (session) return this.#do(this.#live.sessions.update(session.id, p));
		const home = this.#stage.home();
		if (this.#shell.view === 'chat') {
			if (p.model) void home.useModel(p.provider ?? '', p.model);
			if (p.mode) void home.useMode(p.mode);
			if (p.folder) void home.useFolder(p.folder);
			return;
		}
		if (p.model) this.#do(this.#live.models.use({ provider: p.provider ?? '', id: p.model }));
		if (p.mode) void this.#live.set('mode', p.mode);
		if (p.folder) void this.#live.set('folder', p.folder);
	}

	#export(id: string, format: 'md' | 'json'): void {
		const title = this.#live.sessions.get(id)?.title || i18n.t.sessions.untitled;
		const name = `${fileName(title)}.${format}`;
		const saved = this.#live.files.save(id, format, { title: i18n.t.exporting.title, name });
		this.#do(saved.then((ok) => ok && this.#live.say('exported')));
	}

	#copy(id: string): void {
		const text = this.#live.kernel.state.exportSession(id, 'md');
		this.#do(text.then(copyText).then((ok) => this.#live.say(ok ? 'chat_copied' : 'not_copied')));
	}

	#also(name: keyof typeof i18n.t.palette.also): string {
		return `${i18n.t.palette.also[name]} ${i18n.other.palette.also[name]}`;
	}

	#do(work: Promise<unknown>): void {
		work.catch((e: unknown) => this.#live.tell(failureOf(e)));
	}
}
