import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { STILL } from './still.svelte';
import { standing } from './still.fake';

const ends: (() => void)[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	ends.splice(0).forEach((end) => end());
	document.body.replaceChildren();
	vi.useRealTimers();
});

function card(kind: 'card' | 'question' = 'card') {
	const s = standing(kind);
	const at = document.body.appendChild(document.createElement('section'));
	const button = at.appendChild(document.createElement('button'));
	button.dataset.answers = '';
	const answered = vi.fn();
	button.addEventListener('click', answered);
	ends.push(s.still.watch(at));
	const press = () => button.dispatchEvent(new MouseEvent('pointerdown', { bubbles: true }));
	const click = () => button.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 }));
	const key = (type: string, repeat = false) =>
		button.dispatchEvent(new KeyboardEvent(type, { code: 'Enter', key: 'Enter', bubbles: true, repeat }));
	return { ...s, at, button, answered, press, click, key, remove: () => ends.pop()!() };
}

describe('what asks for a yes', () => {
	it('opens when it has stood still for its time, and not a moment before', () => {
		const c = card();
		c.wait(STILL - 1);
		expect(c.still.open).toBe(false);
		c.wait(1);
		expect(c.still.open).toBe(true);
	});

	it.each(['pressed before', 'pressed after'])('hears a click that was %s it opened accordingly', (when) => {
		const c = card();
		c.wait(STILL - 10);
		if (when === 'pressed before') c.press();
		c.wait(20);
		expect(c.still.open).toBe(true);
		if (when === 'pressed after') c.press();
		c.click();
		expect(c.answered).toHaveBeenCalledTimes(when === 'pressed after' ? 1 : 0);
	});

	it('does not hear a press that waited for the page', () => {
		const c = card();
		c.stand();
		c.eyes.when = () => STILL - 1;
		c.press();
		c.click();
		expect(c.answered).not.toHaveBeenCalled();
	});

	it('does not hear a key that is held down from before, however long', () => {
		const c = card();
		c.key('keydown');
		c.stand();
		for (let i = 0; i < 20; i++) {
			c.key('keydown', true);
			c.button.click();
			c.wait(30);
		}
		expect(c.answered).not.toHaveBeenCalled();
		c.key('keyup');
		vi.advanceTimersByTime(1);
		c.stand();
		c.key('keydown');
		c.button.click();
		expect(c.answered).toHaveBeenCalledOnce();
	});

	it.each(['held down', 'let go'])('does not hear a key from before it was in the page that is %s', (how) => {
		const c = card();
		c.stand();
		c.key(how === 'let go' ? 'keyup' : 'keydown', how !== 'let go');
		c.button.click();
		expect(c.answered).not.toHaveBeenCalled();
	});

	it('hears the click of a screen reader, which has no press and no key, once it is open', () => {
		const c = card();
		c.button.click();
		expect(c.answered).not.toHaveBeenCalled();
		c.stand();
		c.button.click();
		expect(c.answered).toHaveBeenCalledOnce();
	});

	it.each([
		['moves', (c: ReturnType<typeof card>) => (c.eyes.where = 'there')],
		['is covered', (c: ReturnType<typeof card>) => (c.eyes.where = undefined)],
		['is in a window behind another', (c: ReturnType<typeof card>) => (c.eyes.fronted = false)],
		['asks for something else', (c: ReturnType<typeof card>) => c.still.moved()],
	])('waits for its whole time again when it %s', (_, happens) => {
		const c = card();
		c.stand();
		happens(c);
		c.press();
		c.click();
		expect(c.still.open).toBe(false);
		Object.assign(c.eyes, { where: 'there', fronted: true });
		c.wait(1);
		c.wait(STILL - 2);
		c.press();
		c.wait(2);
		c.click();
		expect(c.answered).not.toHaveBeenCalled();
		c.press();
		c.click();
		expect(c.answered).toHaveBeenCalledOnce();
	});

	it('does not hear a press at a place that it took unseen', () => {
		const c = card();
		c.stand();
		c.press();
		c.eyes.where = 'there';
		c.click();
		expect(c.answered).not.toHaveBeenCalled();
	});

	it('does not count the time in which the page hung', () => {
		const c = card();
		c.eyes.at += 10 * STILL;
		c.still.look();
		expect(c.still.open).toBe(false);
		c.stand();
		expect(c.still.open).toBe(true);
	});

	it('is open only as the first of several, and the next one waits for its own time', () => {
		const [a, b] = [card(), card()];
		const both = (ms: number) => {
			for (; ms > 0; ms -= 100) [a, b].forEach((c) => c.wait(Math.min(ms, 100)));
		};
		both(2 * STILL);
		expect([a.still.open, b.still.open]).toEqual([true, false]);
		ends.shift()!();
		both(STILL - 100);
		expect(b.still.open).toBe(false);
		both(200);
		expect(b.still.open).toBe(true);
	});

	it('leaves everything else in the page alone', () => {
		const c = card();
		const other = document.body.appendChild(document.createElement('button'));
		const clicked = vi.fn();
		other.addEventListener('click', clicked);
		other.click();
		expect(clicked).toHaveBeenCalledOnce();
		expect(c.still.open).toBe(false);
	});
});
