import { beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { day } from '../../kernel/fake/data/notes';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import { changesBetween } from './patch';
import { Vault } from './vault.svelte';

const LETTER = 'projects/old/Letter.md';
const DESIGN = 'projects/Oxios design.md';
const PHOTOS = 'projects/Jeju photos.md';
const JOURNAL = `journal/${day()}.md`;

let transport: FakeTransport, live: Live, vault: Vault;
const stored = () => transport.world.notes;
const shown = () => vault.sides.list.map((s) => s.note?.path);

async function another(): Promise<Vault> {
	const it = new Vault(live);
	await it.begin();
	return it;
}

beforeEach(async () => {
	i18n.set('en');
	transport = new FakeTransport({ pace: 0 });
	live = new Live(makeKernel(transport), transport);
	live.start();
	await vi.waitFor(() => expect(live.ready).toBe(true));
	vault = await another();
	live.onevent((e) => vault.receive(e));
});

describe('two notes side by side', () => {
	beforeEach(async () => {
		await vault.show(LETTER);
		await vault.sides.split();
	});

	it('begin as one note, which is the same one on both sides', () => {
		const [one, two] = vault.sides.list;
		expect([one!.note, vault.sides.active]).toEqual([two!.note, two]);
		vault.current!.shown = 2; // both editors are on the page
		const revision = vault.current!.revision;
		vault.current!.type('Typed on one side');
		expect(vault.current!.revision).toBe(revision + 1);
		expect(one!.note!.text).toBe('Typed on one side');
	});

	it('are written once, whichever side is left', async () => {
		vault.current!.type('Mine');
		await vault.show(DESIGN);
		expect([shown(), stored()[LETTER], vault.unsaved.size]).toEqual([[LETTER, DESIGN], 'Mine', 0]);
		const writes = transport.calls.filter((c) => c.method === 'knowledge.write').length;
		await vault.sides.close(vault.sides.active);
		expect([shown(), writes]).toEqual([[LETTER], 1]);
	});

	it('open on the side with the focus, or on the other one', async () => {
		const [one, two] = vault.sides.list;
		await vault.show(DESIGN);
		expect(shown()).toEqual([LETTER, DESIGN]);
		await vault.show(PHOTOS, undefined, true);
		expect([shown(), vault.sides.active]).toEqual([[PHOTOS, DESIGN], one]);
		vault.sides.focus(two!);
		await vault.follow({ to: 'Letter', fragment: '', outside: false }, true);
		expect(shown()).toEqual([LETTER, DESIGN]);
		vault.sides.focus(one!);
		expect(vault.current?.path).toBe(LETTER);
	});

	it('are there again after a restart, with their shares and the focus', async () => {
		await vault.show(DESIGN);
		vault.sides.focus(vault.sides.list[0]!);
		vault.sides.resize(64.4, true);
		const again = await another();
		expect(again.sides.list.map((s) => s.note?.path)).toEqual([LETTER, DESIGN]);
		expect([again.current?.path, again.sides.first]).toEqual([LETTER, 64]);
		again.sides.focus(again.sides.list[1]!);
		expect((await another()).current?.path).toBe(DESIGN);
	});

	it('that are one note are one note after a restart too', async () => {
		const again = await another();
		expect(again.sides.two).toBe(true);
		expect(again.sides.list[0]!.note).toBe(again.sides.list[1]!.note);
	});

	it('leave the one that is still there when the other was deleted meanwhile', async () => {
		await vault.show(DESIGN);
		delete stored()[LETTER];
		const again = await another();
		expect(again.sides.list.map((s) => s.note?.path)).toEqual([DESIGN]);
	});

	it('keep what could not be written when a side is closed', async () => {
		await vault.show(DESIGN);
		vault.current!.type('Mine');
		const call = transport.call.bind(transport);
		const spy = vi.spyOn(transport, 'call');
		spy.mockImplementation((m, a) => (m === 'knowledge.write' ? Promise.reject(new Error('full')) : call(m, a)));
		await vault.sides.close(vault.sides.active);
		expect([shown(), [...vault.unsaved.keys()]]).toEqual([[LETTER], [DESIGN]]);
		spy.mockRestore();
		await vault.show(DESIGN);
		expect(vault.current!.text).toBe('Mine');
	});

	it('keep their share within bounds', () => {
		vault.sides.resize(3, false);
		expect(vault.sides.first).toBe(25);
		vault.sides.resize(99, false);
		expect(vault.sides.first).toBe(75);
	});
});

describe('when an agent changes the open note', () => {
	const added = 'Written long ago.\nBy an agent.\n';
	async function edited() {
		await vault.show(LETTER);
		transport.vault.agent(LETTER, added);
		await vi.waitFor(() => expect(vault.current!.edit).toBeDefined());
		return vault.current!;
	}

	it('says which conversation it was and how many lines, and has the text at once', async () => {
		const note = await edited();
		expect(note.text).toBe(added);
		expect(note.edit!.compared).toMatchObject({ added: 1, removed: 0, by: [{ session_id: 's-parser' }] });
		expect(note.edit!.compared.by[0]!.title).not.toBe('');
		expect(note.edit!.compared.diff).toContain('+By an agent.');
	});

	it('takes it back, and that back again', async () => {
		const note = await edited();
		await vault.changes.undoEdit(note);
		expect([note.text, stored()[LETTER], note.edit]).toEqual(['Written long ago.\n', 'Written long ago.\n', undefined]);
		live.notices.at(-1)?.offer?.run();
		await vi.waitFor(() => expect(note.text).toBe(added));
		expect(stored()[LETTER]).toBe(added);
	});

	it('counts from before the first change when it goes on', async () => {
		const note = await edited();
		transport.vault.agent(LETTER, `${added}More.\n`);
		await vi.waitFor(() => expect(note.edit!.compared.added).toBe(2));
		await vault.changes.undoEdit(note);
		expect(note.text).toBe('Written long ago.\n');
	});

	it('offers no way back over what the person wrote since', async () => {
		const note = await edited();
		note.type(`${added}Mine.\n`);
		expect(note.revertible).toBe(false);
		await note.save();
		expect([note.revertible, await vault.changes.undoEdit(note)]).toEqual([false, false]);
		expect(stored()[LETTER]).toBe(`${added}Mine.\n`);
	});

	it('tells when somebody wrote between the offer and the answer, and keeps that', async () => {
		const note = await edited();
		stored()[LETTER] = 'Theirs';
		await vault.changes.undoEdit(note);
		expect(stored()[LETTER]).toBe('Theirs');
		expect(live.notices.at(-1)?.told?.code).toBe('conflict');
	});

	it('says nothing when it was another program', async () => {
		await vault.show(LETTER);
		transport.vault.outside(LETTER, 'Theirs');
		await vi.waitFor(() => expect(vault.current!.text).toBe('Theirs'));
		await vi.waitFor(() => expect(transport.calls.some((c) => c.method === 'knowledge.compare')).toBe(true));
		expect(vault.current!.edit).toBeUndefined();
	});

	it('keeps the text of the person, and shows how theirs differs', async () => {
		await vault.show(LETTER);
		const note = vault.current!;
		note.type('Mine');
		transport.vault.agent(LETTER, added);
		await vi.waitFor(() => expect(note.clash?.theirs).toBeDefined());
		expect([note.text, note.edit]).toEqual(['Mine', undefined]);
		expect((await note.compare()).diff).toContain('-Mine\n+Written long ago.');
	});
});

describe('the pieces that make one text of another', () => {
	const made = (old: string, text: string) => {
		let out = old;
		for (const c of changesBetween(old, text).reverse()) out = out.slice(0, c.from) + c.insert + out.slice(c.to);
		return out;
	};

	it('leave what stands between two changes alone, where the cursor may be', () => {
		const old = 'one\ntwo\nthree\nfour\n';
		const changes = changesBetween(old, 'ONE\ntwo\nthree\nFOUR\nfive\n');
		expect(changes).toEqual([
			{ from: 0, to: 3, insert: 'ONE' },
			{ from: 14, to: 18, insert: 'FOUR\nfive' },
		]);
	});

	it('begin behind the last line when something is added to a text without a line end', () => {
		expect(changesBetween('one\nmine', 'one\nmine\ntheirs\n')).toEqual([{ from: 8, to: 8, insert: '\ntheirs\n' }]);
	});

	it('make just that text, whatever the two are', () => {
		let seed = 7;
		const random = (n: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
		const text = () => Array.from({ length: random(9) }, () => 'abc'[random(3)]! + (random(5) ? '\n' : '')).join('');
		for (let i = 0; i < 500; i++) {
			const [a, b] = [text(), text()];
			expect([a, made(a, b)]).toEqual([a, b]);
		}
		const long = Array.from({ length: 5000 }, (_, i) => `line ${i}\n`).join('');
		expect(made(long, long.replace(/line/g, 'row'))).toBe(long.replace(/line/g, 'row'));
	});
});

describe('moving', () => {
	const letter = { path: LETTER, kind: 'note' };

	it('a note that is open on both sides keeps being open, and can be taken back', async () => {
		await vault.show(LETTER);
		await vault.sides.split();
		await vault.changes.drop(letter, 'reading');
		expect(shown()).toEqual(['reading/Letter.md', 'reading/Letter.md']);
		expect([stored()[LETTER], vault.current!.clash, live.kept.get('vault.note')]).toEqual([
			undefined,
			undefined,
			'reading/Letter.md',
		]);
		live.notices.at(-1)?.offer?.run();
		await vi.waitFor(() => expect(shown()).toEqual([LETTER, LETTER]));
	});

	it('asks first where links would be rewritten', async () => {
		await vault.show(LETTER);
		const preview = { from: LETTER, to: 'reading/Letter.md', links: 2, in: [], notes: [] };
		vi.spyOn(live.kernel.knowledge, 'movePreview').mockResolvedValue(preview);
		await vault.changes.drop(letter, 'reading');
		expect(vault.asked).toEqual({ what: 'move', entry: letter, to: 'reading' });
		expect(stored()[LETTER]).toBeDefined();
	});

	it('a folder takes the open note and what stands open in the tree along', async () => {
		await vault.show(LETTER);
		await vault.changes.drop({ path: 'projects/old', kind: 'folder' }, '');
		expect([shown(), vault.open.has('old'), vault.open.has('projects/old')]).toEqual([['old/Letter.md'], true, false]);
	});

	it('does nothing into its own folder, and tells why something cannot go', async () => {
		const calls = transport.calls.length;
		await vault.changes.drop(letter, 'projects/old');
		expect(transport.calls.length).toBe(calls);
		stored()['reading/Letter.md'] = 'Another';
		await vault.changes.drop(letter, 'reading');
		expect([live.notices.at(-1)?.told?.code, stored()[LETTER]]).toEqual(['conflict', 'Written long ago.\n']);
	});

	it('waits for text that cannot be saved', async () => {
		await vault.show(LETTER);
		vault.current!.type('Mine');
		stored()[LETTER] = 'Theirs';
		expect(await vault.changes.move(LETTER, 'reading/Letter.md')).toBe(false);
		expect([stored()[LETTER], vault.current!.text]).toEqual(['Theirs', 'Mine']);
	});

	it('a folder is made, and goes into the trash with what is open in it', async () => {
		await vault.changes.makeFolder('projects/old/new');
		expect(vault.rows.map((r) => r.entry.path)).toContain('projects/old/new');
		await vault.show(LETTER);
		await vault.sides.split();
		await vault.show(JOURNAL);
		await vault.changes.remove({ path: 'projects/old', kind: 'folder' });
		expect([shown(), stored()[LETTER]]).toEqual([[undefined, JOURNAL], undefined]);
		live.notices.at(-1)?.offer?.run();
		await vi.waitFor(() => expect(stored()[LETTER]).toBe('Written long ago.\n'));
	});
});
