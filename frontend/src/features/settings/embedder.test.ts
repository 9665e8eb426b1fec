import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import type { World } from '../../kernel/fake/data';
import { embeddingFails, embeddingScene } from '../../kernel/fake/embedder';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { i18n } from '../../ui/i18n/index.svelte';
import Embedder from './Embedder.svelte';

const page = vi.hoisted(() => ({ live: undefined as Live | undefined }));
// A page gives this to what is in it; here there is no page.
vi.mock('../../kernel/context', () => ({ useLive: () => page.live }));

let transport: FakeTransport;

async function open(scene?: (w: World) => void) {
	i18n.set('en');
	transport = new FakeTransport({ pace: 0 });
	scene?.(transport.world);
	page.live = new Live(makeKernel(transport), transport);
	await page.live.load();
	render(Embedder);
	const select = await screen.findByLabelText<HTMLSelectElement>('Provider');
	await vi.waitFor(() => expect(select.disabled).toBe(false));
	return select;
}
beforeEach(() => i18n.set('en'));
afterEach(cleanup);

const set = () => transport.calls.filter((c) => c.method === 'infra.setConfig').map((c) => c.args);
const button = (name: string) => screen.findByRole('button', { name });

describe('the embedder', () => {
	it('is built in, and says that nothing leaves', async () => {
		const select = await open();
		expect(select.value).toBe('');
		await screen.findByText(/nothing leaves this computer/);
		expect(screen.queryByRole('progressbar')).toBeNull();
	});

	it('of this computer is used without a question', async () => {
		const select = await open();
		await fireEvent.change(select, { target: { value: 'ollama' } });
		await screen.findByText(/no text leaves it/);
		(await button('Use it')).click();
		await vi.waitFor(() => expect(set()).toEqual([['embedder', 'ollama/nomic-embed-text']]));
		await screen.findByText(/embedded, 768 numbers each/);
	});

	it('elsewhere is used only when the person says yes to sending the memories there', async () => {
		const select = await open();
		await fireEvent.change(select, { target: { value: 'openai' } });
		await screen.findByText(/go to OpenAI\./);
		(await button('Use it')).click();
		expect(set()).toEqual([]);
		(await button('Send them')).click();
		await vi.waitFor(() => expect(set()).toEqual([['embedder', 'openai/text-embedding-3-small']]));
	});

	it('is tried with a sentence, and says what is wrong', async () => {
		const select = await open();
		await fireEvent.change(select, { target: { value: 'ollama' } });
		(await button('Test')).click();
		await screen.findByText('It works: 768 numbers for a sentence, in 41 ms.');
		await fireEvent.input(screen.getByLabelText('Model'), { target: { value: 'nothing' } });
		(await button('Test')).click();
		await screen.findByText(/does not know the model nothing/);
		expect(set()).toEqual([]);
	});

	it('that fails says why, keeps how far it came, and is tried again', async () => {
		await open(embeddingFails);
		await screen.findByText('312 of 1,204 memories embedded');
		expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25');
		expect((await screen.findByRole('alert')).textContent).toContain('ollama pull');
		(await button('Try again')).click();
		await vi.waitFor(() => expect(transport.calls.some((c) => c.method === 'infra.reconnect')).toBe(true));
	});

	it('makes its vectors anew after a question', async () => {
		await open(embeddingScene);
		(await button('Make anew')).click();
		await screen.findByText('Make all vectors anew?');
		const yes = screen.getAllByRole('button', { name: 'Make anew', hidden: true }).at(-1)!;
		yes.click();
		await vi.waitFor(() => expect(transport.calls.some((c) => c.method === 'memory.reembed')).toBe(true));
	});
});
