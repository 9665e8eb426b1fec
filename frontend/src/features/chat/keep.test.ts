import { beforeEach, expect, it } from 'vitest';
import { makeKernel, type Kernel, type Message } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { i18n } from '../../ui/i18n/index.svelte';
import { keepAnswer } from './keep';

let transport: FakeTransport, kernel: Kernel, answer: Message;

beforeEach(() => {
	i18n.set('en');
	transport = new FakeTransport({ pace: 0 });
	kernel = makeKernel(transport);
	answer = transport.world.messages.find((m) => m.run_id === 'r-parser' && m.role === 'assistant')!;
});

it('an answer becomes a note that knows the conversation it is from', async () => {
	const path = await keepAnswer(kernel, answer, 'Fix the parser: dates/times');
	expect(path).toBe('Answers/Fix the parser dates times.md');
	const note = await kernel.knowledge.read(path);
	expect(note.text).toContain('# Fix the parser: dates/times\n\n');
	expect(note.text).toContain(answer.content);
	expect(note.provenance).toMatchObject({ run: 'r-parser', session: 's-parser', source: [] });
});

it('one with a heading is called by it, and a second of that name gets a number', async () => {
	const said = { ...answer, content: '## What *came* of it\n\nAll of it.' };
	expect(await keepAnswer(kernel, said, 'x')).toBe('Answers/What came of it.md');
	expect(await keepAnswer(kernel, said, 'x')).toBe('Answers/What came of it 2.md');
	expect((await kernel.knowledge.read('Answers/What came of it 2.md')).text).toMatch(/---\n## What/);
});
