import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import Grants from './Grants.svelte';
import Permissions from './Permissions.svelte';

const page = vi.hoisted(() => ({ live: undefined as Live | undefined }));
// A page gives this to what is in it; here there is no page.
vi.mock('../../kernel/context', () => ({ useLive: () => page.live }));

const fake = () => new FakeTransport({ pace: 0 });
let transport: FakeTransport;

beforeEach(async () => {
	i18n.set('en');
	transport = fake();
	page.live = new Live(makeKernel(transport), transport);
	await page.live.load();
});
afterEach(cleanup);

const calls = (method: string) => transport.calls.filter((c) => c.method === method).map((c) => c.args);
const button = (name: string | RegExp) => screen.findByRole('button', { name });

describe('what the person approved', () => {
	async function give(scope: string, minutes?: number) {
		const kernel = page.live!.kernel;
		const waiting = (await kernel.security.approvals({ state: 'pending' })).find((a) =>
			a.request.command?.startsWith('git push'),
		)!;
		return kernel.security.grant(waiting.id, { hash: waiting.request.hash, scope, minutes });
	}

	it('says that there is nothing yet', async () => {
		render(Grants);
		await screen.findByText(/No kind of step is approved/);
	});

	it('lists a kind with where and how long it holds, and takes it back', async () => {
		const { grant } = await give('session');
		render(Grants);
		const row = (await screen.findByText('git push *')).closest('tr')!;
		expect(row.textContent).toContain('this conversation');
		(await button('Revoke git push *')).click();
		await screen.findByText(/No kind of step is approved/);
		expect(calls('security.revokeGrant')).toEqual([[grant.id]]);
	});

	it('shows again what it could not take back', async () => {
		await give('folder', 60);
		render(Grants);
		await button('Revoke git push *');
		page.live!.kernel.security.revokeGrant = () => Promise.reject(new Error('no'));
		(await button('Revoke git push *')).click();
		await button('Revoke git push *');
	});
});

describe('the rules of agents', () => {
	it('shows the level of isolation, the roles with what they take away, and the paths that are kept', async () => {
		render(Permissions);
		await screen.findByText('tools: read, grep, find, ls · no network · works up to 60 s');
		expect(screen.getByText(/Level 3/)).toBeTruthy();
		expect(screen.getByText('~/taxes')).toBeTruthy();
		expect(screen.getByText('~/.ssh')).toBeTruthy();
	});

	it('takes a path from the list', async () => {
		render(Permissions);
		(await button('No longer keep ~/taxes from agents')).click();
		await vi.waitFor(() => expect(screen.queryByText('~/taxes')).toBeNull());
		expect(calls('security.allowPath')).toEqual([['~/taxes']]);
		expect(screen.queryByRole('button', { name: 'No longer keep ~/.ssh from agents' })).toBeNull();
	});

	it('lists the addresses that are open, adds one and removes it', async () => {
		render(Permissions);
		await screen.findByText('Nothing is open.');
		const section = screen.getByText('Open in your network').closest('section')!;
		section.querySelector<HTMLButtonElement>('button')!.click();
		const field = await screen.findByLabelText('Address or range');
		await fireEvent.input(field, { target: { value: '8.8.8.8' } });
		(await button('Open to agents')).click();
		await screen.findByText(/8\.8\.8\.8 is not in your own network/);
		await fireEvent.input(field, { target: { value: '192.168.1.0/24' } });
		(await button('Open to agents')).click();
		(await button('Remove 192.168.1.0/24')).click();
		await screen.findByText('Nothing is open.');
		expect(calls('security.grantAddress')).toEqual([['8.8.8.8'], ['192.168.1.0/24']]);
		expect(calls('security.revokeAddress')).toEqual([['192.168.1.0/24']]);
	});

	it('puts a role away, and back where it is built in', async () => {
		render(Permissions);
		(await button('Delete: reviewer')).click();
		await vi.waitFor(() => expect(screen.queryByRole('button', { name: 'Change the role reviewer' })).toBeNull());
		expect(screen.getByRole('button', { name: 'Change the role operator' })).toBeTruthy();
	});
});
