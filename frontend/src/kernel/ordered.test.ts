import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Ordered } from './ordered';
import type { Event } from './transport';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup(from = 0) {
	const got: number[] = [];
	const ordered = new Ordered((e) => got.push(e.seq), from);
	const push = (...seqs: number[]) => seqs.forEach((seq) => ordered.push({ seq, time: '', kind: 'step' } as Event));
	return { got, ordered, push };
}

it('delivers in order whatever comes first', () => {
	const { got, push } = setup(4);
	push(7, 6, 5, 8);
	expect(got).toEqual([5, 6, 7, 8]);
});

it('begins with the first number it sees', () => {
	const { got, push } = setup();
	push(90, 91);
	expect(got).toEqual([90, 91]);
});

it('delivers nothing twice', () => {
	const { got, push } = setup(4);
	push(5, 5, 6, 5);
	expect(got).toEqual([5, 6]);
});

it('waits for a missing number for a moment only', () => {
	const { got, push } = setup(4);
	push(5, 8, 7);
	expect(got).toEqual([5]);
	vi.advanceTimersByTime(500);
	expect(got).toEqual([5, 7, 8]);
});

it('knows where to go on after a break', () => {
	const { ordered, push } = setup(4);
	push(5, 6);
	expect(ordered.last).toBe(6);
});
