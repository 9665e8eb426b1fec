import { describe, expect, it } from 'vitest';
import { blocks, tabbed } from './markdown';

const html = (text: string) =>
	blocks(text)
		.map((b) => ('html' in b ? b.html : 'code' in b ? b.code : ''))
		.join('');

it.each([
	['a script', '<script>alert(1)</script>', '<script'],
	['an image tag', '<img src=x onerror=alert(1)>', '<img'],
	['an event handler', '<p onclick="alert(1)">x</p>', '<p onclick'],
	['a frame', '<iframe src="https://example.org"></iframe>', '<iframe'],
	['a style sheet', '<style>*{display:none}</style>', '<style'],
	['markup inside a list', '- <svg onload=alert(1)>', '<svg'],
	['markup inside a table', '| a |\n|---|\n| <object data=x> |', '<object'],
])('shows %s as text', (_, text, never) => {
	expect(html(text)).not.toContain(never);
});

it('never loads an image, and says so', () => {
	const out = html('![a chart](https://example.org/x.png?secret=1)');
	expect(out).not.toContain('<img');
	expect(out).not.toMatch(/\ssrc=/);
	expect(out).toContain('a chart');
});

it('makes no link that loads by itself', () => {
	const out = html('[guide](https://example.org/guide) and https://example.org/bare');
	expect(out).not.toContain('href');
	expect(out.match(/data-link/g)).toHaveLength(2);
});

it('drops addresses that are not of the web', () => {
	expect(html('[x](javascript:alert(1))')).not.toContain('javascript');
	expect(html('[x](data:text/html,boo)')).not.toContain('data-link');
	expect(html('[x](file:///etc/passwd)')).not.toContain('data-link');
});

it('keeps quotes in an address from becoming attributes', () => {
	const out = html('[x](https://example.org/"onmouseover="alert(1))');
	const box = document.createElement('div');
	box.innerHTML = out;
	expect(box.querySelector('[onmouseover]')).toBeNull();
});

it('takes finished blocks over while a text grows', () => {
	const first = blocks('One.\n\nTwo');
	const second = blocks('One.\n\nTwo words', first);
	expect(second[0]).toBe(first[0]);
	expect(second[1]).not.toBe(first[1]);
});

it('gives code with its language to its own component', () => {
	expect(blocks('```go title=x\nfunc main() {}\n```')).toEqual([
		{ raw: '```go title=x\nfunc main() {}\n```', code: 'func main() {}', lang: 'go' },
	]);
});

it('gives the cells of a table as they are shown, for a spreadsheet', () => {
	const [block] = blocks('| File | Size |\n|---|---:|\n| `a.txt` | **4** |\n| b \\| c | "5" |');
	expect(block).toMatchObject({
		rows: [
			['File', 'Size'],
			['a.txt', '4'],
			['b | c', '"5"'],
		],
	});
	expect(tabbed((block as { rows: string[][] }).rows)).toBe('File\tSize\na.txt\t4\nb | c\t"""5"""');
});

describe('a note', () => {
	const note = (text: string) => blocks(text, [], true);
	const html = (text: string) =>
		note(text)
			.map((b) => ('html' in b ? b.html : ''))
			.join('');

	it('has its embeds as blocks of their own, and the web only as links', () => {
		expect(note('![[a|300]]\n\n![x](b.png)\n\nwords ![[c]]').map((b) => ('embed' in b ? b.embed : ''))).toEqual([
			'![[a|300]]',
			'![x](b.png)',
			'',
		]);
		const far = html('![x](https://a.b/c.png)\n\n![y](data:image/png;base64,AA)');
		expect(far).toContain('data-link="https://a.b/c.png"');
		expect(far).not.toContain('<img');
	});

	it('has links to other notes, which stay text elsewhere', () => {
		expect(html('See [[a#b|that]] and [c](d.md).')).toMatch(
			/data-note="\[\[a#b\|that\]\]">that<.*data-note="\[c\]\(d\.md\)">c</,
		);
		document.body.innerHTML = html('[[a"><img src=x onerror=alert(1)>]]');
		expect(document.querySelectorAll('img, [onerror]')).toHaveLength(0);
		expect(blocks('See [[a]].').map((b) => ('html' in b ? b.html : ''))).toEqual(['See [[a]].\n']);
	});
});
