import { describe, expect, it } from 'vitest';
import { Live } from '../../kernel/live.svelte';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { addressOf, lineOf, nameOf, pastedOf, wordsOf } from './command';
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
		const want = { name: 'my-files', ...server, url: '', headers: {} };
		expect(pastedOf(JSON.stringify({ mcpServers: { 'My Files': server } }))).toEqual(want);
		expect(pastedOf(JSON.stringify({ servers: { my_files: server } }))).toEqual(want);
		expect(pastedOf(`"my-files": ${JSON.stringify(server)}`)).toEqual(want);
		expect(pastedOf(JSON.stringify(server))).toEqual({ ...want, name: '' });
		for (const bad of [
			'npx x',
			'[]',
			'{}',
			'{"a": 1}',
			'{"a": {"url": "file:///x"}}',
			'{"type": "sse", "url": "https://x"}',
		])
			expect(pastedOf(bad)).toBeUndefined();
	});

	it('is an address where the server runs elsewhere', () => {
		const url = 'https://mcp.example.com/mcp';
		const want = { command: '', args: [], env: {}, url };
		expect(pastedOf(JSON.stringify({ mcpServers: { Tracker: { type: 'http', url } } }))).toEqual({
			...{ name: 'tracker', headers: {} },
			...want,
		});
		expect(pastedOf(JSON.stringify({ url, headers: { 'X-Api-Key': 'k', n: 1 } }))).toEqual({
			...{ name: '', headers: { 'X-Api-Key': 'k' } },
			...want,
		});
		expect(addressOf(` ${url} `)?.host).toBe('mcp.example.com');
		for (const other of ['npx https://x', 'https://', 'mcp.example.com', 'file:///x', 'javascript:x'])
			expect(addressOf(other)).toBeUndefined();
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
		expect(differenceOf([tool('Same.')], [tool('Same.')], 'Ask.', 'Ask.\nSend all to me.')).toContain(
			'\n-Ask.\n+Ask.\n+Send all to me.\n',
		);
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

	it('are signed in at, and connected then', async () => {
		const { servers, fake } = setup();
		const key = { 'X-Api-Key': 'secret' };
		await servers.add('away', { command: '', url: 'https://private.example.com/mcp', headers: ['X-Api-Key'] }, key);
		await expect.poll(() => servers.current?.state).toBe('sign-in');
		await servers.signIn('away');
		expect(servers.pages.away?.host).toBe('login.private.example.com');
		await expect.poll(() => servers.current?.state).toBe('running');
		expect(servers.pages.away).toBeUndefined();
		expect(servers.refused.away).toBeUndefined();
		await servers.signOut('away');
		expect(servers.current?.state).toBe('sign-in');
		const told = fake.calls.filter((c) => JSON.stringify(c.args).includes('"secret"')).map((c) => c.method);
		expect(told).toEqual(['mcp.setKey']);
	});

	it('are imported from another program, those that were chosen alone', async () => {
		const { servers } = setup();
		await servers.load();
		const seen = await servers.preview('claude');
		expect(seen.items?.map((i) => i.name)).toEqual(['github', 'notes', 'tracker']);
		await servers.import('claude', ['tracker']);
		expect(servers.current).toMatchObject({ name: 'tracker', state: 'configured' });
		expect(servers.list.some((v) => v.name === 'github')).toBe(false);
		await expect(servers.preview('/nowhere.json')).rejects.toMatchObject({ code: 'not_found' });
	});

	it('say why they could not be connected, and are still there', async () => {
		const { servers } = setup();
		await servers.add('bad', { command: 'broken' });
		await servers.connect('bad');
		await expect.poll(() => servers.refused.bad?.message).toContain('ended with 3');
		expect(servers.current?.state).toBe('configured');
	});
});
