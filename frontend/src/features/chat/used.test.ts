import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import { Conversation } from './conversation.svelte';
import UsedLive from './UsedLive.test.svelte';

beforeEach(() => i18n.set('en'));
afterEach(cleanup);

function setup() {
	const fake = new FakeTransport({ pace: 0 });
	const live = new Live(makeKernel(fake), fake);
	live.start();
	const onopen = vi.fn();
	render(UsedLive, { live, runID: 'r-parser', space: 'space-work', count: 3, onopen });
	const asked = () => fake.calls.filter((c) => c.method === 'memory.list').map((c) => c.args[0]);
	return { fake, live, onopen, asked, head: screen.getByRole('button', { name: '3 memories used' }) };
}

describe('the memories that an answer used', () => {
	it('are read when a person asks for them, and each leads to the view', async () => {
		const { asked, head, onopen } = setup();
		expect(asked()).toEqual([]);
		await fireEvent.click(head);
		const one = await screen.findByRole('button', { name: 'Open in Memory: Go 1.26, tests with -race' });
		expect(asked()).toEqual([{ run_id: 'r-parser', limit: 1000 }]);
		expect(screen.getAllByRole('listitem')).toHaveLength(3);
		await fireEvent.click(one);
		expect(onopen).toHaveBeenCalledWith('m-go');
		await fireEvent.click(head);
		expect(screen.queryByRole('list')).toBeNull();
	});

	it('say of which other space they are', async () => {
		const { head, fake, live } = setup();
		await waitFor(() => expect(live.spaces.loaded && live.sessions.loaded).toBe(true));
		fake.world.memories.find((m) => m.id === 'm-go')!.space = 'space-jeju';
		await fireEvent.click(head);
		await screen.findByRole('button', { name: 'Open in Memory: [🏝️ Jeju] Go 1.26, tests with -race' });
		expect(screen.getAllByText(/^\[/).map((e) => e.textContent)).toEqual(['[🏝️ Jeju]', '[Default]']);
	});

	it('leave when they are forgotten', async () => {
		const { head, live } = setup();
		await fireEvent.click(head);
		await waitFor(() => expect(screen.getAllByRole('listitem')).toHaveLength(3));
		await live.kernel.memory.forget(['m-go', 'm-parser', 'm-answers']);
		await screen.findByText('What was used is not remembered any more.');
	});

	it('say why they could not be read, and are read again', async () => {
		const { head, fake } = setup();
		const call = fake.call.bind(fake);
		vi.spyOn(fake, 'call').mockImplementation((m, a) =>
			m === 'memory.list' ? Promise.reject(new Error('lost')) : call(m, a),
		);
		await fireEvent.click(head);
		await screen.findByText('What was used could not be read');
		vi.restoreAllMocks();
		await fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
		await waitFor(() => expect(screen.getAllByRole('listitem')).toHaveLength(3));
	});

	it('are counted when the run ends, without the conversation being read anew', async () => {
		const fake = new FakeTransport({ pace: 0 });
		const kernel = makeKernel(fake);
		const c = new Conversation(kernel, 's-parser');
		fake.world.runs.find((r) => r.run.id === 'r-parser')!.memories = undefined;
		await c.load();
		const view = fake.world.runs.find((r) => r.run.id === 'r-parser')!;
		view.memories = 2;
		c.receive({ seq: 1, time: '', kind: 'run.ended', session_id: 's-parser', run_id: 'r-parser', data: view.run });
		await vi.waitFor(() => expect(c.runs.at(-1)?.memories).toBe(2));
		expect(fake.calls.filter((x) => x.method === 'state.sessionPage')).toHaveLength(1);
		c.close();
	});
});
