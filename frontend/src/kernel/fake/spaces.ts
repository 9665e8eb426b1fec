import type {
	MemoryElsewhere,
	Session,
	SpaceDetected,
	SpaceInfo,
	SpaceInput,
	SpaceMerge,
	SpacePatch,
	SpaceProposal,
	SpaceView,
} from '../api.gen';
import { later } from '../times';
import { no, type Core } from './core';
import { HOUR, id, iso, type Speech, type World } from './data';
import { folderCalls } from './folders';

const DAY = 24 * HOUR;

const told = {
	en: {
		names: ['Home', 'Work', 'Jeju'],
		words: [
			['tidy', 'receipts'],
			['ledger', 'parser'],
			['photos', 'Udo'],
		],
		learned: ['installers', 'downloads', 'invoice'],
		instructions: 'Name receipts date_shop_amount. Ask before anything is deleted.',
		tax: 'Tax 2025',
		taxWords: ['tax', 'deduction'],
		side: 'Ledger reports',
		sideWords: ['report'],
		fresh: 'Jeju',
		freshWords: ['photos', 'trip', 'Udo'],
		freshSay: 'The last messages fit no space. Make the space "Jeju" for this conversation?',
		moveSay: 'The last messages fit the space "Home". Move this conversation there?',
		mergeSay:
			'The spaces "Ledger reports" and "Work" share ~/src/ledger. Merge the first, with 1 conversation, into the second?',
	},
	ko: {
		names: ['집', '일', '제주'],
		words: [
			['정리', '영수증'],
			['가계부', '파서'],
			['사진', '우도'],
		],
		learned: ['설치파일', '내려받기', '청구서'],
		instructions: '영수증 이름은 날짜_가게_금액으로 한다. 지우기 전에는 묻는다.',
		tax: '2025년 세금',
		taxWords: ['세금', '공제'],
		side: '가계부 보고서',
		sideWords: ['보고서'],
		fresh: '제주',
		freshWords: ['사진', '여행', '우도'],
		freshSay: '최근 메시지에 맞는 공간이 없습니다. 이 대화를 위해 "제주" 공간을 만들까요?',
		moveSay: '최근 메시지는 "집" 공간에 맞습니다. 이 대화를 그리로 옮길까요?',
		mergeSay: '"가계부 보고서"와 "일" 공간이 ~/src/ledger를 함께 씁니다. 대화 1개가 있는 앞의 것을 뒤의 것에 합칠까요?',
	},
};

export function makeSpace(s: Partial<SpaceInfo> & { id: string; name: string }): SpaceInfo {
	return {
		emoji: '',
		folder: '',
		words: [],
		paths: [],
		instructions: '',
		provider: '',
		model: '',
		mode: '',
		role: '',
		created_at: iso(90 * DAY),
		updated_at: iso(90 * DAY),
		used_at: iso(),
		active: false,
		shared: false,
		sessions: 0,
		memories: 0,
		...s,
	};
}

function put(w: World, ids: string[], space: string, why: string): void {
	for (const s of w.sessions) if (ids.includes(s.id)) Object.assign(s, { space, space_why: why });
}

/** spacesOf are the spaces of the day, and the conversations that are in them. */
export function spacesOf(w: World, speech: Speech): void {
	const t = told[speech];
	const [home, work, jeju] = t.names as [string, string, string];
	w.spaces = [
		makeSpace({ id: 'space-home', name: home, emoji: '🧾', words: t.words[0]!, instructions: t.instructions }),
		makeSpace({
			id: 'space-work',
			name: work,
			emoji: '💼',
			folder: '/home/minji/src/ledger',
			words: t.words[1]!,
			paths: ['/home/minji/src/ledger'],
			mode: 'ask',
			used_at: iso(900_000),
		}),
		makeSpace({ id: 'space-jeju', name: jeju, emoji: '🏝️', words: t.words[2]!, used_at: iso(2 * HOUR) }),
	];
	w.learned = { 'space-home': [...t.learned] };
	put(w, ['s-tidy', 's-old-0'], 'space-home', 'word');
	put(w, ['s-parser', 's-old-1'], 'space-work', 'path');
	put(w, ['s-photos'], 'space-jeju', 'topic');
}

/** proposedScene is a conversation that fits no space yet, and one that fits another than its own. */
export function proposedScene(w: World, speech: Speech): void {
	const t = told[speech];
	w.spaces = w.spaces.filter((s) => s.id !== 'space-jeju');
	w.memories = w.memories.filter((m) => m.space !== 'space-jeju');
	put(w, ['s-photos'], '', '');
	const ko = speech === 'ko';
	w.proposals = [
		{
			id: 'new:s-photos',
			kind: 'new',
			session: 's-photos',
			name: t.fresh,
			words: t.freshWords,
			text: told.en.freshSay,
			text_ko: ko ? t.freshSay : undefined,
		},
		{
			id: 'move:s-parser:space-home',
			kind: 'move',
			session: 's-parser',
			space: 'space-home',
			name: t.names[0]!,
			words: t.words[0]!,
			text: told.en.moveSay,
			text_ko: ko ? t.moveSay : undefined,
		},
	];
}

/** spacesScene has one space of each state: seldom used, its folder gone, archived, merged away, to be merged. */
export function spacesScene(w: World, speech: Speech): void {
	const t = told[speech];
	w.spaces.push(
		makeSpace({
			id: 'space-side',
			name: t.side,
			emoji: '📊',
			folder: '/home/minji/src/ledger',
			words: t.sideWords,
			used_at: iso(6 * DAY),
		}),
		makeSpace({
			id: 'space-tax',
			name: t.tax,
			emoji: '🧮',
			folder: '/home/minji/Documents/Tax 2025',
			words: t.taxWords,
			used_at: iso(140 * DAY),
			created_at: iso(300 * DAY),
		}),
		makeSpace({ id: 'space-blog', name: 'Blog', emoji: '✍️', used_at: iso(200 * DAY), archived_at: iso(60 * DAY) }),
		makeSpace({ id: 'space-desk', name: 'Desk', emoji: '🪑', used_at: iso(40 * DAY), archived_at: iso(3 * DAY) }),
	);
	put(w, ['s-brief'], 'space-tax', 'person');
	put(w, ['s-cut'], 'space-side', 'word');
	w.merged = [{ ...mergeOf(w, 'space-desk', 'space-work'), id: 'merge-desk', moved: [], remembered: [] }];
	w.proposals = [
		{
			id: 'merge:space-side:space-work',
			kind: 'merge',
			from: 'space-side',
			space: 'space-work',
			name: t.names[1]!,
			words: ['~/src/ledger'],
			text: told.en.mergeSay,
			text_ko: speech === 'ko' ? t.mergeSay : undefined,
		},
	];
}

/** Merged is a merge that can still be undone, with what it moved. */
export interface Merged extends SpaceMerge {
	moved: string[];
	remembered: string[];
}

function mergeOf(w: World, from: string, into: string): SpaceMerge {
	const name = (sid: string) => w.spaces.find((s) => s.id === sid)?.name ?? '';
	return {
		id: '',
		from,
		from_name: name(from),
		into,
		into_name: name(into),
		sessions: w.sessions.filter((s) => s.space === from).length,
		memories: w.memories.filter((m) => m.space === from).length,
		under: 0,
	};
}

const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

/** FakeSpaces finds, moves and merges the spaces of the world. */
export class FakeSpaces {
	#core: Core;

	constructor(core: Core) {
		this.#core = core;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'space.list': () => this.#w.spaces.map((s) => this.#counted(s)).sort((a, b) => later(a.used_at, b.used_at)),
		'space.get': (sid: string): SpaceView => this.#view(sid),
		'space.create': (n: SpaceInput) => {
			const made = makeSpace({ ...n, id: id('space'), name: this.#named(n.name ?? ''), created_at: iso() });
			this.#w.spaces.push(made);
			this.#changed();
			return made;
		},
		'space.update': (sid: string, p: SpacePatch) => {
			if (p.name !== undefined) p.name = this.#named(p.name, sid);
			if (p.folder && !this.#there(p.folder))
				throw no('not_found', `There is no folder ${p.folder}.`, 'Make it first, or choose another one.');
			return this.#change(sid, { ...p, updated_at: iso() });
		},
		'space.activate': (sid: string) => {
			const s = sid ? this.#one(sid) : undefined;
			if (s?.archived_at) throw no('conflict', `The space "${s.name}" is archived. Nothing was changed.`);
			for (const o of this.#w.spaces) o.active = o === s;
			this.#changed();
			return s ? this.#counted(s) : makeSpace({ id: '', name: '' });
		},
		'space.archive': (sid: string) => this.#change(sid, { archived_at: iso(), active: false }),
		'space.restore': (sid: string) => this.#change(sid, { archived_at: undefined, used_at: iso() }),
		'space.archiveStale': (days: number) => {
			const old = this.#w.spaces.filter((s) => !s.archived_at && Date.now() - Date.parse(s.used_at) >= days * DAY);
			for (const s of old) Object.assign(s, { archived_at: iso(), active: false });
			this.#changed();
			return old;
		},
		'space.remove': (sid: string) => {
			const s = this.#counted(this.#one(sid));
			if (s.sessions > 0 || s.memories > 0)
				throw no(
					'conflict',
					`The space "${s.name}" is not empty: conversations ${s.sessions}, memories ${s.memories}. It was kept as it is.`,
					'Move them to another space, merge it into one, or archive it.',
				);
			this.#w.spaces = this.#w.spaces.filter((o) => o.id !== sid);
			this.#changed();
		},
		'space.detect': (text: string, folder: string): SpaceDetected => this.detect(text, folder),
		'space.move': (ids: string[], to: string): Session[] => this.#move(ids, to),
		'space.proposals': (session: string) =>
			this.#w.proposals.filter((p) => (session ? p.session === session : p.kind === 'merge')),
		'space.answerProposal': (pid: string, yes: boolean, name: string): string => this.#answer(pid, yes, name),
		'space.mergePreview': (from: string, into: string) => mergeOf(this.#w, this.#one(from).id, this.#one(into).id),
		'space.merge': (from: string, into: string) => this.#merge(from, into),
		'space.unmerge': (mid: string): SpaceMerge => {
			const m = this.#w.merged.find((o) => o.id === mid || o.from === mid);
			if (!m) throw no('not_found', 'There is no such merge that could be undone. Nothing was changed.');
			this.#w.merged = this.#w.merged.filter((o) => o !== m);
			put(this.#w, m.moved, m.from, 'person');
			for (const o of this.#w.memories) if (m.remembered.includes(o.id)) o.space = m.from;
			this.#change(m.from, { archived_at: undefined });
			this.#say(m.moved);
			return m;
		},
		'memory.elsewhere': (): MemoryElsewhere[] => [],
	};

	get #w(): World {
		return this.#core.world;
	}

	#one(sid: string): SpaceInfo {
		const s = this.#w.spaces.find((o) => o.id === sid);
		if (!s) throw no('not_found', `There is no space "${sid}".`, '`oxios spaces` shows those that there are.');
		return s;
	}

	#counted(s: SpaceInfo): SpaceInfo {
		return {
			...s,
			sessions: this.#w.sessions.filter((o) => o.space === s.id).length,
			memories: this.#w.memories.filter((m) => m.space === s.id && !m.replaced_by).length,
		};
	}

	#there(path: string): boolean {
		return folderCalls(this.#w)['exec.folder'](path).exists;
	}

	#view(sid: string): SpaceView {
		const s = this.#counted(sid === '' ? makeSpace({ id: '', name: '' }) : this.#one(sid));
		const folder =
			s.folder || (sid === '' ? this.#w.config.values.folder! : `/home/minji/.oxios/spaces/${sid}/workspace`);
		return {
			space: s,
			tag: sid === '' ? '' : `[${`${s.emoji} ${s.name}`.trim()}]`,
			folder: folder.replace('/home/minji', '~'),
			gone: s.folder !== '' && !this.#there(s.folder),
			learned: this.#w.learned[sid] ?? [],
			merge_id: this.#w.merged.find((m) => m.from === sid)?.id,
		};
	}

	#named(name: string, but = ''): string {
		const n = name.trim();
		if (!n) throw no('invalid', 'A space needs a name. Nothing was changed.');
		if (this.#w.spaces.some((s) => s.id !== but && s.name.toLowerCase() === n.toLowerCase()))
			throw no('conflict', `There is a space "${n}" already. Nothing was changed.`, 'Choose another name.');
		return n;
	}

	#change(sid: string, patch: Partial<SpaceInfo>): SpaceInfo {
		const s = Object.assign(this.#one(sid), patch);
		this.#changed();
		return this.#counted(s);
	}

	#changed(): void {
		this.#core.emit('space', undefined);
	}

	#say(sessions: string[]): void {
		for (const sid of sessions) this.#core.emit('session', this.#core.session(sid), { session_id: sid });
		this.#changed();
	}

	/** detect finds a space by a path, then by a word, else the active one. */
	detect(text: string, folder: string): SpaceDetected {
		const open = this.#w.spaces.filter((s) => !s.archived_at);
		const found = (s: SpaceInfo, why: string, named: string, sure: number): SpaceDetected => ({
			space: s.id,
			name: s.name,
			tag: `[${`${s.emoji} ${s.name}`.trim()}]`,
			why,
			named,
			sure,
		});
		for (const s of open)
			for (const p of [s.folder, ...s.paths].filter(Boolean))
				if (folder.startsWith(p) || text.includes(p) || text.includes(p.replace('/home/minji', '~')))
					return found(s, 'path', p, 1);
		const said = new Set(words(text));
		for (const s of open) {
			const hit = [s.name, ...s.words, ...(this.#w.learned[s.id] ?? [])].filter((w) => said.has(w.toLowerCase()));
			if (hit.length > 0) return found(s, 'word', hit.join(', '), 0.9);
		}
		const active = open.find((s) => s.active);
		if (active) return found(active, 'active', '', 1);
		return { space: '', name: '', tag: '', why: '', named: '', sure: 0 };
	}

	#move(ids: string[], to: string): Session[] {
		if (to) this.#one(to);
		const list = ids.map((sid) => this.#core.session(sid));
		for (const s of list) if (s.space !== to) (this.#w.learned[to] ??= []).push(...words(s.title).slice(0, 3));
		put(this.#w, ids, to, 'person');
		for (const m of this.#w.memories) if (m.thread && ids.includes(m.thread)) m.space = to;
		this.#say(ids);
		return list;
	}

	#merge(from: string, into: string): SpaceMerge {
		const done: Merged = {
			...mergeOf(this.#w, from, into),
			id: id('merge'),
			moved: this.#w.sessions.filter((s) => s.space === from).map((s) => s.id),
			remembered: this.#w.memories.filter((m) => m.space === from).map((m) => m.id),
		};
		this.#w.merged.push(done);
		put(this.#w, done.moved, into, 'person');
		for (const m of this.#w.memories) if (done.remembered.includes(m.id)) m.space = into;
		if (this.#one(from).active) this.#one(into).active = true;
		this.#change(from, { archived_at: iso(), active: false });
		this.#say(done.moved);
		return done;
	}

	#answer(pid: string, yes: boolean, name: string): string {
		const p: SpaceProposal | undefined = this.#w.proposals.find((o) => o.id === pid);
		if (!p) throw no('not_found', `There is no proposal "${pid}", or it holds no longer. Nothing was changed.`);
		let to = p.space ?? '';
		if (yes && p.kind === 'new') {
			const made = makeSpace({ id: id('space'), name: this.#named(name || p.name), words: p.words });
			this.#w.spaces.push(made);
			to = made.id;
		}
		this.#w.proposals = this.#w.proposals.filter((o) => o !== p);
		if (!yes) this.#changed();
		else if (p.kind === 'merge') this.#merge(p.from!, to);
		else this.#move([p.session!], to);
		return yes ? to : '';
	}
}
