import { describe, expect, it } from 'vitest';
import { makeKernel, type Reached } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { larger, proposed, raise } from './limit';

const reached = (of: Partial<Reached>): Reached => ({
	run_id: 'r',
	session_id: 's',
	scope: 'day',
	kind: 'usd',
	limit: 5,
	used: 4.99,
	needs: 0.03,
	message: '',
	since: '',
	...of,
});

describe('the limit that is proposed', () => {
	it.each([
		[{}, '10.00'],
		[{ limit: 0, used: 0, needs: 0.03 }, '0.06'],
		[{ limit: 0.5, used: 0.4, needs: 2 }, '4.40'],
		[{ kind: 'calls', limit: 1, used: 1, needs: 1 }, '3'],
		[{ kind: 'tokens', limit: 0, used: 0, needs: 21_000.5 }, '42001'],
	])('for %o is %s, which raises it', (of, want) => {
		const r = reached(of);
		expect(proposed(r)).toBe(want);
		expect(larger(r, proposed(r))).toBeGreaterThanOrEqual(r.used + r.needs);
	});

	it.each(['', 'much', '5', '4', '-9', 'Infinity', 'NaN'])('is not %o', (text) => {
		expect(larger(reached({}), text)).toBeUndefined();
	});

	it('is read as people write it', () => {
		expect(larger(reached({}), ' $7.50 ')).toBe(7.5);
		expect(larger(reached({ kind: 'tokens', limit: 10 }), '1,000,000')).toBe(1_000_000);
		expect(larger(reached({ kind: 'tokens', limit: 10 }), '11.5')).toBeUndefined();
	});
});

it('a raise keeps the other limits of its scope', async () => {
	const fake = new FakeTransport({ pace: 0 });
	const kernel = makeKernel(fake);
	await kernel.infra.setBudget({ scope: 'day', usd: 5, calls: 40 });
	await raise(kernel, reached({}), 8);
	expect((await kernel.infra.budget()).day.limits).toEqual({ usd: 8, calls: 40 });
	await raise(kernel, reached({ kind: 'calls', limit: 40 }));
	expect((await kernel.infra.budget()).day.limits).toEqual({ usd: 8 });
});
