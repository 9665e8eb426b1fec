import Cpu from '@lucide/svelte/icons/cpu';
import FolderIcon from '@lucide/svelte/icons/folder';
import Languages from '@lucide/svelte/icons/languages';
import Shield from '@lucide/svelte/icons/shield';
import SunMoon from '@lucide/svelte/icons/sun-moon';
import type { Composer, Mode } from '../features/chat/composer.svelte';
import type { Entry } from '../features/palette/palette.svelte';
import type { Session } from '../kernel/api.gen';
import type { Live } from '../kernel/live.svelte';
import { shortPath } from '../ui/format';
import { i18n, type Language } from '../ui/i18n/index.svelte';
import { also, attempt, entry } from './commands-entry';
import type { Shell } from './shell.svelte';

/** How many folders a typed path shows. */
const FOLDERS = 12;

/** ChoiceStage is what a choice applies to: the conversation on the screen, or the one that begins on the home. */
export interface ChoiceStage {
	onScreen: () => Session | undefined;
	home: () => Composer;
}

/** Choices are the entries that choose one of a few: a model, a mode, a folder, a theme, a language. */
export class Choices {
	#live: Live;
	#shell: Shell;
	#stage: ChoiceStage;

	constructor(live: Live, shell: Shell, stage: ChoiceStage) {
		this.#live = live;
		this.#shell = shell;
		this.#stage = stage;
	}

	get entries(): Entry[] {
		return [...this.#models(), ...this.#settings(), ...this.#folders()];
	}

	/** pages are the entries that open the choices. */
	get pages(): Entry[] {
		return [
			this.#opens('model', Cpu),
			this.#opens('mode', Shield),
			this.#opens('folder', FolderIcon),
			this.#opens('theme', SunMoon),
			this.#opens('language', Languages),
		];
	}

	#opens(page: 'model' | 'mode' | 'theme' | 'language' | 'folder', icon: Entry['icon']): Entry {
		const title = i18n.t.palette[page];
		const hint =
			page === 'theme' || page === 'language'
				? {}
				: { hint: this.#stage.onScreen() ? i18n.t.palette.forThis : i18n.t.palette.forNew };
		return entry('actions', page, {
			title,
			also: `${also(page)} ${i18n.other.palette[page]}`,
			icon,
			page,
			...hint,
		});
	}

	#models(): Entry[] {
		const { models, setting } = { models: this.#live.models, setting: (k: string) => this.#live.setting(k) };
		const off = new Set(models.providers.filter((p) => !p.enabled).map((p) => p.id));
		const s = this.#stage.onScreen();
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

	/** settings are those with a few values. */
	#settings(): Entry[] {
		const t = i18n.t;
		const o = i18n.other;
		const live = this.#live;
		const modes: Mode[] = ['ask', 'guarded', 'autonomous'];
		const mode =
			this.#stage.onScreen()?.mode || (this.#shell.view === 'chat' ? this.#stage.home().mode : live.setting('mode'));
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
		const on = this.#stage.onScreen()?.folder || this.#stage.home().folder;
		const known = [...new Set([...this.#live.kept.folders, this.#live.setting('folder')])].filter(Boolean);
		return known.map((path) => this.#folder(path, path === on));
	}

	#folder(path: string, current = false): Entry {
		const title = i18n.t.palette.folderIs(shortPath(path));
		const run = () => this.#use({ folder: path });
		return entry('folder', `folder:${path}`, { title, within: 'folder', icon: FolderIcon, current, run });
	}

	/** path offers the folder that is being typed, and those inside it. A run makes no folder to work in. */
	async path(words: string): Promise<Entry[]> {
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
		const session = this.#stage.onScreen();
		if (session) return attempt(this.#live, this.#live.sessions.update(session.id, p));
		const home = this.#stage.home();
		if (this.#shell.view === 'chat') {
			if (p.model) void home.useModel(p.provider ?? '', p.model);
			if (p.mode) void home.useMode(p.mode);
			if (p.folder) void home.useFolder(p.folder);
			return;
		}
		if (p.model) attempt(this.#live, this.#live.models.use({ provider: p.provider ?? '', id: p.model }));
		if (p.mode) void this.#live.set('mode', p.mode);
		if (p.folder) void this.#live.set('folder', p.folder);
	}
}
