import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { standing } from '../../ui/still.fake';
import { Card } from './approval.svelte';
import AskLive from './AskLive.test.svelte';

afterEach(cleanup);

async function setup(session: string, index = 0) {
	const fake = new FakeTransport({ pace: 0 });
	const live = new Live(makeKernel(fake), fake);
	const approvals = live.approvals;
	await approvals.load();
	const { still, stand } = standing();
	const card = new Card(approvals, approvals.of(session)[index]!, still);
	render(AskLive, { live, card });
	stand();
	const granted = () => fake.calls.filter((c) => c.method === 'security.grant').map((c) => c.args[1]);
	return { card, approvals, granted };
}

const button = (name: string) => screen.getByRole('button', { name });

describe('this kind of step', () => {
	it('is approved only from its preview, with the hash that it shows and for the time that was chosen', async () => {
		const { card, granted } = await setup('s-year', 1);
		await card.grant();
		expect(granted()).toEqual([]);
		button('This kind…').click();
		expect((await screen.findByText('git push *')).parentElement?.textContent).toMatch(/^git push \* in/);
		expect(screen.getByText('Would have covered 1 of the last 12 requests from here.')).toBeTruthy();
		screen.getByRole('radio', { name: '30 days' }).click();
		const { hash } = card.approval.request;
		button('Approve this kind').click();
		await vi.waitFor(() => expect(granted()).toEqual([{ hash, scope: 'folder', minutes: 43200 }]));
		expect(card.failure).toBeUndefined();
	});

	it('says in a line why it cannot be, and offers nothing more', async () => {
		const { granted } = await setup('s-tidy');
		button('This kind…').click();
		await screen.findByText(/Only one plain command can be allowed/);
		expect(screen.queryByRole('button', { name: 'Approve this kind' })).toBeNull();
		expect(granted()).toEqual([]);
	});

	it('is not offered for a change of a file', async () => {
		await setup('s-year', 2);
		expect(screen.queryByRole('button', { name: 'This kind…' })).toBeNull();
	});

	it('closes its preview when the request changes', async () => {
		const { card, granted } = await setup('s-year', 1);
		await card.propose();
		expect(card.mayGrant).toBe(true);
		card.show({ ...card.approval, request: { ...card.approval.request, hash: 'other' } });
		expect(card.proposing).toBe(false);
		await card.grant();
		expect(granted()).toEqual([]);
	});
});
