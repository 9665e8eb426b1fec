import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
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
	const { still, wait, stand } = standing();
	const card = new Card(approvals, approvals.of(session)[index]!, still);
	const ondraft = vi.fn();
	render(AskLive, { live, card, ondraft });
	stand();
	await tick();
	const element = screen.getByRole('alertdialog');
	const press = (init: KeyboardEventInit) =>
		element.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }));
	const decided = () => fake.calls.filter((c) => /approve|deny/.test(c.method)).map((c) => c.method);
	return { fake, card, press, decided, ondraft, element, wait };
}

const ctrlEnter = { key: 'Enter', code: 'Enter', ctrlKey: true };
const d = { key: 'ㅇ', code: 'KeyD' };

describe('the card', () => {
	it('is named by its effect and does not take the focus', async () => {
		const { element } = await setup('s-tidy');
		expect(element.getAttribute('aria-label')).toBe('Deletes files in Downloads');
		expect(element.contains(document.activeElement)).toBe(false);
	});

	it('shows the whole command and what the agent says as its saying', async () => {
		const { element } = await setup('s-tidy');
		expect(element.querySelector('pre')?.textContent).toContain('xargs -0 rm --');
		expect(element.textContent).toContain('“14 installers older than a month, 2.3 GB.”');
		expect(element.textContent).toContain('find, xargs, rm in ~/Downloads');
	});

	it('names the machine that a yes for the run covers', async () => {
		const { card } = await setup('s-tidy');
		const { approval } = card;
		card.show({ ...approval, request: { ...approval.request, network: false, host: 'one.example' } });
		await tick();
		await fireEvent.keyDown(screen.getByRole('button', { name: 'More' }), { key: 'Enter', code: 'Enter' });
		expect((await screen.findByRole('menuitem')).textContent).toContain('Covers every request to one.example until');
	});

	it('offers to open an address of the own network to all agents, and approves once with it', async () => {
		const { card, element, fake } = await setup('s-tidy');
		const { approval } = card;
		card.show({
			...approval,
			request: { ...approval.request, command: '', network: false, host: 'nas.local', own: ['192.168.1.20'] },
		});
		await tick();
		expect(element.textContent).toContain('192.168.1.20: approving opens it for this alone');
		await fireEvent.keyDown(screen.getByRole('button', { name: 'More' }), { key: 'Enter', code: 'Enter' });
		const items = await screen.findAllByRole('menuitem');
		expect(items.map((i) => i.textContent?.trim())).toEqual([
			expect.stringContaining('Approve for this run'),
			expect.stringContaining('Open 192.168.1.20 to all agentsApproves this once, too.'),
		]);
		await card.open();
		expect(fake.calls.filter((c) => /grantAddress|approve$/.test(c.method)).map((c) => [c.method, c.args[0]])).toEqual([
			['security.grantAddress', '192.168.1.20'],
			['security.approve', approval.id],
		]);
	});

	it('approves nothing where an address cannot be opened', async () => {
		const { card, fake } = await setup('s-tidy');
		card.show({ ...card.approval, request: { ...card.approval.request, own: ['8.8.8.8'] } });
		await card.open();
		expect(card.failure?.message).toContain('is not in your own network');
		expect(fake.calls.some((c) => c.method === 'security.approve')).toBe(false);
	});

	it('says that an address stays closed to a command, and offers to open it', async () => {
		const { card, element } = await setup('s-tidy');
		const { approval } = card;
		card.show({
			...approval,
			request: { ...approval.request, command: 'curl http://10.0.0.7/', network: true, own: ['10.0.0.7'] },
		});
		await tick();
		expect(element.textContent).toContain('10.0.0.7 stays closed to the command unless you open it');
		await fireEvent.keyDown(screen.getByRole('button', { name: 'More' }), { key: 'Enter', code: 'Enter' });
		const items = await screen.findAllByRole('menuitem');
		expect(items.map((i) => i.textContent?.trim())).toEqual([expect.stringContaining('Open 10.0.0.7 to all agents')]);
	});

	it('approves once with Ctrl Enter', async () => {
		const { press, decided } = await setup('s-tidy');
		press(ctrlEnter);
		await vi.waitFor(() => expect(decided()).toEqual(['security.approve']));
	});

	it.each([
		['a bare Enter', { key: 'Enter', code: 'Enter' }],
		['a digit', { key: '1', code: 'Digit1' }],
		['a repeated key', { ...ctrlEnter, repeat: true }],
		['a key in composition', { ...ctrlEnter, isComposing: true }],
	])('decides nothing with %s', async (_, init) => {
		const { press, decided, card } = await setup('s-tidy');
		press(init);
		press({ ...init, code: init.code === 'Digit1' ? 'Digit2' : init.code });
		expect(decided()).toEqual([]);
		expect(card.denying).toBe(false);
	});

	it('decides nothing with a key that comes too early', async () => {
		const { card, press, decided } = await setup('s-tidy');
		card.still.moved();
		press(ctrlEnter);
		press(d);
		expect(decided()).toEqual([]);
		expect(card.denying).toBe(false);
	});

	it('opens the comment with D, and denies with Enter', async () => {
		const { card, press, decided } = await setup('s-tidy');
		press(d);
		expect(card.denying).toBe(true);
		const field = await screen.findByLabelText('Comment for the agent');
		field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', bubbles: true, cancelable: true }));
		await vi.waitFor(() => expect(decided()).toEqual(['security.deny']));
	});

	it('denies at once where Deny is primary, and does not hear Ctrl Enter there', async () => {
		const { press, decided } = await setup('s-year', 1);
		press(ctrlEnter);
		expect(decided()).toEqual([]);
		press(d);
		await vi.waitFor(() => expect(decided()).toEqual(['security.deny']));
	});

	it('goes back to the draft with Esc', async () => {
		const { press, ondraft } = await setup('s-tidy');
		press({ key: 'Escape', code: 'Escape' });
		expect(ondraft).toHaveBeenCalledOnce();
	});
});
