import type {
	Label,
	Memory,
	MemoryCuration,
	MemoryForgotten,
	MemoryFound,
	MemoryInput,
	MemoryPatch,
	MemoryQuery,
	MemorySearch,
	MemoryStats,
	MemoryView,
} from '../api.gen';
import { no, type Core } from './core';
import { HOUR, id, iso, type Speech, type World } from './data';

const DAY = 24 * HOUR;
const MOST = 8000;

const page: Label = {
	id: 'label-ferry',
	origin: 'network',
	untrusted: true,
	name: 'https://udo-ferry.example',
	text: 'a web page of udo-ferry.example',
	text_ko: 'udo-ferry.example의 웹 페이지',
};

const told = {
	en: {
		receipts: 'Receipts are named date_shop_amount',
		receiptsSaid: 'call them date_shop_amount from now on',
		receiptsWas: 'Receipts are named shop-date',
		receiptsFirst: 'Receipts keep the name that the shop gave them',
		ledger: 'The ledger closes on the last Friday of the month',
		photos: 'Photos of Jeju lie in folders by day',
		answers: 'Prefers answers in Korean for notes, English for code',
		go: 'Go 1.26, tests with -race',
		ferry: 'The last ferry from Udo leaves at 17:30, on Sundays at 18:00',
		tidied: 'Tidied the downloads: 26 receipts filed, 14 installers left for a decision',
		parser: 'The parser test failed because it read the clock twice; ParseDates takes the time now',
		keys: ['names of receipts', 'ledger closing', 'language of answers'],
	},
	ko: {
		receipts: '영수증 이름은 날짜_가게_금액으로 한다',
		receiptsSaid: '앞으로 날짜_가게_금액으로 이름 붙여 줘',
		receiptsWas: '영수증 이름은 가게-날짜로 한다',
		receiptsFirst: '영수증 이름은 가게가 준 그대로 둔다',
		ledger: '가계부는 매월 마지막 금요일에 마감한다',
		photos: '제주 사진은 날짜별 폴더에 둔다',
		answers: '메모는 한국어로, 코드는 영어로 답해 주기를 바란다',
		go: 'Go 1.26, 테스트는 -race로 실행한다',
		ferry: '우도에서 나오는 마지막 배는 17시 30분, 일요일에는 18시에 떠난다',
		tidied: '내려받기 폴더를 정리했다. 영수증 26장을 옮겼고 설치 파일 14개는 결정을 기다린다',
		parser: '파서 테스트는 시계를 두 번 읽어 실패했다. 이제 ParseDates가 시각을 받는다',
		keys: ['영수증 이름', '가계부 마감', '답하는 언어'],
	},
};

export function makeMemory(m: Partial<Memory> & { id: string; text: string }): Memory {
	const at = m.said_at ?? iso();
	return {
		space: '',
		kind: 'fact',
		source: 'person',
		importance: 1,
		base: 1,
		uses: 0,
		pinned: false,
		said_at: at,
		created_at: at,
		updated_at: at,
		...m,
	};
}

/** memoriesOf is what is remembered on the day of the world, and in which of its runs that was used. */
export function memoriesOf(w: World, speech: Speech): void {
	const t = told[speech];
	w.quotes = { 'm-receipts': t.receiptsSaid };
	w.memories = [
		makeMemory({
			id: 'm-receipts',
			text: t.receipts,
			key: t.keys[0],
			space: 'space-home',
			source: 'conversation',
			thread: 's-tidy',
			run_id: 'r-tidy',
			uses: 9,
			used_at: iso(2 * HOUR),
			pinned: true,
			said_at: iso(8 * DAY),
		}),
		makeMemory({
			id: 'm-receipts-2',
			text: t.receiptsWas,
			key: t.keys[0],
			space: 'space-home',
			uses: 4,
			said_at: iso(48 * DAY),
			replaced_by: 'm-receipts',
			replaced_at: iso(8 * DAY),
		}),
		makeMemory({
			id: 'm-receipts-1',
			text: t.receiptsFirst,
			key: t.keys[0],
			space: 'space-home',
			source: 'import',
			said_at: iso(70 * DAY),
			replaced_by: 'm-receipts-2',
			replaced_at: iso(48 * DAY),
		}),
		makeMemory({
			id: 'm-photos',
			text: t.photos,
			space: 'space-jeju',
			source: 'agent',
			thread: 's-photos',
			run_id: 'r-photos',
			uses: 2,
			used_at: iso(HOUR),
			said_at: iso(2 * HOUR),
		}),
		makeMemory({
			id: 'm-ferry',
			text: t.ferry,
			space: 'space-jeju',
			source: 'agent',
			thread: 's-gone',
			run_id: 'r-gone',
			labels: [page],
			uses: 1,
			used_at: iso(DAY),
			said_at: iso(3 * DAY),
		}),
		makeMemory({
			id: 'm-ledger',
			text: t.ledger,
			key: t.keys[1],
			space: 'space-work',
			source: 'conversation',
			thread: 's-old-0',
			uses: 4,
			used_at: iso(DAY),
			said_at: iso(13 * DAY),
		}),
		makeMemory({
			id: 'm-go',
			text: t.go,
			space: 'space-work',
			source: 'agent',
			thread: 's-parser',
			run_id: 'r-parser',
			uses: 12,
			used_at: iso(900_000),
			said_at: iso(20 * DAY),
		}),
		makeMemory({
			id: 'm-answers',
			text: t.answers,
			key: t.keys[2],
			uses: 31,
			used_at: iso(900_000),
			said_at: iso(40 * DAY),
		}),
		makeMemory({
			id: 'm-tidied',
			kind: 'episode',
			text: t.tidied,
			source: 'conversation',
			thread: 's-tidy',
			said_at: iso(3 * HOUR),
		}),
		makeMemory({
			id: 'm-parser',
			kind: 'episode',
			text: t.parser,
			space: 'space-work',
			source: 'conversation',
			thread: 's-parser',
			uses: 1,
			used_at: iso(900_000),
			said_at: iso(5 * DAY),
		}),
	];
	use(w, 'r-parser', ['m-go', 'm-answers', 'm-parser']);
}

function use(w: World, runID: string, ids: string[]): void {
	const r = w.runs.find((x) => x.run.id === runID);
	if (!r) return;
	w.uses[runID] = ids;
	r.memories = ids.length;
}

/** manyMemories fills the list with five hundred facts. */
export function manyMemories(w: World): void {
	for (let i = 0; i < 500; i++) {
		w.memories.push(
			makeMemory({
				id: `m-many-${i}`,
				text: `Fact ${i + 1}: a thing that somebody said some time ago, in rather many words, so that it is longer than a line`,
				source: 'import',
				said_at: iso((100 + i) * DAY),
			}),
		);
	}
}

const key = (m: Memory) => `${m.pinned ? 1 : 0} ${m.said_at} ${m.id}`;

/** nightOf is what last night did to the memories of the world. */
function nightOf(all: Memory[]): MemoryCuration {
	const text = (of: string) => all.find((m) => m.id === of)?.text ?? '';
	const change = (kind: string, of: string, before: string[]) => ({
		kind,
		id: of,
		space: '',
		before,
		after: text(of),
		undone: false,
		undoable: true,
	});
	const changes = [
		change('merged', 'm-photos', [text('m-photos'), text('m-photos').toUpperCase()]),
		change('merged', 'm-go', [text('m-go'), text('m-go').replace(', ', '; ')]),
		change('merged', 'm-ledger', [text('m-ledger'), `${text('m-ledger')}.`]),
		change('dated', 'm-ferry', [text('m-ferry').replace('17', '5')]),
		change('replaced', 'm-receipts', [text('m-receipts-2')]),
		change('replaced', 'm-receipts', [text('m-receipts-1')]),
	];
	return tallied({ id: 'night-1', at: iso(4 * HOUR), night: '2026-11-23', changes });
}

/** tallied counts what was done and not undone. */
function tallied(r: Pick<MemoryCuration, 'id' | 'at' | 'night' | 'changes'>): MemoryCuration {
	const of = (kind: string) => r.changes.filter((c) => c.kind === kind && !c.undone).length;
	return {
		...r,
		merged: of('merged'),
		dated: of('dated'),
		replaced: of('replaced'),
		pruned: of('pruned'),
		cleared: 0,
	};
}

/** FakeMemory remembers, finds and forgets in the world. */
export class FakeMemory {
	#core: Core;

	constructor(core: Core) {
		this.#core = core;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'memory.list': (q: MemoryQuery): Memory[] => {
			const used = q.run_id ? (this.#core.world.uses[q.run_id] ?? []) : undefined;
			const list = this.#all
				.filter((m) => (used ? used.includes(m.id) : !!m.replaced_by === (q.replaced ?? false)))
				.filter((m) => !q.thread || m.thread === q.thread)
				.filter((m) => used || q.every || q.thread || m.space === (q.space ?? ''))
				.filter((m) => !q.kind || m.kind === q.kind)
				.sort((a, b) => key(b).localeCompare(key(a)));
			const from = q.before ? list.findIndex((m) => m.id === q.before) + 1 : 0;
			return list.slice(from, from + (q.limit ?? 100));
		},
		'memory.get': (id: string): MemoryView => {
			const memory = this.#one(id);
			const session = this.#core.world.sessions.find((s) => s.id === memory.thread)?.title ?? '';
			const runs = Object.keys(this.#core.world.uses).filter((r) => this.#core.world.uses[r]!.includes(id));
			const used_in = this.#core.world.sessions
				.filter(
					(s) =>
						s.id === memory.thread ||
						this.#core.world.runs.some((r) => runs.includes(r.run.id) && r.run.session_id === s.id),
				)
				.map((s) => ({ session_id: s.id, title: s.title, at: memory.used_at ?? s.updated_at }));
			const quote = this.#core.world.quotes[id] ?? '';
			return { memory, history: this.#history(id), session, quote, used_in: memory.uses > 0 ? used_in : [] };
		},
		'memory.search': (q: MemorySearch): MemoryFound[] => {
			const words = (q.text ?? '').toLowerCase().split(/\s+/).filter(Boolean);
			const cover = (m: Memory) => words.filter((w) => m.text.toLowerCase().includes(w)).length / (words.length || 1);
			return this.#all
				.filter((m) => !m.replaced_by && m.space === (q.space ?? '') && (!q.kind || m.kind === q.kind))
				.map((m) => ({ ...m, cover: cover(m), score: cover(m) }))
				.filter((m) => m.cover > 0 && m.cover >= (q.least ?? 0))
				.sort((a, b) => b.score - a.score)
				.slice(0, q.k ?? 10);
		},
		'memory.remember': (n: MemoryInput): Memory => {
			const text = this.#checked(n.text ?? '');
			const made = makeMemory({
				id: id('m'),
				text,
				kind: n.kind ?? 'fact',
				key: n.key || undefined,
				space: n.space ?? '',
			});
			const same = this.#all.find((m) => !m.replaced_by && m.text === made.text && m.space === made.space);
			if (same) return same;
			const old = made.key && this.#about(made.key, made.space);
			if (old) Object.assign(old, { replaced_by: made.id, replaced_at: iso() });
			this.#all.push(made);
			this.#core.emit('memory', undefined);
			return made;
		},
		'memory.update': (id: string, p: MemoryPatch): Memory => {
			const m = this.#one(id);
			if (m.replaced_by)
				throw no('conflict', 'A newer memory has replaced this one. Nothing was changed.', 'Change the newer one.');
			const text = this.#checked(p.text ?? m.text);
			const other = p.key && p.key !== m.key && this.#about(p.key, m.space);
			if (other)
				throw no(
					'conflict',
					`Another fact is about "${p.key}" already: ${other.text}`,
					'Change that one, or forget it first.',
				);
			if (text !== m.text) {
				this.#all.push({ ...m, id: `${m.id}-was-${this.#all.length}`, replaced_by: m.id, replaced_at: iso() });
				Object.assign(m, { source: 'person', labels: undefined });
				delete this.#core.world.quotes[id];
			}
			Object.assign(m, {
				text,
				key: p.key ?? m.key,
				pinned: p.pinned ?? m.pinned,
				space: p.space ?? m.space,
				updated_at: iso(),
			});
			this.#core.emit('memory', undefined);
			return m;
		},
		'memory.forget': (ids: string[]): MemoryForgotten => {
			const gone = new Set(ids.flatMap((id) => [this.#one(id).id, ...this.#history(id).map((m) => m.id)]));
			this.#core.world.memories = this.#all.filter((m) => !gone.has(m.id));
			this.#core.emit('memory', undefined);
			return { count: ids.length, summaries: 0, still: [], copies: ['~/.oxios/backups/oxios-2026-11-19.db'] };
		},
		'memory.curations': (limit: number): MemoryCuration[] =>
			this.#all.length > 0 ? [this.#night].slice(0, limit || 10) : [],
		'memory.curate': (): MemoryCuration => ({
			...tallied({ ...nightOf(this.#all), changes: [] }),
			id: id('night'),
			at: iso(),
			night: undefined,
		}),
		'memory.uncurate': (_: string, change: number): MemoryCuration => {
			const changes = this.#night.changes.map((c, i) => (i === change ? { ...c, undone: true, undoable: false } : c));
			this.#tidied = tallied({ ...this.#night, changes });
			this.#core.emit('memory', undefined);
			return this.#tidied;
		},
		'memory.stats': (): MemoryStats => {
			const hold = this.#all.filter((m) => !m.replaced_by);
			const counted = (of: (m: Memory) => string) => {
				const n: Record<string, number> = {};
				for (const m of hold) n[of(m)] = (n[of(m)] ?? 0) + 1;
				return n;
			};
			return {
				memories: hold.length,
				replaced: this.#all.length - hold.length,
				pinned: hold.filter((m) => m.pinned).length,
				kinds: counted((m) => m.kind),
				spaces: counted((m) => m.space),
				uses: hold.reduce((n, m) => n + m.uses, 0),
				loaded: hold.length,
				embedder: 'hash-256-v1',
				vectors: 0,
			};
		},
	};

	#tidied: MemoryCuration | undefined;

	get #night(): MemoryCuration {
		return (this.#tidied ??= nightOf(this.#all));
	}

	get #all(): Memory[] {
		return this.#core.world.memories;
	}

	#one(id: string): Memory {
		const m = this.#all.find((x) => x.id === id);
		if (!m) throw no('not_found', `There is no memory "${id}".`, '`oxios memory list` shows those that there are.');
		return m;
	}

	#about(key: string, space: string): Memory | undefined {
		return this.#all.find((m) => !m.replaced_by && m.key === key && m.space === space);
	}

	#history(id: string): Memory[] {
		return this.#all.filter((m) => m.replaced_by === id).flatMap((m) => [m, ...this.#history(m.id)]);
	}

	#checked(text: string): string {
		const kept = text.trim();
		if (!kept) throw no('invalid', 'There is nothing to remember: the text is empty.');
		if (kept.length > MOST)
			throw no(
				'too_large',
				`The memory has ${kept.length} characters; ${MOST} is the most. Nothing was kept.`,
				'Say it shorter, or keep the text as a note.',
			);
		return kept;
	}
}
