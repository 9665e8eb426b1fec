import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { adviceFor, installLine } from './advice';
import { Onboarding } from './onboarding.svelte';

describe('the model that fits', () => {
	it.each([
		[3_900, 'qwen3:1.7b'],
		[7_800, 'qwen3:4b'],
		[15_800, 'qwen3:8b'],
		[31_900, 'qwen3:14b'],
		[0, 'qwen3:4b'],
	])('to %i MB is %s', (memory, model) => {
		const advice = adviceFor(memory);
		expect(advice.model).toBe(model);
		// Half of the memory is left for its context and for everything else.
		if (memory > 0) expect(advice.size * 1024).toBeLessThan(memory / 2);
	});

	it('is installed by one line, for the system that it is', () => {
		expect(installLine('qwen3:8b', false, 'Linux x86_64')).toBe(
			'curl -fsSL https://ollama.com/install.sh | sh && ollama pull qwen3:8b',
		);
		expect(installLine('qwen3:8b', true, 'Linux x86_64')).toBe('ollama pull qwen3:8b');
		for (const platform of ['Win32', 'MacIntel', 'Linux aarch64']) {
			expect(installLine('qwen3:8b', false, platform)).not.toContain('\n');
			expect(installLine('qwen3:8b', false, platform)).toMatch(/ollama pull qwen3:8b$/);
		}
	});
});

describe('a machine without a model', () => {
	beforeEach(() => vi.useFakeTimers());
	afterEach(() => vi.useRealTimers());

	async function setup() {
		const fake = new FakeTransport({ first: true, pace: 0 });
		const kernel = makeKernel(fake);
		const whole = await vi.waitFor(() => kernel.infra.discover());
		const ollama = whole.find((f) => f.provider.id === 'ollama')!;
		let found: typeof whole = [];
		kernel.infra.discover = async () => found;
		const live = new Live(kernel, fake);
		await live.load();
		const flow = new Onboarding(live);
		await flow.look();
		return { flow, live, ollama, see: (list: typeof whole) => (found = list) };
	}

	it('is looked at again until a model is there, which is then taken', async () => {
		const { flow, live, ollama, see } = await setup();
		expect(flow.bare).toBe(true);
		const stop = flow.watch();
		await vi.advanceTimersByTimeAsync(10_000);
		expect(flow.step).toBe(1);

		see([
			{
				...ollama,
				problem: { en: 'Ollama runs, but has no model yet.' },
				provider: { ...ollama.provider, models: [] },
			},
		]);
		await vi.advanceTimersByTimeAsync(4_000);
		expect(flow.step).toBe(1);
		expect(flow.bare).toBe(true);
		expect(flow.empty?.provider.id).toBe('ollama');

		see([ollama]);
		await vi.advanceTimersByTimeAsync(5_000);
		expect(flow.step).toBe(2);
		expect((await live.kernel.infra.config()).values.provider).toBe('ollama');
		stop();
	});

	it('is left alone once nobody waits for it', async () => {
		const { flow, ollama, see } = await setup();
		const stop = flow.watch();
		stop();
		see([ollama]);
		await vi.advanceTimersByTimeAsync(20_000);
		expect(flow.step).toBe(1);
	});

	it('is not bare when there is a key: then the person chooses', async () => {
		const { flow, ollama, see } = await setup();
		see([
			{ ...ollama, provider: { ...ollama.provider, id: 'openai', local: false, models: [] }, source: 'OPENAI_API_KEY' },
		]);
		await flow.look();
		expect(flow.bare).toBe(false);
	});
});

describe('what was set up before', () => {
	async function setup() {
		const fake = new FakeTransport({ first: true, pace: 0 });
		const kernel = makeKernel(fake);
		const live = new Live(kernel, fake);
		await live.load();
		return { kernel, live, reload: () => new Onboarding(live) };
	}

	it('is there after a reload: a chosen model goes on with the rights', async () => {
		const { live, reload } = await setup();
		const flow = reload();
		await flow.demo();
		await live.load();
		const again = reload();
		await again.resume();
		expect(again.step).toBe(2);
	});

	it('is there after a reload: a provider stands in the list, with or without a test', async () => {
		const { kernel, reload } = await setup();
		await kernel.infra.saveProvider({ name: 'Later', base_url: 'https://later.example.com/v1', key: 'k-1234567890' });
		await kernel.infra.tryProvider(
			{ name: 'Works', base_url: 'https://works.example.com/v1', key: 'k-1234567890' },
			true,
		);
		const flow = reload();
		await flow.resume();
		await flow.look();
		expect(flow.step).toBe(1);
		expect(flow.bare).toBe(false);
		const [later, works] = flow.found.map((f) => f.provider);
		expect([later!.name, works!.name]).toEqual(['Later', 'Works']);
		expect(flow.tests[later!.id]).toBeUndefined();
		expect(flow.tests[works!.id]?.answers).toBe(true);
	});

	it('is not used untested: a provider that was saved without a test stays in the list', async () => {
		const { kernel, reload } = await setup();
		const flow = reload();
		const saved = await kernel.infra.saveProvider({ name: 'Later', base_url: 'https://later.example.com/v1' });
		await flow.add(saved);
		expect(flow.step).toBe(1);
		expect(flow.found[0]?.provider.id).toBe(saved.id);
	});
});

describe('an environment', () => {
	async function setup(named: boolean, answers = true) {
		const fake = new FakeTransport({ first: true, pace: 0 });
		const kernel = makeKernel(fake);
		const [ollama] = await kernel.infra.discover();
		const env = {
			...ollama!,
			named,
			running: false,
			source: 'OXIOS_API_KEY',
			provider: { ...ollama!.provider, id: 'env', name: 'models.example.com', source: 'environment', local: false },
		};
		kernel.infra.discover = async () => [env];
		const tests: string[] = [];
		const real = kernel.infra.testProvider;
		kernel.infra.testProvider = async (id, model) => {
			tests.push(id);
			const test = await real(id, model);
			return answers ? test : { ...test, answers: false, error: { code: 'auth', message: 'No.' } };
		};
		const live = new Live(kernel, fake);
		await live.load();
		return { flow: new Onboarding(live), live, tests };
	}

	it('that names address, model and key is tested once and goes straight home', async () => {
		const { flow, live, tests } = await setup(true);
		expect(await flow.fromEnvironment()).toBe(true);
		expect(tests).toEqual(['env']);
		expect((await live.kernel.infra.status()).onboarded).toBe(true);
	});

	it('that names a key alone waits for a click', async () => {
		const { flow, tests } = await setup(false);
		expect(await flow.fromEnvironment()).toBe(false);
		expect(tests).toEqual([]);
	});

	it('that names what does not answer says so in the list', async () => {
		const { flow, live } = await setup(true, false);
		expect(await flow.fromEnvironment()).toBe(false);
		expect(flow.tests.env?.error).toBeDefined();
		expect((await live.kernel.infra.status()).onboarded).toBe(false);
	});
});
