import { beforeEach, expect, it } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { linesOf, MemoryFile } from './import.svelte';

let transport: FakeTransport, file: MemoryFile;
const jsonl = (...lines: unknown[]) =>
	new File([lines.map((l) => (typeof l === 'string' ? l : JSON.stringify(l))).join('\n')], 'memories.jsonl');

beforeEach(() => {
	transport = new FakeTransport({ pace: 0 });
	file = new MemoryFile(makeKernel(transport));
});

it('says what would come in before anything is written, and then what did', async () => {
	const known = transport.world.memories[0]!;
	const before = transport.world.memories.length;
	await file.look(
		jsonl({ id: known.id, text: known.text }, { text: 'Rides a bicycle' }, '', { text: 'Tea', space: 'Sea' }),
	);
	expect(file.plan).toEqual({ added: 2, changed: 0, same: 1, spaces: ['Sea'], wrong: [] });
	expect(transport.world.memories).toHaveLength(before);
	expect(file.ready).toBe(true);
	await file.run();
	expect(file.done).toEqual({ added: 2, changed: 0, spaces: ['Sea'] });
	expect(transport.world.memories).toHaveLength(before + 2);
});

it('names each line that cannot come in, and imports nothing', async () => {
	await file.look(jsonl({ text: 'right' }, 'no json', '', { text: ' ' }, '[1]', { text: 7 }));
	expect(file.plan?.wrong.map((w) => w.line)).toEqual([2, 4, 5, 6]);
	expect(file.ready).toBe(false);
});

it('goes to the kernel in pieces, and their lines are still the ones of the file', async () => {
	const lines = Array.from({ length: 1100 }, (_, i) => ({ text: i === 1050 ? ' ' : `memory ${i}` }));
	await file.look(jsonl(...lines));
	expect(transport.calls.filter((c) => c.method === 'memory.importPreview')).toHaveLength(3);
	expect(file.plan?.wrong.map((w) => w.line)).toEqual([1051]);
	expect(file.plan?.added).toBe(1099);
});

it('reads what an export wrote', async () => {
	const text = (await makeKernel(transport).memory.export('')).text;
	const { all, wrong } = linesOf(text);
	expect(wrong).toEqual([]);
	expect(all).toHaveLength(transport.world.memories.length);
});
