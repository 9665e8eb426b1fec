import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Paced } from './paced';
import type { Event } from './transport';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const event = (seq: number): Event => ({ seq, time: '', kind: 'message' });

it('passes a few events on at once', () => {
	const got: number[] = [];
	const paced = new Paced((e) => got.push(e.seq));
	[1, 2, 3].forEach((n) => paced.receive(event(n)));
	expect(got).toEqual([1, 2, 3]);
});

it('tells what comes faster than it can be drawn together, in its order, and loses nothing', async () => {
	const batches: number[][] = [[]];
	const paced = new Paced((e) => batches.at(-1)!.push(e.seq));
	for (let n = 0; n < 1000; n++) {
		paced.receive(event(n));
		if (n % 10 === 9) {
			await vi.advanceTimersByTimeAsync(2);
			if (batches.at(-1)!.length > 0) batches.push([]);
		}
	}
	await vi.advanceTimersByTimeAsync(1000);
	expect(batches.flat()).toEqual(Array.from({ length: 1000 }, (_, n) => n));
	expect(batches.length).toBeLessThan(30);
});

it('rests as long as a drawing took', async () => {
	let told = 0;
	const paced = new Paced(() => {
		told++;
		vi.setSystemTime(Date.now() + 20); // the page works
	});
	const now = vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
	for (let n = 0; n < 10; n++) paced.receive(event(n));
	expect(told).toBe(4);
	await vi.advanceTimersByTimeAsync(60);
	expect(told).toBe(4);
	await vi.advanceTimersByTimeAsync(60);
	expect(told).toBe(10);
	now.mockRestore();
});

it('goes on in a window that nobody sees', async () => {
	const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
	const got: number[] = [];
	const paced = new Paced((e) => got.push(e.seq));
	for (let n = 0; n < 10; n++) paced.receive(event(n));
	await vi.advanceTimersByTimeAsync(500);
	expect(got).toHaveLength(10);
	hidden.mockRestore();
});
