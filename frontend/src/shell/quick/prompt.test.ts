import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { Failure } from '../../kernel/transport';
import { Prompt } from './prompt.svelte';

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

async function setup() {
	const fake = new FakeTransport({ pace: 0 });
	const live = new Live(makeKernel(fake), fake);
	const prompt = new Prompt(live);
	stops.push(live.start(), prompt.follow());
	const started = vi.waitFor(() => expect(live.ready).toBe(true));
	const ask = async (text: string) => {
		prompt.text = text;
		return prompt.send();
	};
	const ended = () => vi.waitFor(() => expect(prompt.over).toBe(true));
	return { fake, live, prompt, started, ask, ended };
}

describe('the quick prompt', () => {
	it('asks on in one conversation, says where it came from, and begins another one when it made room', async () => {
		const { fake, prompt, started, ask, ended } = await setup();
		await started;
		expect(await ask('Look around.')).toBe(true);
		expect(prompt.text).toBe('');
		const first = prompt.conversation!.id;
		await ended();
		await ask('And more?');
		expect(prompt.conversation!.id).toBe(first);
		await ended();
		prompt.renew();
		await ask('Look around.');
		expect(prompt.conversation!.id).not.toBe(first);
		const asked = fake.calls.filter((c) => c.method === 'agents.submit').map((c) => c.args[0]);
		expect(asked).toEqual([
			{ text: 'Look around.', via: 'quick' },
			{ session_id: first, text: 'And more?', via: 'quick' },
			{ text: 'Look around.', via: 'quick' },
		]);
	});

	it('keeps the question until the kernel has it', async () => {
		const { fake, prompt, started, ask } = await setup();
		expect(await ask('Too early.')).toBe(false);
		expect([prompt.pending, prompt.text]).toEqual([true, 'Too early.']);
		await started;
		vi.spyOn(fake, 'call').mockRejectedValueOnce(
			new Failure({ code: 'invalid', message: 'No model is chosen yet.' } as never),
		);
		expect(await prompt.send()).toBe(false);
		expect([prompt.failure?.message, prompt.text]).toEqual(['No model is chosen yet.', 'Too early.']);
		expect(await prompt.send()).toBe(true);
		expect([prompt.pending, prompt.failure, prompt.text]).toEqual([false, undefined, '']);
	});

	it('is not over while a run is open, or something is written', async () => {
		const { prompt, started, ask, ended } = await setup();
		await started;
		expect(prompt.over).toBe(false);
		await ask('push');
		await vi.waitFor(() => expect(prompt.conversation?.active).toBeDefined());
		expect(prompt.over).toBe(false);
		await prompt.stop();
		await ended();
		prompt.text = 'not sent yet';
		expect(prompt.over).toBe(false);
	});

	it('says which parts were pasted', async () => {
		const { fake, prompt, started } = await setup();
		await started;
		prompt.write(' Read ');
		prompt.write(' Read https://a.example', true);
		prompt.write(' Read https://a.example ');
		expect(await prompt.send()).toBe(true);
		prompt.write('Typed alone.');
		await vi.waitFor(async () => expect(await prompt.send()).toBe(true));
		const sent = fake.calls.filter((c) => c.method === 'agents.submit').map((c) => c.args[0]);
		expect(sent).toMatchObject([
			{ text: 'Read https://a.example', pasted: [{ from: 5, to: 22 }] },
			{ text: 'Typed alone.' },
		]);
		expect(sent[1]).not.toHaveProperty('pasted');
	});

	it('stops waiting when the kernel has ended', async () => {
		const { fake, prompt, live, ask } = await setup();
		await ask('Too early.');
		vi.spyOn(fake, 'call').mockRejectedValue(
			new Failure({ code: 'unavailable', message: 'Oxios has ended.' } as never),
		);
		fake.emit('lost', undefined);
		expect([prompt.gone, prompt.pending, prompt.text]).toEqual([true, false, 'Too early.']);
		await vi.waitFor(() => expect(live.failure?.message).toBe('Oxios has ended.'));
	});
});
