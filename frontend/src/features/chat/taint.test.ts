import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { notes } from '../../kernel/fake/taint';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { standing } from '../../ui/still.fake';
import { Card } from './approval.svelte';
import AskLive from './AskLive.test.svelte';

afterEach(cleanup);

async function setup() {
	const fake = new FakeTransport({ pace: 0 });
	const live = new Live(makeKernel(fake), fake);
	await live.approvals.load();
	const approval = live.approvals.of('s-tidy')[0]!;
	approval.request.labels = [notes];
	const { still, stand } = standing();
	const card = new Card(live.approvals, approval, still);
	const show = () => {
		render(AskLive, { live, card });
		stand();
	};
	show();
	const trusted = () => fake.calls.filter((c) => c.method === 'security.trustLabel').map((c) => c.args);
	return { card, trusted, show };
}

describe('an idea that came from outside', () => {
	it('is told by its carrier, and makes Deny the first answer', async () => {
		const { card } = await setup();
		expect(card.approval.request.network).toBe(false);
		expect(card.denyFirst).toBe(true);
		expect(screen.getByText(notes.text)).toBeTruthy();
		expect(screen.getByText('from outside')).toBeTruthy();
	});

	it('is trusted on the person’s word, which can be taken back', async () => {
		const { trusted, show } = await setup();
		screen.getByRole('button', { name: `Trust this as it is: ${notes.text}` }).click();
		await screen.findByRole('button', { name: `Do not trust this any more: ${notes.text}` });
		cleanup();
		show(); // as after a reload
		expect(await screen.findByRole('button', { name: `Do not trust this any more: ${notes.text}` })).toBeTruthy();
		screen.getByRole('button', { name: `Do not trust this any more: ${notes.text}` }).click();
		await vi.waitFor(() =>
			expect(trusted()).toEqual([
				[notes.id, true],
				[notes.id, false],
			]),
		);
	});
});
