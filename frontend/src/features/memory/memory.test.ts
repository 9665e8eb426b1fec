import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import MemoryLive from './MemoryLive.test.svelte';
import { PAGE, Remembered } from './remembered.svelte';
import { dateOf, hits, lately } from './words';

const RECEIPTS = 'Receipts are named date_shop_amount';

beforeEach(() => i18n.set('en'));
afterEach(cleanup);

async function setup(scene = '') {
	const fake = FakeTransport.forPage(new URLSearchParams({ scene }));
	const live = new Live(makeKernel(fake), fake);
	live.start();
	await vi.waitFor(() => expect(live.ready && live.sessions.loaded).toBe(true));
	const remembered = new Remembered(live);
	const onopen = vi.fn();
	const calls = (method: string) => fake.calls.filter((c) => c.method === method).map((c) => c.args);
	const refuse = (method: string, message: string, hint = '') => {
		const call = fake.call.bind(fake);
		vi.spyOn(fake, 'call').mockImplementation((m, args) =>
			m === method ? Promise.reject(new Error(JSON.stringify({ code: 'internal', message, hint }))) : call(m, args),
		);
	};
	const show = async () => {
		render(MemoryLive, { live, remembered, onopen });
		await waitFor(() => expect(remembered.loaded).toBe(true));
	};
	return { fake, live, remembered, onopen, calls, refuse, show };
}

const row = (text: string) => screen.findByRole('button', { name: text });
const button = (name: string) => screen.getByRole('button', { name });
const rows = () => within(screen.getByRole('table')).getAllByRole('button');
const texts = () => rows().map((b) => b.textContent);

describe('what a memory was taken from', () => {
	it('stands in the person’s own words, until its text is another', async () => {
		const { show, remembered } = await setup();
		await show();
		await fireEvent.click(await row(RECEIPTS));
		await screen.findByText('“call them date_shop_amount from now on”');
		await remembered.opened!.edit();
		remembered.opened!.draft!.text = 'Receipts are named shop_date';
		await remembered.opened!.save();
		await waitFor(() => expect(screen.queryByText('You said')).toBeNull());
	});
});

describe('the list', () => {
	it('shows the facts of all spaces, those that are pinned before the newest, with what is known of them', async () => {
		const { show } = await setup();
		await show();
		const first = (await row(RECEIPTS)).closest('tr')!;
		expect(texts()[0]).toBe(RECEIPTS);
		expect(rows()).toHaveLength(6);
		expect(first.textContent).toMatch(/From “Tidy the downloads folder”, \w+ \d+ · used 9 times/);
		expect(first.textContent).toContain('Home');
		expect(within(first).getByRole('img', { name: 'Pinned' })).toBeTruthy();
	});

	it('is narrowed to episodes, and says the kind where several stand in it', async () => {
		const { show } = await setup();
		await show();
		await fireEvent.click(screen.getByRole('radio', { name: 'Episodes 2' }));
		await waitFor(() => expect(rows()).toHaveLength(2));
		await fireEvent.click(screen.getByRole('radio', { name: 'All 8' }));
		await waitFor(() => expect(rows()).toHaveLength(8));
		expect(screen.getByRole('table').textContent).toContain('Episode · ');
	});

	it('says that nothing is remembered, and what would be', async () => {
		const { show } = await setup('empty');
		await show();
		await screen.findByText('Nothing is remembered yet.');
		expect(screen.queryByRole('table')).toBeNull();
	});

	it('says why it could not be read, and reads again', async () => {
		const { show, refuse } = await setup();
		refuse('memory.list', 'The disk is broken.');
		await show();
		await screen.findByText(/The disk is broken\./);
		vi.restoreAllMocks();
		await fireEvent.click(button('Try again'));
		await row(RECEIPTS);
	});

	it('reads the pages behind the first one by one', async () => {
		const { remembered } = await setup('many-memories');
		await remembered.load();
		expect([remembered.entries.length, remembered.more]).toEqual([PAGE, true]);
		while (remembered.more) await remembered.older();
		expect(remembered.entries.length).toBe(506);
		expect(new Set(remembered.entries.map((m) => m.id)).size).toBe(506);
	});

	it('is read anew when what is remembered changes, as far as it was read', async () => {
		const { fake, remembered, live } = await setup('many-memories');
		const stop = remembered.follow();
		await vi.waitFor(() => expect(remembered.loaded).toBe(true));
		await remembered.older();
		await live.kernel.memory.remember({ text: 'The key lies under the mat', kind: 'fact' });
		await vi.waitFor(() => expect(remembered.entries.some((m) => m.text.includes('mat'))).toBe(true));
		expect(remembered.entries.length).toBe(2 * PAGE);
		stop();
		const before = fake.calls.length;
		fake.emit('memory', undefined);
		expect(fake.calls.length).toBe(before);
	});
});

describe('a search', () => {
	it('looks in every space for what fits, once the words have come to rest', async () => {
		const { show, calls } = await setup();
		await show();
		const field = screen.getByRole('searchbox', { name: 'Search what is remembered' });
		for (const value of ['f', 'fe', 'ferry']) await fireEvent.input(field, { target: { value } });
		await waitFor(() => expect(texts()).toEqual(['The last ferry from Udo leaves at 17:30, on Sundays at 18:00']));
		const asked = calls('memory.search').map(
			([q]) => q as { text: string; space: string; least: number; kind: string },
		);
		expect(asked.map((q) => q.space).sort()).toEqual(['', 'space-home', 'space-jeju', 'space-work']);
		expect(asked.every((q) => q.text === 'ferry' && q.least === 0.12 && q.kind === 'fact')).toBe(true);
		expect(document.querySelector('mark')?.textContent).toBe('ferry');
	});

	it('that finds nothing leads back to everything', async () => {
		const { show } = await setup();
		await show();
		await fireEvent.input(screen.getByRole('searchbox'), { target: { value: 'zzzz' } });
		await screen.findByText(/Nothing that is remembered fits/);
		await fireEvent.click(button('Show all'));
		await waitFor(() => expect(rows()).toHaveLength(8));
	});

	it('marks the words where they stand, whatever is in them', () => {
		expect(hits('Go 1.26, tests with -race', 'race go')).toEqual(['', 'Go', ' 1.26, tests with -', 'race', '']);
		expect(hits('a (b', '(b')).toEqual(['a ', '(b', '']);
		expect(hits('as it was', '')).toEqual(['as it was']);
	});
});

describe('one that is open', () => {
	async function opened(text = RECEIPTS) {
		const it = await setup();
		await it.show();
		await fireEvent.click(await row(text));
		await waitFor(() => expect(it.remembered.opened?.view).toBeTruthy());
		return it;
	}
	const text = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Text' });

	it('tells what it replaced and when, and opens the conversation that it stands in', async () => {
		const { onopen } = await opened();
		const pane = screen.getByRole('region', { name: 'Memory' });
		expect([...pane.querySelectorAll('del')].map((d) => d.textContent)).toEqual([
			'Receipts are named shop-date',
			'Receipts keep the name that the shop gave them',
		]);
		expect(pane.textContent).toContain('names of receipts');
		await fireEvent.click(within(pane).getByRole('button', { name: 'Tidy the downloads folder' }));
		expect(onopen).toHaveBeenCalledWith('s-tidy', 'r-tidy');
	});

	it('tells where it was read, and that its conversation is gone', async () => {
		await opened('The last ferry from Udo leaves at 17:30, on Sundays at 18:00');
		const pane = screen.getByRole('region', { name: 'Memory' });
		expect(pane.textContent).toContain('a web page of udo-ferry.example');
		expect(pane.textContent).toContain('from outside');
		expect(pane.textContent).toContain('A conversation that is gone');
	});

	it('is changed, and the text before becomes its history', async () => {
		const { calls } = await opened();
		await fireEvent.click(button('Edit'));
		await fireEvent.input(text(), { target: { value: 'Receipts are named date-shop' } });
		await fireEvent.click(button('Save'));
		await waitFor(() => expect(texts()[0]).toBe('Receipts are named date-shop'));
		expect(calls('memory.update')).toEqual([['m-receipts', { text: 'Receipts are named date-shop' }]]);
		await waitFor(() => expect([...document.querySelectorAll('del')].map((d) => d.textContent)).toContain(RECEIPTS));
	});

	it('keeps what was written when another fact is about the same, and says which', async () => {
		const { remembered } = await opened('Go 1.26, tests with -race');
		await fireEvent.click(button('Edit'));
		await fireEvent.input(text(), { target: { value: 'Go 1.27' } });
		await fireEvent.input(screen.getByRole('textbox', { name: 'About' }), { target: { value: 'ledger closing' } });
		await fireEvent.click(button('Save'));
		const alert = await screen.findByRole('alert');
		expect(alert.textContent).toContain('Another fact is about "ledger closing" already');
		expect(alert.textContent).toContain('Change that one, or forget it first. What you wrote stays here.');
		expect(text().value).toBe('Go 1.27');
		await fireEvent.input(screen.getByRole('textbox', { name: 'About' }), { target: { value: 'Go' } });
		await fireEvent.click(button('Save'));
		await waitFor(() => expect(remembered.opened?.memory).toMatchObject({ text: 'Go 1.27', key: 'Go' }));
		expect(screen.queryByRole('alert')).toBeNull();
	});

	it('keeps what was written while another one is looked at', async () => {
		await opened();
		await fireEvent.click(button('Edit'));
		await fireEvent.input(text(), { target: { value: 'Receipts are na' } });
		await fireEvent.click(await row('Photos of Jeju lie in folders by day'));
		await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Text' })).toBeNull());
		await fireEvent.click(await row(RECEIPTS));
		await waitFor(() => expect(text().value).toBe('Receipts are na'));
		await fireEvent.click(button('Cancel'));
		expect(screen.queryByRole('textbox', { name: 'Text' })).toBeNull();
	});

	it('that is forgotten elsewhere while it is written over says so, with what was written', async () => {
		const { live } = await opened();
		await fireEvent.click(button('Edit'));
		await fireEvent.input(text(), { target: { value: 'Receipts are na' } });
		await live.kernel.memory.forget(['m-receipts']);
		await screen.findByText('This is not remembered any more');
		expect(text().value).toBe('Receipts are na');
	});

	it('that something newer replaced cannot be changed, and leads to the newer one', async () => {
		const { show, remembered } = await setup();
		await show();
		remembered.open('m-receipts-2');
		await screen.findByText('Something newer has replaced this');
		expect(screen.queryByRole('button', { name: 'Edit' })).toBeNull();
		await fireEvent.click(button('Open the newer one'));
		await waitFor(() => expect(remembered.opened?.id).toBe('m-receipts'));
	});

	it('is pinned and unpinned', async () => {
		const { calls } = await opened();
		await fireEvent.click(button('Unpin'));
		await waitFor(() => expect(button('Pin')).toBeTruthy());
		expect(calls('memory.update')).toEqual([['m-receipts', { pinned: false }]]);
	});
});

describe('forgetting', () => {
	async function asked() {
		const it = await setup();
		await it.show();
		await fireEvent.click(await row(RECEIPTS));
		await waitFor(() => expect(it.remembered.opened?.view).toBeTruthy());
		await fireEvent.click(button('Forget'));
		return { ...it, dialog: await screen.findByRole('dialog') };
	}

	it('is asked once, as it is for good and takes the history along', async () => {
		const { dialog, calls } = await asked();
		expect(dialog.textContent).toContain(RECEIPTS);
		expect(dialog.textContent).toContain('deleted for good');
		expect(dialog.textContent).toContain('with 2 texts that it replaced');
		await fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
		expect(calls('memory.forget')).toEqual([]);
		expect(screen.queryByRole('dialog')).toBeNull();
	});

	it('names the copies that still hold it, and goes to the next one', async () => {
		const { dialog, calls, remembered } = await asked();
		await fireEvent.click(within(dialog).getByRole('button', { name: 'Forget for good' }));
		await screen.findByText('~/.oxios/backups/oxios-2026-11-19.db');
		expect(calls('memory.forget')).toEqual([[['m-receipts']]]);
		expect(remembered.opened?.id).toBe('m-photos');
		await fireEvent.click(within(screen.getByRole('dialog')).getAllByRole('button', { name: 'Close' })[1]!);
		await waitFor(() => expect(texts()).not.toContain(RECEIPTS));
	});

	it('that fails says why, and leaves it there', async () => {
		const { dialog, refuse, remembered } = await asked();
		refuse('memory.forget', 'The disk is full.');
		await fireEvent.click(within(dialog).getByRole('button', { name: 'Forget for good' }));
		await within(dialog).findByText(/The disk is full\./);
		expect(remembered.entries[0]?.id).toBe('m-receipts');
	});
});

describe('remembering by hand', () => {
	async function writing() {
		const it = await setup();
		await it.show();
		await fireEvent.click(button('Remember something'));
		const dialog = await screen.findByRole('dialog');
		const field = within(dialog).getByRole('textbox', { name: 'What should be remembered?' });
		const keep = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Remember' });
		return { ...it, dialog, field, keep };
	}

	it('keeps a fact about something in a space, and opens it', async () => {
		const { dialog, field, keep, calls, remembered } = await writing();
		expect(keep.disabled).toBe(true);
		await fireEvent.input(field, { target: { value: 'The deposit is due on the 5th' } });
		await fireEvent.input(within(dialog).getByRole('textbox', { name: /about/ }), { target: { value: 'deposit' } });
		await fireEvent.change(within(dialog).getByRole('combobox', { name: 'Space' }), {
			target: { value: 'space-home' },
		});
		await fireEvent.click(keep);
		await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
		expect(calls('memory.remember')).toEqual([
			[{ text: 'The deposit is due on the 5th', kind: 'fact', key: 'deposit', space: 'space-home' }],
		]);
		await row('The deposit is due on the 5th');
		expect(remembered.opened?.memory?.key).toBe('deposit');
	});

	it('keeps an episode, which is about nothing else, and shows the episodes', async () => {
		const { dialog, field, keep, remembered } = await writing();
		await fireEvent.click(within(dialog).getByRole('radio', { name: /episode/ }));
		expect(within(dialog).queryByRole('textbox', { name: /about/ })).toBeNull();
		await fireEvent.input(field, { target: { value: 'We moved the desk' } });
		await fireEvent.click(keep);
		await row('We moved the desk');
		expect(remembered.which).toBe('episode');
	});

	it('that is refused keeps what was written', async () => {
		const { dialog, field, keep } = await writing();
		await fireEvent.input(field, { target: { value: 'x'.repeat(8001) } });
		await fireEvent.click(keep);
		const alert = await within(dialog).findByRole('alert');
		expect(alert.textContent).toContain('8000 is the most. Nothing was kept.');
		expect((field as HTMLTextAreaElement).value).toHaveLength(8001);
	});
});

describe('spaces and uses', () => {
	it('narrows the list and what is sought to one space', async () => {
		const { show, remembered, calls } = await setup();
		await show();
		const home = remembered.spaces.find((s) => s.name === 'Home')!;
		await fireEvent.change(screen.getByRole('combobox', { name: 'Which space' }), { target: { value: home.id } });
		await waitFor(() => expect(remembered.loaded).toBe(true));
		await row(RECEIPTS);
		expect(remembered.entries.length).toBeLessThan(6);
		expect(remembered.entries.every((m) => m.space === home.id)).toBe(true);
		expect(calls('memory.list').at(-1)).toEqual([{ space: home.id, kind: 'fact', limit: PAGE }]);
		remembered.words = 'receipts';
		await remembered.load();
		expect(calls('memory.search')).toHaveLength(1);
		await fireEvent.change(screen.getByRole('combobox', { name: 'Which space' }), { target: { value: '*' } });
		await waitFor(() => expect(remembered.within).toBeUndefined());
	});

	it('moves a memory to another space, and opens a conversation that used it', async () => {
		const { show, remembered, calls, onopen } = await setup();
		await show();
		await fireEvent.click(await row(RECEIPTS));
		await waitFor(() => expect(remembered.opened?.view?.used_in.length).toBeGreaterThan(0));
		const use = remembered.opened!.view!.used_in[0]!;
		const list = screen.getByText('Used in').closest('section')!;
		await fireEvent.click(within(list).getAllByRole('button')[0]!);
		expect(onopen).toHaveBeenCalledWith(use.session_id);
		const other = remembered.spaces.find((s) => s.name !== 'Home')!;
		await fireEvent.change(screen.getByRole('combobox', { name: 'Move to the space' }), {
			target: { value: other.id },
		});
		await waitFor(() => expect(remembered.opened?.memory?.space).toBe(other.id));
		expect(calls('memory.update')).toEqual([[remembered.opened!.id, { space: other.id }]]);
	});
});

describe('what agents are given', () => {
	it('is switched off, and the view says what still is so', async () => {
		const { show, calls } = await setup();
		await show();
		const toggle = screen.getByRole('switch', { name: 'Give agents what Oxios remembers' });
		expect(toggle.getAttribute('aria-checked')).toBe('true');
		await fireEvent.click(toggle);
		await screen.findByText('Agents are given nothing of this.');
		expect(calls('infra.setConfig')).toEqual([['memory', 'false']]);
	});
});

it('says a day as the page says days, and of today the clock', () => {
	const now = new Date(2026, 10, 20, 12);
	expect(dateOf(new Date(2026, 9, 3).toISOString(), now)).toBe('Oct 3');
	expect(dateOf(new Date(2025, 9, 3).toISOString(), now)).toBe('Oct 3, 2025');
	expect(lately(new Date(2026, 10, 20, 8, 2).toISOString(), now)).toBe('08:02');
});

describe('the night', () => {
	it('says in a line what was put in order, and shows each change, which can be undone', async () => {
		const { show, calls } = await setup();
		await show();
		const line = await screen.findByText('Last night: 3 duplicates merged, 1 date made exact, 2 facts replaced.');
		await fireEvent.click(screen.getByRole('button', { name: 'Show what was done to the memories' }));
		const dialog = await screen.findByRole('dialog', { name: 'What was put in order' });
		expect(within(dialog).getAllByRole('listitem')).toHaveLength(6);
		expect(dialog.textContent).toContain('Receipts are named shop-date');
		await fireEvent.click(within(dialog).getAllByRole('button', { name: /^Undo: / })[4]!);
		await within(dialog).findByText('Undone');
		expect(calls('memory.uncurate')).toEqual([['night-1', 4]]);
		await waitFor(() => expect(line.textContent).toContain('1 fact replaced.'));
	});

	it('says why a change was not undone', async () => {
		const { show, refuse } = await setup();
		refuse('memory.uncurate', 'The memory was changed since then.');
		await show();
		await fireEvent.click(await screen.findByRole('button', { name: 'Show what was done to the memories' }));
		await fireEvent.click((await screen.findAllByRole('button', { name: /^Undo: / }))[0]!);
		await screen.findByText('The memory was changed since then.');
	});
});
