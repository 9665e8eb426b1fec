import { afterEach, expect, it, vi } from 'vitest';
import { PageFiles, WindowFiles } from './files';
import { Failure } from './transport';

afterEach(() => vi.unstubAllGlobals());

const words = { title: 'Where?', name: 'talk.md' };

it('asks the window where, and leaves the rest to the kernel', async () => {
	const calls: [string, unknown[]][] = [];
	const files = new WindowFiles((method, args) => {
		calls.push([method, args]);
		const path = '/home/minji/b.tar.gz';
		const answers: Record<string, unknown> = { 'window.saveFile': path, 'window.pickFiles': [path] };
		return Promise.resolve(answers[method] ?? {});
	});
	await files.backup(words);
	const picked = await files.pick('Which?');
	expect(picked?.name).toBe('b.tar.gz');
	await picked?.preview();
	await picked?.restore(['setting:mode']);
	expect(await files.save('s', 'md', words)).toBe(true);
	expect(calls).toEqual([
		['window.saveFile', ['Where?', 'talk.md']],
		['infra.backup', ['/home/minji/b.tar.gz']],
		['window.pickFiles', ['Which?']],
		['infra.restore', [{ path: '/home/minji/b.tar.gz', try: true }]],
		['infra.restore', [{ path: '/home/minji/b.tar.gz', take: ['setting:mode'] }]],
		['window.saveFile', ['Where?', 'talk.md']],
		['state.saveSession', ['s', 'md', '/home/minji/b.tar.gz', true]],
	]);
});

it('does nothing when no place was chosen', async () => {
	const calls: string[] = [];
	const files = new WindowFiles((method) => {
		calls.push(method);
		return Promise.resolve(method === 'window.pickFiles' ? [] : '');
	});
	expect(await files.backup(words)).toBeUndefined();
	expect(await files.pick('Which?')).toBeUndefined();
	expect(await files.save('s', 'json', words)).toBe(false);
	expect(calls.every((m) => m.startsWith('window.'))).toBe(true);
});

it('says what the kernel says when a page is refused', async () => {
	const refusal = { code: 'busy', message: 'A backup is under way.', hint: 'Try again.' };
	const asked: RequestInit[] = [];
	vi.stubGlobal('fetch', (_: string, o: RequestInit) => {
		asked.push(o);
		return Promise.resolve(new Response(JSON.stringify(refusal), { status: 409 }));
	});
	const failed = await new PageFiles('secret').backup(words).catch((e: unknown) => e);
	expect(failed).toBeInstanceOf(Failure);
	expect(failed).toMatchObject(refusal);
	expect(asked[0]).toMatchObject({ method: 'POST', headers: { Authorization: 'Bearer secret' } });
});

it('tells a lost connection apart', async () => {
	vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed to fetch')));
	await expect(new PageFiles('s').save('s', 'md', words)).rejects.toMatchObject({ code: 'network' });
});
