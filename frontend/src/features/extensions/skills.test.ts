import { describe, expect, it } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { Skills } from './skills.svelte';

describe('skills', () => {
	function setup() {
		const fake = new FakeTransport();
		return new Skills(new Live(makeKernel(fake), fake));
	}

	it('are opened with their review, accepted and deleted', async () => {
		const skills = setup();
		await skills.load();
		await skills.open('pdf-forms');
		expect(skills.current?.state).toBe('new');
		expect(skills.details?.review.findings).toHaveLength(1);
		await skills.accept('pdf-forms', skills.details!.now);
		expect(skills.current?.state).toBe('ready');
		await skills.remove('pdf-forms');
		expect(skills.current).toBeUndefined();
	});

	it('get the network and keys for their scripts one by one, and lose them again', async () => {
		const skills = setup();
		await skills.load();
		await skills.open('invoice');
		await skills.allow('invoice', { network: true, env: ['INVOICE_KEY'] });
		expect(skills.current?.rights).toEqual({ network: true, env: ['INVOICE_KEY'] });
		await skills.allow('invoice', { network: false, env: [] });
		expect(skills.current?.rights.network).toBe(false);
	});

	it('are installed and open for review; a refusal is thrown', async () => {
		const skills = setup();
		await skills.load();
		await expect(skills.install('/tmp/Nothing Here')).rejects.toMatchObject({ code: 'not_found' });
		await skills.install('/tmp/tidy-up');
		expect(skills.current?.name).toBe('tidy-up');
		expect(skills.details?.name).toBe('tidy-up');
	});

	it('are looked for in a registry only once it was added', async () => {
		const skills = setup();
		await expect(skills.search('papers')).rejects.toMatchObject({ code: 'conflict' });
		const [first] = await skills.registries();
		expect(first?.added).toBe(false);
		expect((await skills.registry(first!.url, true)).at(-1)?.added).toBe(true);
		const { found } = await skills.search('papers');
		await skills.install(found[0]!.from);
		expect(skills.current).toMatchObject({ name: 'tidy-up', state: 'new' });
	});
});
