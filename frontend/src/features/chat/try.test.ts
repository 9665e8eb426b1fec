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
	const applied = () => fake.calls.filter((c) => c.method === 'security.applyTry').map((c) => c.args[1]);
	return { card, approvals, applied, stand };
}

const button = (name: string) => screen.getByRole('button', { name });
const gone = (name: string) => expect(screen.queryByRole('button', { name })).toBeNull();

describe('a try on a copy', () => {
	it('shows what the command did and applies exactly that', async () => {
		const { card, approvals, applied, stand } = await setup('s-year', 1);
		button('Try on a copy').click();
		await screen.findByText('receipts.md');
		expect(screen.getByText('asked for example.org:443; the network was shut')).toBeTruthy();
		gone('Approve once');
		button('Show the difference of receipts.md').click();
		await screen.findByText('none');
		const { hash } = card.tried!;
		stand();
		button('Apply').click();
		await vi.waitFor(() => expect(applied()).toEqual([{ hash }]));
		await vi.waitFor(() => expect(approvals.pending.some((a) => a.id === card.approval.id)).toBe(false));
	});

	it('leaves the request as it was when it is discarded', async () => {
		const { card, approvals, applied } = await setup('s-year', 1);
		await card.try();
		await card.discard();
		await vi.waitFor(() => gone('Apply'));
		expect(button('Try on a copy')).toBeTruthy();
		expect(approvals.pending.some((a) => a.id === card.approval.id)).toBe(true);
		expect(applied()).toEqual([]);
	});

	it('is not applied when a file was changed since, but tried again', async () => {
		const { card, applied, stand } = await setup('s-year', 1);
		await card.try();
		card.tried = { ...card.tried!, conflicts: 1 };
		await screen.findByText(/cannot be applied. Try it again/);
		gone('Apply');
		await card.apply();
		expect(applied()).toEqual([]);
		stand();
		button('Try again').click();
		await vi.waitFor(() => expect(button('Apply')).toBeTruthy());
	});

	it('is forgotten when the request changes, and not offered for a change of a file', async () => {
		const { card } = await setup('s-year', 1);
		await card.try();
		card.show({ ...card.approval, request: { ...card.approval.request, hash: 'other' } });
		expect(card.tried).toBeUndefined();
		cleanup();
		await setup('s-year', 2);
		gone('Try on a copy');
	});
});
