import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Paced } from './paced';
import type { Event } from './transport';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.restoreAllMocks();
	vi.useRealTimers();
});

const event = (seq: number): Event => ({ seq, time: '', kind: 'message' });

/** slow is a page that works 20 ms for each event. */
function slow(onevent: (e: Event) => void) {
	vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
	return new Paced((e) => {
		onevent(e);
		vi.setSystemTime(Date.now() + 20);
	});
}

it('passes on at once what a page can draw', () => {
	const got: number[] = [];
	const paced = new Paced((e) => got.push(e.seq));
	for (let n = 0; n < 10; n++) paced.receive(event(n));
	expect(got).toHaveLength(10);
});

it('tells what comes faster than it can be drawn together, in its order, and loses nothing', async () => {
	const got: number[] = [];
	const paced = slow((e) => got.push(e.seq));
	for (let n = 0; n < 100; n++) paced.receive(event(n));
	expect(got).toEqual([0, 1]);
	await vi.advanceTimersByTimeAsync(60);
	expect(got, 'it rests as long as the drawing took').toHaveLength(2);
	await vi.advanceTimersByTimeAsync(60);
	expect(got).toEqual(Array.from({ length: 100 }, (_, n) => n));
	await vi.advanceTimersByTimeAsync(1000);
	paced.receive(event(100));
	expect(got.at(-1)).toBe(100);
});

it('goes on in a window that nobody sees', async () => {
	vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
	const got: number[] = [];
	const paced = slow((e) => got.push(e.seq));
	for (let n = 0; n < 10; n++) paced.receive(event(n));
	await vi.advanceTimersByTimeAsync(500);
	expect(got).toHaveLength(10);
});

it('goes on in a window that is no longer drawn', async () => {
	vi.spyOn(window, 'requestAnimationFrame').mockReturnValue(1);
	const got: number[] = [];
	const paced = slow((e) => got.push(e.seq));
	for (let n = 0; n < 10; n++) paced.receive(event(n));
	await vi.advanceTimersByTimeAsync(1500);
	expect(got).toHaveLength(10);
});
