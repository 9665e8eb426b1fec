import { beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel, type VaultGraph } from '../../kernel/api.gen';
import { day } from '../../kernel/fake/data/notes';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import { placed } from './graph';
import { insideOf, joined, linkAt, pieces, rowsOf } from './paths';
import { Vault } from './vault.svelte';

const LETTER = 'projects/old/Letter.md';
const DESIGN = 'projects/Oxios design.md';

let transport: FakeTransport, live: Live, vault: Vault;
const stored = () => transport.world.notes;
const writes = () => transport.calls.filter((c) => c.method === 'knowledge.write').map((c) => c.args[0] as object);

beforeEach(async () => {
	i18n.set('en');
	transport = new FakeTransport({ pace: 0 });
	live = new Live(makeKernel(transport), transport);
	live.start();
	await vi.waitFor(() => expect(live.ready).toBe(true));
	vault = new Vault(live);
	live.onevent((e) => vault.receive(e));
	await vault.begin();
});

async function open(path: string) {
	expect(await vault.show(path)).toBe(true);
	return vault.current!;
}

describe('the tree', () => {
	it('has folders first, and what is in them once they are open', () => {
		expect(vault.rows.map((r) => r.entry.name)).toEqual(['journal', 'projects', 'reading', 'receipts', 'Broken head']);
		vault.toggle('projects');
		const names = vault.rows.filter((r) => r.level === 2).map((r) => r.entry.name);
		expect(names).toEqual(['old', 'Jeju photos', 'Oxios design']);
	});

	it('remembers what is open, and which note', async () => {
		await open(LETTER);
		const again = new Vault(live);
		await again.begin();
		expect(again.current?.path).toBe(LETTER);
		expect([...again.open].sort()).toEqual(['projects', 'projects/old']);
	});

	it('reads what an event names alone, and everything when something is gone', async () => {
		const trees = () => transport.calls.filter((c) => c.method === 'knowledge.tree').length;
		const sizeOf = (path: string) => vault.entries.find((e) => e.path === path)?.size;
		const [before, old] = [trees(), sizeOf(LETTER)];
		const note = await open(LETTER);
		note.type('A longer letter than it was before, by far.');
		expect(await note.save()).toBe(true);
		await vi.waitFor(() => expect(sizeOf(LETTER)).not.toBe(old));
		await live.kernel.knowledge.write({ path: 'projects/New.md', text: 'New', base: '' });
		await vi.waitFor(() => expect(sizeOf('projects/New.md')).toBeGreaterThan(0));
		expect(trees()).toBe(before);
		await live.kernel.knowledge.delete('projects/New.md', '');
		await vi.waitFor(() => expect(sizeOf('projects/New.md')).toBeUndefined());
		expect(trees()).toBeGreaterThan(before);
	});

	it('shows the newest of two changes whose answers come the other way round', async () => {
		const sizeOf = (path: string) => vault.entries.find((e) => e.path === path)?.size;
		const real = live.kernel.knowledge.entries;
		let late = () => {};
		const held = new Promise<void>((go) => (late = go));
		const entries = vi.spyOn(live.kernel.knowledge, 'entries').mockImplementationOnce(async (paths) => {
			const old = structuredClone(await real(paths));
			await held;
			return old;
		});
		const note = await open(LETTER);
		note.type('First.');
		await note.save();
		await vi.waitFor(() => expect(entries).toHaveBeenCalledTimes(1));
		note.type('And a second text that is longer.');
		await note.save();
		late();
		const want = (await real([LETTER]))![0]!.size;
		await vi.waitFor(() => expect(sizeOf(LETTER)).toBe(want));
		await vi.waitFor(() => expect(entries).toHaveBeenCalledTimes(2));
		await new Promise((done) => setTimeout(done, 20));
		expect(sizeOf(LETTER)).toBe(want);
	});

	it('says why it could not be read, and reads it again', async () => {
		transport.vault.gone = true;
		await vault.load();
		expect(vault.failure?.message).toContain('is not there');
		transport.vault.gone = false;
		await vault.load();
		expect(vault.failure).toBeUndefined();
	});
});

describe('writing', () => {
	it('is saved by itself a while after the last key, over what it was made from', async () => {
		const note = await open(LETTER);
		const base = note.note.hash;
		vi.useFakeTimers();
		note.type('One');
		await vi.advanceTimersByTimeAsync(500);
		note.type('One two');
		await vi.advanceTimersByTimeAsync(700);
		expect([writes().length, note.state]).toEqual([0, 'unsaved']);
		await vi.advanceTimersByTimeAsync(200);
		vi.useRealTimers();
		expect(writes()).toEqual([{ path: LETTER, text: 'One two', base }]);
		expect([stored()[LETTER], note.state]).toEqual(['One two', 'saved']);
		note.type('One two three');
		expect(await note.save()).toBe(true);
		expect(stored()[LETTER]).toBe('One two three');
	});

	it('goes on while a save is on its way, and what came later is saved too', async () => {
		const note = await open(LETTER);
		note.type('First');
		const first = note.save();
		note.type('First and second');
		await first;
		expect(await note.save()).toBe(true);
		expect(stored()[LETTER]).toBe('First and second');
	});

	it('is kept when it cannot be saved, and is there when the note is opened again', async () => {
		const note = await open(LETTER);
		note.type('Mine');
		transport.vault.gone = true;
		expect(await note.save()).toBe(false);
		expect([note.failure?.code, note.text]).toEqual(['unavailable', 'Mine']);
		transport.vault.gone = false;
		const call = transport.call.bind(transport);
		const spy = vi.spyOn(transport, 'call');
		spy.mockImplementation((m, a) => (m === 'knowledge.write' ? Promise.reject(new Error('full')) : call(m, a)));
		await open(DESIGN);
		expect([...vault.unsaved.keys()]).toEqual([LETTER]);
		expect((await open(LETTER)).text).toBe('Mine');
		spy.mockRestore();
		expect(await vault.current!.save()).toBe(true);
		expect(stored()[LETTER]).toBe('Mine');
	});

	it('does not touch a note in another encoding', async () => {
		transport.vault.encodings[LETTER] = 'EUC-KR';
		const note = await open(LETTER);
		note.type('Other');
		expect([note.fixed, note.text, await note.save(), writes()]).toEqual([true, 'Written long ago.\n', true, []]);
	});
});

describe('when somebody else changes the open note', () => {
	it('shows theirs at once while nothing of the person is unsaved', async () => {
		const note = await open(LETTER);
		transport.vault.outside(LETTER, 'Theirs');
		await vi.waitFor(() => expect(note.text).toBe('Theirs'));
		expect([note.state, note.revision, note.clash]).toEqual(['saved', 1, undefined]);
	});

	async function clashing() {
		const note = await open(LETTER);
		note.type('Mine');
		stored()[LETTER] = 'Theirs';
		expect(await note.save()).toBe(false);
		expect(note.clash?.theirs?.text).toBe('Theirs');
		expect([note.text, stored()[LETTER]]).toEqual(['Mine', 'Theirs']);
		return note;
	}

	it('keeps both texts and writes nothing until the person chooses', async () => {
		const note = await clashing();
		const before = writes().length;
		note.type('Mine, and more');
		expect(await note.save()).toBe(false);
		expect(writes().length).toBe(before);
		await note.keepMine();
		expect([stored()[LETTER], note.clash]).toEqual(['Mine, and more', undefined]);
	});

	it('can show theirs', async () => {
		const note = await clashing();
		note.takeTheirs();
		expect([note.text, note.dirty, note.revision]).toEqual(['Theirs', false, 1]);
	});

	it('can keep both, and says where', async () => {
		const note = await clashing();
		stored()['projects/old/Letter (mine).md'] = 'An older one';
		await vault.changes.keepBoth(note);
		expect(stored()['projects/old/Letter (mine) 2.md']).toBe('Mine');
		expect([note.text, stored()[LETTER]]).toEqual(['Theirs', 'Theirs']);
		expect(live.notices.at(-1)?.text).toContain('Letter (mine) 2.md');
	});

	it('tells before the next save already', async () => {
		const note = await open(LETTER);
		note.type('Mine');
		transport.vault.outside(LETTER, 'Theirs');
		await vi.waitFor(() => expect(note.clash?.theirs?.text).toBe('Theirs'));
	});

	it('keeps what is seen of a note that was deleted, and writes it again', async () => {
		const note = await open(LETTER);
		transport.vault.outside(LETTER, undefined);
		await vi.waitFor(() => expect(note.clash).toEqual({}));
		expect(await note.keepMine()).toBe(true);
		expect([stored()[LETTER], note.clash]).toEqual(['Written long ago.\n', undefined]);
	});
});

describe('a note', () => {
	it('gets another name, and the links that lead to it follow', async () => {
		const note = await open(DESIGN);
		note.type(`${note.text}More.\n`);
		await vault.changes.move(DESIGN, 'projects/Plan.md');
		expect(note.path).toBe('projects/Plan.md');
		expect(stored()['projects/Plan.md']).toContain('More.');
		expect(stored()[`journal/${day()}.md`]).toContain('[[Plan]]');
		expect(live.notices.at(-1)?.text).toBe('It is called Plan now. 1 link was rewritten.');
		expect(note.clash).toBeUndefined();
	});

	it('keeps its name where that is taken, and the person hears why', async () => {
		const note = await open(DESIGN);
		await vault.changes.move(DESIGN, 'projects/Jeju photos.md');
		expect(note.path).toBe(DESIGN);
		expect(live.notices.at(-1)?.told?.code).toBe('conflict');
	});

	it('is again as it was in a version, until that is taken back', async () => {
		const note = await open(DESIGN);
		const now = note.text;
		const { versions } = await live.kernel.knowledge.history(DESIGN);
		const old = await live.kernel.knowledge.version(DESIGN, versions.at(-1)!.id);
		expect(old.diff).toContain('@@');
		expect(await vault.changes.bringBack(old, 'yesterday')).toBe(true);
		expect([note.text, stored()[DESIGN]]).toEqual([old.text, old.text]);
		live.notices.at(-1)?.offer?.run();
		await vi.waitFor(() => expect(note.text).toBe(now));
	});

	it('is linked where it is named, until that is taken back', async () => {
		transport.vault.outside(LETTER, 'Of the jeju photos, long ago.\n');
		const photos = 'projects/Jeju photos.md';
		await open(photos);
		const [mention] = await live.kernel.knowledge.unlinked(photos);
		expect(await vault.changes.linkMention(mention!, photos)).toBe(true);
		expect(stored()[LETTER]).toBe('Of the [[Jeju photos|jeju photos]], long ago.\n');
		await vi.waitFor(() => expect(vault.sides.active.backlinks.map((b) => b.path)).toEqual([LETTER]));
		live.notices.at(-1)?.offer?.run();
		await vi.waitFor(() => expect(stored()[LETTER]).toBe('Of the jeju photos, long ago.\n'));
	});

	it('is deleted, and comes back with one press', async () => {
		await open(LETTER);
		await vault.changes.remove({ path: LETTER, kind: 'note' });
		expect([stored()[LETTER], vault.current]).toEqual([undefined, undefined]);
		live.notices.at(-1)?.offer?.run();
		await vi.waitFor(() => expect(vault.current?.path).toBe(LETTER));
		expect(stored()[LETTER]).toBe('Written long ago.\n');
	});

	it('that a link names is opened, or made where it is missing', async () => {
		await open(`journal/${day()}.md`);
		await vault.follow({ to: 'Oxios design', fragment: 'Open', outside: false });
		expect([vault.current?.path, vault.sides.active.line]).toEqual([DESIGN, 13]);
		await vault.follow({ to: 'New thing', fragment: '', outside: false });
		expect(vault.current?.path).toBe('projects/New thing.md');
		expect(stored()['projects/New thing.md']).toBe('# New thing\n\n');
	});

	it('knows what leads to it', async () => {
		await open(DESIGN);
		await vi.waitFor(() => expect(vault.sides.active.backlinks.map((b) => b.path)).toEqual([`journal/${day()}.md`]));
	});

	it('of today is made when it is missing', async () => {
		delete stored()[`journal/${day()}.md`];
		await vault.today();
		expect(vault.current?.text).toBe(`# ${day()}\n\n`);
	});

	it('that is new lies in its folder, and one of that name is opened', async () => {
		await vault.create('ideas/odd', 'First.md');
		expect(vault.current?.path).toBe('ideas/odd/First.md');
		await vault.create('projects/old', 'Letter');
		expect(vault.current?.text).toBe('Written long ago.\n');
	});
});

describe('searching', () => {
	it('finds as one types, and only the last answer counts', async () => {
		vault.finder.search('photos');
		vault.finder.search('WAL2');
		await vi.waitFor(() => expect(vault.finder.hits?.map((h) => h.title)).toContain('Oxios design'));
		vault.finder.search('');
		expect(vault.finder.hits).toBeUndefined();
	});

	it('offers names for a link, by 초성 too', async () => {
		stored()['설계.md'] = '';
		expect((await vault.names('ㅅㄱ')).map((h) => h.title)).toEqual(['설계']);
		expect((await vault.names('')).length).toBeGreaterThan(3);
		stored()['a/설계.md'] = '';
		await vault.load();
		expect([vault.linkTo('a/설계.md'), vault.linkTo(DESIGN)]).toEqual(['a/설계', 'Oxios design']);
	});
});

it('cuts a line at marks that are counted in bytes', () => {
	expect(pieces('새 노트 찾기', [[4, 10]])).toEqual([
		['새 ', false],
		['노트', true],
		[' 찾기', false],
	]);
	expect(pieces('plain')).toEqual([['plain', false]]);
});

it('knows the link at a place of a line', () => {
	const line = 'See [[Plan#Open|that]] and [page](a%20b.md) or https://x.org/y.';
	expect(linkAt(line, 8)).toEqual({ to: 'Plan', fragment: 'Open', outside: false });
	expect(linkAt(line, 30)).toEqual({ to: 'a b.md', fragment: '', outside: false });
	expect(linkAt(line, 52)).toMatchObject({ outside: true });
	expect(linkAt(line, 1)).toBeUndefined();
});

it('makes a path of a folder and a name, and lines of five thousand notes', () => {
	expect(joined(' a / b', 'c/d.md')).toBe('a/b/c/d.md');
	const many = Array.from({ length: 5000 }, (_, i) => ({ path: `n${i}.md`, name: `n${i}`, kind: 'note' }));
	expect(
		rowsOf(insideOf(many), new Set())
			.map((r) => r.entry.name)
			.slice(0, 3),
	).toEqual(['n0', 'n1', 'n2']);
});

describe('the graph', () => {
	const ring = (n: number): VaultGraph => ({
		nodes: Array.from({ length: n }, (_, i) => ({ path: `${i}.md`, title: `${i}`, links: 1 })),
		edges: Array.from({ length: n }, (_, i) => ({ from: i, to: (i + 1) % n })),
	});

	it('is laid out the same each time, inside its field', () => {
		expect(placed({ nodes: [], edges: [] })).toEqual([]);
		for (const n of [1, 2, 9, 120]) {
			const at = placed(ring(n), 0);
			expect(at).toEqual(placed(ring(n), 0));
			expect(at.every((p) => p.x >= 0 && p.x <= 1 && p.y >= 0 && p.y <= 1)).toBe(true);
			const places = new Set(at.map((p) => `${p.x.toFixed(3)},${p.y.toFixed(3)}`));
			expect(places.size).toBe(n);
		}
	});

	it('is laid out in time when it is as large as the kernel gives', () => {
		const began = performance.now();
		expect(placed(ring(2000)).length).toBe(2000);
		expect(performance.now() - began).toBeLessThan(10_000);
	});
});
