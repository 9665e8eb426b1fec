import File from '@lucide/svelte/icons/file';
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Kernel, Mentions } from '../../kernel/api.gen';
import { i18n } from '../../ui/i18n/index.svelte';
import { Suggest, type Command } from './suggest.svelte';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
	i18n.set('en');
});

const entry = (id: string, more: Partial<Command> = {}): Command => ({ id, title: id, icon: File, ...more });
const offered = [
	entry('shortcuts'),
	entry('mode', { page: 'mode' }),
	entry('model', { page: 'model' }),
	entry('new'),
	entry('session:1', { title: 'model of something' }),
	entry('mode:ask', { title: 'Permission mode: Ask', within: 'mode' }),
	entry('mode:guarded', { title: 'Permission mode: Guarded', within: 'mode', current: true }),
	entry('model:a/b', { title: 'qwen/qwen3', within: 'model' }),
];

function setup(answer: (words: string) => Partial<Mentions> | Promise<Partial<Mentions>> = () => ({})) {
	const asked: string[] = [];
	const kernel = {
		exec: {
			mentions: async (q: { words: string }) => {
				asked.push(q.words);
				return { paths: [], more: false, cut: false, names: 0, ...(await answer(q.words)) };
			},
		},
	} as unknown as Kernel;
	const s = new Suggest(
		kernel,
		() => '~/Oxios',
		() => offered,
	);
	const type = async (text: string, ms = 100) => {
		s.look(text, text.length);
		await vi.advanceTimersByTimeAsync(ms);
		flushSync();
		return s.rows.map((r) => r.text);
	};
	return { s, asked, type };
}

describe('files', () => {
	const paths = ['main/other.md', 'src/main.go', '제주/보고서.hwp'];

	it('come as the kernel has them until something is typed, then the name first', async () => {
		const { type } = setup(() => ({ paths }));
		expect(await type('@')).toEqual(paths);
		expect(await type('@main')).toEqual(['src/main.go', 'main/other.md']);
		expect(await type('@src/m')).toEqual(['src/main.go']);
		expect(await type('@ㅂㄱㅅ')).toEqual(['제주/보고서.hwp']);
	});

	it('are asked for once when all that can fit is here, and again when there is more', async () => {
		const all = setup(() => ({ paths }));
		for (const text of ['@', '@m', '@ma', '@mai']) await all.type(text);
		expect(all.asked).toEqual(['']);
		const some = setup(() => ({ paths, more: true }));
		for (const text of ['@', '@m', '@ma']) await some.type(text);
		expect(some.asked).toEqual(['', 'm', 'ma']);
	});

	it('are not asked for with every key of a quick hand', async () => {
		const { type, asked } = setup(() => ({ paths, more: true }));
		await type('@');
		for (const text of ['@m', '@ma', '@mai', '@main']) await type(text, 20);
		await type('@main.', 100);
		expect(asked).toEqual(['', 'main.']);
	});

	it('are those of the newest question, whatever comes late', async () => {
		const { s, type } = setup(
			(words) =>
				new Promise((done) => setTimeout(() => done({ paths: [`x${words}`], more: true }), words === 'x' ? 500 : 10)),
		);
		await type('@x');
		await type('@xy');
		await vi.advanceTimersByTimeAsync(1000);
		expect(s.rows.map((r) => r.text)).toEqual(['xxy']);
	});

	it('show a name that a Mac wrote in parts as one that can be found, and mention it as it is', async () => {
		const path = '보고서.hwp'.normalize('NFD');
		const { s, type } = setup(() => ({ paths: [path] }));
		expect(await type('@보고')).toEqual(['보고서.hwp']);
		expect(s.rows[0]!.id).toBe(path);
	});

	it('say what went wrong, and that there is none', async () => {
		const { s, type } = setup(() => Promise.reject(new Error('gone')));
		await type('@');
		expect([s.open, s.failure?.message]).toEqual([true, 'gone']);
		const bare = setup();
		await bare.type('@');
		expect([bare.s.open, bare.s.nothing]).toEqual([true, true]);
		await bare.type('@x');
		expect(bare.s.open).toBe(false);
	});

	it('stay away after Esc, until another mention begins', async () => {
		const { s, type } = setup(() => ({ paths }));
		await type('@m');
		s.close();
		await type('@ma');
		expect(s.open).toBe(false);
		await type('@ma @');
		expect(s.open).toBe(true);
	});
});

describe('commands', () => {
	it('are a few, in an order of their own', async () => {
		const { type } = setup();
		expect(await type('/')).toEqual(['new', 'model', 'mode', 'help']);
		expect(await type('/mo')).toEqual(['mode', 'model']);
		expect(await type('/session')).toEqual([]);
	});

	it('are found in both languages, whichever is shown', async () => {
		const { type } = setup();
		expect(await type('/권한')).toEqual(['mode']);
		i18n.set('ko');
		expect(await type('/')).toEqual(['새대화', '모델', '권한', '도움말']);
		expect(await type('/ㅅㄷ')).toEqual(['새대화']);
		expect(await type('/help')).toEqual(['도움말']);
		expect(await type('/권한 ')).toHaveLength(2);
	});

	it('go on to what can be chosen, with what is in force chosen', async () => {
		const { s, type } = setup();
		expect(await type('/mode ')).toEqual(['Permission mode: Ask', 'Permission mode: Guarded']);
		expect(s.chosen?.id).toBe('mode:guarded');
		await type('/mode ask');
		expect(s.chosen?.id).toBe('mode:ask');
		expect(await type('/model qwen/q')).toEqual(['qwen/qwen3']);
		expect(await type('/new thing')).toEqual([]);
	});

	it('are no path of a machine', async () => {
		const { type } = setup();
		const top = 'bin boot dev etc home lib lib64 media mnt opt proc root run sbin srv sys tmp usr var Users Volumes';
		for (const name of top.split(' ')) {
			for (const language of ['en', 'ko'] as const) {
				i18n.set(language);
				expect(await type(`/${name}`), name).toEqual([]);
				expect(await type(`/${name}/x`), name).toEqual([]);
			}
		}
	});
});

describe('what servers have', () => {
	const resource = { server: 'notes', uri: 'notes://today', name: 'Today' };
	const prompt = { server: 'notes', name: 'weekly', call: 'notes:weekly', title: 'Weekly review' };
	function withServers() {
		const all = setup(() => ({ paths: ['todo.md'] }));
		all.s.resources = [resource, { ...resource, uri: 'notes://day', name: 'A day' }];
		all.s.prompts = [prompt];
		return all;
	}

	it('stands beside files and commands', async () => {
		const { s, type } = withServers();
		expect(await type('@')).toEqual(['todo.md', 'Today', 'A day']);
		expect((await type('@notes://day'))[0]).toBe('A day');
		expect((await type('@today'))[0]).toBe('Today');
		expect(s.chosen!.resource).toEqual(resource);
		expect(await type('/week')).toEqual(['notes:weekly']);
		expect(s.chosen!.prompt).toEqual(prompt);
		expect(await type('/notes:weekly topic')).toEqual([]);
	});
});
