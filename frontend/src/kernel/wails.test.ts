import { afterEach, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { WailsTransport } from './wails';

const page = globalThis as unknown as { go?: { desktop: Record<string, Record<string, () => Promise<string>>> } };

afterEach(() => delete page.go);

it('finds each call of the kernel among those that the window binds', async () => {
	const desktop: Record<string, Record<string, () => Promise<string>>> = {};
	const bound = readFileSync('../app/desktop/bindings_gen.go', 'utf8');
	for (const [, type, name] of bound.matchAll(/^func \(\w+ \*(\w+)\) ([A-Z]\w*)\(/gm))
		(desktop[type!] ??= {})[name!] = () => Promise.resolve('"found"');
	page.go = { desktop };
	const calls = [...readFileSync('src/kernel/api.gen.ts', 'utf8').matchAll(/t\.call\('([\w.]+)'/g)].map((m) => m[1]!);
	expect(calls.length).toBeGreaterThan(80);
	const answers = await Promise.all(
		calls.map((method) => new WailsTransport().call(method, []).catch((e: Error) => `${method}: ${e.message}`)),
	);
	expect(answers.filter((a) => a !== 'found')).toEqual([]);
});
