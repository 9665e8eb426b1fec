import { afterEach, describe, expect, it, vi } from 'vitest';
import { signIn } from './socket';
import { Failure, callTimeout, failureOf, timed } from './transport';
import { WailsTransport } from './wails';

afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

describe('failures', () => {
	it('reads the JSON that the window hands over', () => {
		const f = failureOf(new Error('{"code":"auth","message":"No.","hint":"Try again."}'));
		expect([f.code, f.message, f.hint]).toEqual(['auth', 'No.', 'Try again.']);
	});
	it('keeps any other text as it is', () => {
		expect(failureOf('boom').message).toBe('boom');
	});
	it('a call that nobody answers ends', async () => {
		vi.useFakeTimers();
		const call = timed('state.session', new Promise(() => {}));
		const ended = expect(call).rejects.toMatchObject({ code: 'timeout' });
		await vi.advanceTimersByTimeAsync(30_001);
		await ended;
	});
	it('waiting for a run has no limit', () => {
		expect(callTimeout('agents.wait')).toBeUndefined();
	});
});

describe('the window', () => {
	it('calls the method of the wrapper with JSON and reads JSON', async () => {
		const Submit = vi.fn(async () => '{"run_id":"r"}');
		vi.stubGlobal('go', { desktop: { Agents: { Submit } } });
		await expect(new WailsTransport().call('agents.submit', [{ text: 'x' }])).resolves.toEqual({ run_id: 'r' });
		expect(Submit).toHaveBeenCalledWith('[{"text":"x"}]');
	});
	it('says which call is missing', async () => {
		vi.stubGlobal('go', { desktop: {} });
		await expect(new WailsTransport().call('infra.nothing', [])).rejects.toBeInstanceOf(Failure);
	});
	it('hands events over in order, and a deep link at once', () => {
		const heard: Record<string, (text: string) => void> = {};
		vi.stubGlobal('runtime', { EventsOn: (name: string, fn: (t: string) => void) => ((heard[name] = fn), () => {}) });
		vi.stubGlobal('go', { desktop: { Events: { Subscribe: vi.fn(async () => '') } } });
		const got: string[] = [];
		new WailsTransport().subscribe(
			0,
			(e) => got.push(`${e.kind}${e.seq}`),
			() => {},
		);
		heard['oxios:event']!('{"seq":1,"kind":"a"}');
		heard['oxios:event']!('{"seq":3,"kind":"c"}');
		heard['oxios:open']!('s-1');
		heard['oxios:event']!('{"seq":2,"kind":"b"}');
		expect(got).toEqual(['a1', 'open0', 'b2', 'c3']);
	});
});

describe('signing in', () => {
	const place = (hash: string) => ({ hash, pathname: '/', search: '' }) as Location;

	it('exchanges the code once and takes it out of the address', async () => {
		localStorage.clear();
		const fetch = vi.fn(async () => new Response('{"secret":"s3"}'));
		vi.stubGlobal('fetch', fetch);
		const history = { replaceState: vi.fn() } as unknown as History;
		expect(await signIn(place('#code=abc'), localStorage, history)).toBe('s3');
		expect(history.replaceState).toHaveBeenCalledWith(null, '', '/');
		expect(await signIn(place(''), localStorage, history)).toBe('s3');
		expect(fetch).toHaveBeenCalledTimes(1);
	});

	it('has nothing without a code and without a secret', async () => {
		localStorage.clear();
		expect(await signIn(place(''), localStorage, {} as History)).toBeUndefined();
	});
});
