import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SocketTransport } from './socket';
import type { Link } from './transport';

/** Wire is the other end of a WebSocket, held by the test. */
class Wire {
	static all: Wire[] = [];
	static readonly OPEN = 1;
	readyState = 0;
	sent: Record<string, unknown>[] = [];
	onopen = () => {};
	onmessage = (_: { data: string }) => {};
	onclose = (_: { code: number }) => {};
	constructor(readonly url: string) {
		Wire.all.push(this);
	}
	send(text: string) {
		this.sent.push(JSON.parse(text) as Record<string, unknown>);
	}
	close() {}
	open() {
		this.readyState = 1;
		this.onopen();
	}
	say(frame: unknown) {
		this.onmessage({ data: JSON.stringify(frame) });
	}
	drop(code = 1006) {
		this.readyState = 3;
		this.onclose({ code });
	}
}

beforeEach(() => {
	Wire.all = [];
	vi.useFakeTimers();
	vi.stubGlobal('WebSocket', Wire);
	localStorage.setItem('oxios.secret', 's');
});
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

async function setup() {
	const links: Link[] = [];
	const events: number[] = [];
	const t = new SocketTransport('s', { protocol: 'http:', host: '127.0.0.1:7777' } as Location);
	t.subscribe(
		0,
		(e) => events.push(e.seq),
		(l) => links.push(l),
	);
	const wire = () => Wire.all.at(-1)!;
	const up = async () => {
		wire().open();
		wire().say({ ready: true });
		await vi.advanceTimersByTimeAsync(0);
	};
	return { t, links, events, wire, up };
}

it('proves itself before anything else, and then follows the events', async () => {
	const { wire, up } = await setup();
	expect(wire().url).toBe('ws://127.0.0.1:7777/ws');
	await up();
	expect(wire().sent[0]).toEqual({ auth: 's' });
	expect(wire().sent[1]).toMatchObject({ method: 'infra.events', args: ['0'] });
});

it('answers calls by their number', async () => {
	const { t, wire, up } = await setup();
	await up();
	const a = t.call('infra.status', []);
	const b = t.call('state.session', ['x']);
	await vi.advanceTimersByTimeAsync(0);
	const [, , first, second] = wire().sent as { id: number }[];
	wire().say({ id: second!.id, error: { code: 'not_found', message: 'Gone.' } });
	wire().say({ id: first!.id, result: { version: '1' } });
	await expect(a).resolves.toEqual({ version: '1' });
	await expect(b).rejects.toMatchObject({ code: 'not_found' });
});

it('comes back after a break and goes on behind the last event', async () => {
	const { events, links, wire, up } = await setup();
	await up();
	wire().say({ event: { seq: 41, kind: 'x' } });
	wire().say({ event: { seq: 42, kind: 'x' } });
	wire().drop();
	expect(links.at(-1)).toBe('lost');
	await vi.advanceTimersByTimeAsync(300);
	expect(Wire.all).toHaveLength(2);
	await up();
	expect(links.at(-1)).toBe('open');
	expect(wire().sent[1]).toMatchObject({ method: 'infra.events', args: ['42'] });
	expect(events).toEqual([41, 42]);
});

it('ends the calls of a connection that broke', async () => {
	const { t, wire, up } = await setup();
	await up();
	const call = expect(t.call('infra.status', [])).rejects.toMatchObject({ code: 'network' });
	await vi.advanceTimersByTimeAsync(0);
	wire().drop();
	await call;
});

it('does not knock again where it was not let in', async () => {
	const { links, wire } = await setup();
	wire().open();
	wire().drop(4401);
	await vi.advanceTimersByTimeAsync(60_000);
	expect(links.at(-1)).toBe('refused');
	expect(Wire.all).toHaveLength(1);
	expect(localStorage.getItem('oxios.secret')).toBeNull();
});
