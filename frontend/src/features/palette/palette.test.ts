import { beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Kept } from '../../kernel/kept.svelte';
import { Palette, type Entry } from './palette.svelte';
import { Titles } from './titles.svelte';

const icon = (() => {}) as unknown as Entry['icon'];
const make = (group: Entry['group'], id: string, title: string, more: Partial<Entry> = {}): Entry => ({
	group,
	id,
	title,
	icon,
	...more,
});

let kept: Kept;
let did: string[];
let entries: Entry[];
beforeEach(() => {
	kept = new Kept(makeKernel(new FakeTransport()));
	did = [];
	const run = (id: string) => ({ run: () => did.push(id) });
	entries = [
		make('actions', 'new', 'New conversation', run('new')),
		make('actions', 'theme', 'Change the theme', { page: 'theme' }),
		make('goto', 'settings:limits', 'Settings: Limits', { also: '설정: 한도', ...run('limits') }),
		make('theme', 'theme:dark', 'Theme: Dark', { within: 'theme', ...run('dark') }),
		make('theme', 'theme:light', 'Theme: Light', { within: 'theme', current: true, ...run('light') }),
		...Array.from({ length: 30 }, (_, i) => make('conversations', `session:${i}`, `Notes of day ${i}`, run(`${i}`))),
	];
});

const open = (more: (page: string, words: string) => Promise<Entry[]> = async () => []) =>
	new Palette({ entries: () => entries, more, kept });
const titles = (p: Palette) => p.rows.map((r) => r.entry.title);

describe('the palette', () => {
	it('without words shows what can be done, and no more than a few conversations', () => {
		const p = open();
		expect(p.groups.map((g) => g.name)).toEqual(['conversations', 'actions', 'goto']);
		expect(p.groups[0]!.rows).toHaveLength(5);
		expect(titles(p)).not.toContain('Theme: Dark');
	});

	it('puts what was used last first, and remembers it for the next time', () => {
		const p = open();
		p.type('limits');
		expect(p.choose()).toBe(true);
		expect(did).toEqual(['limits']);
		const again = open();
		expect(again.groups[0]!.name).toBe('recent');
		expect(titles(again)[0]).toBe('Settings: Limits');
		expect(titles(again).filter((t) => t === 'Settings: Limits')).toHaveLength(1);
	});

	it('prefers of two that fit alike the one that was used', () => {
		const p = open();
		p.type('notes of day 7');
		p.choose();
		const again = open();
		again.type('notes');
		expect(titles(again)[0]).toBe('Notes of day 7');
	});

	it('prefers of two that fit alike the one about what is on the screen', () => {
		entries.push(
			make('actions', 'memory-export', 'Export memories'),
			make('here', 'export', 'Export this conversation'),
		);
		const p = open();
		p.type('export');
		expect(titles(p)[0]).toBe('Export this conversation');
	});

	it('opens a page, chooses what is in force there, and goes back', () => {
		const p = open();
		p.type('change the theme');
		expect(p.choose()).toBe(false);
		expect(p.page).toBe('theme');
		expect(p.chosen?.entry.title).toBe('Theme: Light');
		p.type('dark');
		expect(titles(p)).toEqual(['Theme: Dark']);
		expect(p.back()).toBe(true);
		expect(p.page).toBe('');
		expect(p.back()).toBe(false);
	});

	it('finds what stands on a page from the first one, and by words of the other language', () => {
		const p = open();
		p.type('dark');
		expect(titles(p)).toEqual(['Theme: Dark']);
		p.type('ㅎㄷ');
		expect(titles(p)).toEqual(['Settings: Limits']);
	});

	it('goes round the ends', () => {
		const p = open();
		p.move(-1);
		expect(p.at).toBe(p.rows.length - 1);
		p.move(1);
		expect(p.at).toBe(0);
	});

	it('takes the newest answer about words in messages, and shows nothing twice', async () => {
		vi.useFakeTimers();
		const asked: string[] = [];
		const answers: Record<string, (list: Entry[]) => void> = {};
		const p = open((_, words) => {
			asked.push(words);
			return new Promise((done) => (answers[words] = done));
		});
		p.type('zebra');
		await vi.advanceTimersByTimeAsync(60);
		p.type('zebras'); // before anybody was asked
		await vi.advanceTimersByTimeAsync(200);
		p.type('notes of day 3');
		await vi.advanceTimersByTimeAsync(200);
		expect(asked).toEqual(['zebras', 'notes of day 3']);
		answers['notes of day 3']!([
			make('text', 'session:3', 'Notes of day 3'),
			make('text', 'session:x', 'About a horse', { below: '… notes of day 3 …' }),
		]);
		await vi.advanceTimersByTimeAsync(0);
		answers.zebras!([make('text', 'session:y', 'Late')]);
		await vi.advanceTimersByTimeAsync(0);
		expect(p.groups.find((g) => g.name === 'text')?.rows.map((r) => r.entry.id)).toEqual(['session:x']);
		expect(p.asking).toBe(false);
		vi.useRealTimers();
	});
});

describe('the titles of all conversations', () => {
	it('are read in pages, and kept as the events tell', async () => {
		const fake = new FakeTransport();
		const one = fake.world.sessions[0]!;
		fake.world.sessions = Array.from({ length: 1200 }, (_, i) => ({
			...one,
			id: `s-${i}`,
			title: `Title ${i}`,
			updated_at: new Date(1e12 - i).toISOString(),
		}));
		const all = new Titles(makeKernel(fake));
		await Promise.all([all.load(), all.load()]);
		expect(all.list).toHaveLength(1200);
		expect(fake.calls.filter((c) => c.method === 'state.sessions')).toHaveLength(3);
		const event = (kind: string, id: string, data: unknown) => ({ seq: 1, time: '', kind, session_id: id, data });
		all.receive(event('session', 's-7', { ...one, id: 's-7', title: 'Another' }));
		all.receive(event('session.deleted', 's-8', { text: 's-8' }));
		all.receive(event('session', 's-9', { ...one, id: 's-9', archived: true }));
		expect(all.list.find((s) => s.id === 's-7')?.title).toBe('Another');
		expect(all.list.some((s) => s.id === 's-8' || s.id === 's-9')).toBe(false);
	});
});
