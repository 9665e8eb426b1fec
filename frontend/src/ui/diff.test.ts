import { expect, it } from 'vitest';
import { parseDiff } from './diff';

it('numbers removed lines by the old file and the others by the new one', () => {
	const lines = parseDiff('--- a/x\n+++ b/x\n@@ -4,3 +4,3 @@\n same\n-old\n+new\n end\n');
	expect(lines).toEqual([
		{ kind: 'same', number: 4, text: 'same' },
		{ kind: 'del', number: 5, text: 'old' },
		{ kind: 'add', number: 5, text: 'new' },
		{ kind: 'same', number: 6, text: 'end' },
	]);
});

it('puts a gap between hunks and drops the note about a missing newline', () => {
	const lines = parseDiff('@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -9 +9 @@\n-c\n+d\n');
	expect(lines.map((l) => l.kind)).toEqual(['del', 'add', 'gap', 'del', 'add']);
});

it('shows removed lines that begin with dashes', () => {
	expect(parseDiff('@@ -1 +0,0 @@\n--- not a header\n')[0]).toEqual({
		kind: 'del',
		number: 1,
		text: '-- not a header',
	});
});
