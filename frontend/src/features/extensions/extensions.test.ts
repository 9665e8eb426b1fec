import { describe, expect, it } from 'vitest';
import { Live } from '../../kernel/live.svelte';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { lineOf, nameOf, pastedOf, wordsOf } from './command';
import { Servers, differenceOf } from './servers.svelte';

describe('a command line', () => {
	it('is split as a shell would, and put together again', () => {
		for (const [line, words] of [
			['npx -y server', ['npx', '-y', 'server']],
			[`a "b c" 'd e' f\\ g`, ['a', 'b c', 'd e', 'f g']],
			[`x ''`, ['x', '']],
			['  ', []],
		] as const)
			expect(wordsOf(line)).toEqual(words);
		for (const words of [
			['a', "it's", 'b c', ''],
			['~/bin/x', '--p=1'],
		])
			expect(wordsOf(lineOf({ command: words[0]!, args: words.slice(1) }))).toEqual(words);
	});

	it('is taken out of the settings of other programs', () => {
		const server = { command: 'npx', args: ['-y', 'x'], env: { A: 'b' } };
		const want = { name: 'my-files', ...server };
		expect(pastedOf(JSON.stringify({ mcpServers: { 'My Files': server } }))).toEqual(want);
		expect(pastedOf(JSON.stringify({ servers: { my_files: server } }))).toEqual(want);
		expect(pastedOf(`"my-files": ${JSON.stringify(server)}`)).toEqual(want);
		expect(pastedOf(JSON.stringify(server))).toEqual({ ...want, name: '' });
		for (const bad of ['npx x', '[]', '{}', '{"a": 1}', '{"a": {"url": "https://x"}}'])
			expect(pastedOf(bad)).toBeUndefined();
	});

	it('gets a name that a server can have', () => {
		expect(nameOf('@scope/My Server!')).toBe('scope-my-server');
		expect(nameOf('한국어')).toBe('');
		expect(nameOf('x'.repeat(40))).toHaveLength(32);
	});
});

describe('what a server offers', () => {
	const tool = (description: string, name = 'a') => ({
		server: 's',
		name,
		call: `s__${name}`,
		description,
		schema: {},
	});

	it('is compared line by line, with what nobody sees made visible', () => {
		const diff = differenceOf(
			[tool('Reads.'), tool('Same.', 'b')],
			[tool('Reads\u200b and sends.'), tool('Same.', 'b'), tool('New.', 'c')],
		);
		expect(diff).toContain('\n s__a\n-Reads.\n+Reads⟨U+200B⟩ and sends.\n');
		expect(diff).toContain('+s__c\n+New.\n');
		expect(diff).not.toContain('s__b');
	});
});

describe('servers', () => {
	function setup() {
		const fake = new FakeTransport();
		const live = new Live(makeKernel(fake), fake);
		return { fake, servers: new Servers(live) };
	}

	it('are added, connected and removed', async () => {
		const { servers } = setup();
		await servers.load();
		expect(servers.current?.name).toBe('issues');
		await servers.add('new', { command: 'x' });
		expect(servers.current?.name).toBe('new');
		await servers.connect('new');
		await servers.load();
		expect(servers.current?.state).toBe('running');
		await servers.remove('new');
		expect(servers.list.map((v) => v.name)).toEqual(['issues', 'notes', 'weather']);
	});

	it('say why they could not be connected, and are still there', async () => {
		const { servers } = setup();
		await servers.add('bad', { command: 'broken' });
		await servers.connect('bad');
		await expect.poll(() => servers.refused.bad?.message).toContain('ended with 3');
		expect(servers.current?.state).toBe('configured');
	});
});
