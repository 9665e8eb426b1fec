import { beforeEach, expect, it } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { WebPage } from './web.svelte';

let transport: FakeTransport, live: Live, page: WebPage;

beforeEach(async () => {
	transport = new FakeTransport({ pace: 0 });
	live = new Live(makeKernel(transport), transport);
	live.start();
	await live.load();
	page = new WebPage(live);
	await page.load();
});

it('a service that needs a key is used once it has one, which is in no setting', async () => {
	page.pick('brave');
	expect([page.needsKey, page.whole]).toEqual([true, false]);
	page.key = ' secret-1 ';
	expect(await page.save()).toBe(true);
	expect(page.service).toEqual({ kind: 'brave', url: '', key: true });
	expect(page.key).toBe('');
	expect(JSON.stringify(live.config)).not.toContain('secret-1');
	expect(page.changed).toBe(false);
	await page.forget();
	expect(page.service?.key).toBe(false);
});

it('an instance of one’s own needs its address, and another service does not get it', async () => {
	page.pick('searxng');
	page.url = 'my box';
	expect(page.whole).toBe(false);
	page.url = 'http://127.0.0.1:8888';
	await page.save();
	expect(live.setting('search_url')).toBe('http://127.0.0.1:8888');
	page.pick('duckduckgo');
	await page.save();
	expect([live.setting('search_service'), live.setting('search_url')]).toEqual(['duckduckgo', '']);
});

it('a test searches, and says what was found or what is wrong', async () => {
	await page.test('weather');
	expect(page.found).toHaveLength(3);
	expect(transport.calls.at(-1)).toEqual({ method: 'browser.search', args: [{ query: 'weather', count: 3 }] });
	page.words = 'nothing';
	await page.test('weather');
	expect(page.found).toEqual([]);
	page.pick('brave');
	page.key = 'wrong';
	await page.save();
	await page.test('weather');
	expect(page.failed?.code).toBe('auth');
});
