import { CompletionContext } from '@codemirror/autocomplete';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { ensureSyntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel, type Kernel } from '../../kernel/api.gen';
import { PART } from '../../kernel/handed';
import { FakeTransport } from '../../kernel/fake/transport';
import { place, type Names } from './complete';
import { linksIn } from './embedding';
import { altIn, Embeds, sizeIn } from './embeds.svelte';
import { attach, nameOfGiven, read, stampOf } from './files';

const PNG = 'iVBORw0KGgo=';
let transport: FakeTransport, kernel: Kernel;
const calls = (method: string) => transport.calls.filter((c) => c.method === method);

beforeEach(() => {
	transport = new FakeTransport({ pace: 0 });
	kernel = makeKernel(transport);
	URL.createObjectURL = vi.fn(() => `blob:${Math.random()}`);
	URL.revokeObjectURL = vi.fn();
});

describe('a file that is handed over', () => {
	const at = new Date(2026, 10, 4, 9, 5, 7);
	const named = (name: string, type = 'image/png') => nameOfGiven(new File(['x'], name, { type }), at, (s) => `P ${s}`);

	it('keeps its name, and a picture without one is called by the moment', () => {
		expect(stampOf(at)).toBe('20261104090507');
		expect(named('image.png')).toBe('P 20261104090507.png');
		expect(named('clipboard.png', 'image/jpeg')).toBe('P 20261104090507.jpg');
		expect(named('sea.png')).toBe('sea.png');
		expect(named('image.bin', 'text/plain')).toBe('image.bin');
		expect(nameOfGiven('C:\\me\\plan.pdf', at, String)).toBe('plan.pdf');
	});

	it('goes to the kernel whole when it is small, and in parts when it is large', async () => {
		expect((await attach(kernel, new File(['x'], 'a.txt'), 'a.txt')).path).toBe('attachments/a.txt');
		expect(calls('knowledge.attachPart')).toHaveLength(0);
		const large = new File([new Uint8Array(2 * PART + 10)], 'b.bin');
		expect((await attach(kernel, large, 'b.bin')).path).toBe('attachments/b.bin');
		expect(calls('knowledge.attachPart').map((c) => c.args[3])).toEqual([0, PART, 2 * PART]);
		expect((await read(kernel, 'attachments/b.bin')).size).toBe(large.size);
		expect((await attach(kernel, '/home/me/c.pdf', 'c.pdf')).path).toBe('attachments/c.pdf');
		await expect(attach(kernel, new File([], 'd.txt'), 'd.txt')).rejects.toThrow('d.txt is empty');
	});
});

describe('the embeds of a text', () => {
	const found = (doc: string) => {
		const state = EditorState.create({ doc, extensions: markdown({ base: markdownLanguage }) });
		ensureSyntaxTree(state, doc.length, 5000);
		return linksIn(state).map((l) => l.source);
	};

	it('are links to files of the vault, wherever they stand but in code', () => {
		expect(found('![[a]] and ![b](c/d.png "t")\n- ![[e#f|300]] ![g](<h i.png>) ![x](y(1).png)')).toEqual([
			'![[a]]',
			'![b](c/d.png "t")',
			'![[e#f|300]]',
			'![g](<h i.png>)',
			'![x](y(1).png)',
		]);
		expect(found('`![[a]]`\n\n```\n![[b]]\n```\n\n[[c]] <!-- ![[d]] -->')).toEqual([]);
		expect(found('---\nx: "![[a]]"\n---\n![[b]]')).toEqual(['![[b]]']);
	});

	it('never load a picture of the web', () => {
		const far = ['https://a.b/c.png', 'http://x', '//a/b.png', '<https://a.b/c d.png>', 'data:image/png;base64,AA'];
		expect(found(far.map((u) => `![x](${u})`).join('\n\n'))).toEqual([]);
	});

	it('say how large a picture is to be, and what it is called', () => {
		expect(sizeIn('![[a.png|300]]')).toEqual({ width: 300 });
		expect(sizeIn('![sea|30x20](a.png)')).toEqual({ width: 30, height: 20 });
		expect(sizeIn('![[a 300.png]]')).toEqual({});
		expect(['![[a.png|300]]', '![[a.png|the sea]]', '![sea|300](a.png)', '![](a.png)'].map(altIn)).toEqual([
			'',
			'the sea',
			'sea',
			'',
		]);
	});
});

describe('what an embed shows', () => {
	const settled = async (e: { got?: unknown }) => vi.waitFor(() => expect(e.got).toBeTruthy());

	it('is read once, and again when the file changed', async () => {
		const embeds = new Embeds(kernel);
		const e = embeds.of('a.md', '![[WAL]]');
		await settled(e);
		expect(embeds.of('a.md', '![[WAL]]')).toBe(e);
		embeds.refresh((await kernel.knowledge.tree()) ?? []);
		transport.vault.outside('reading/WAL.md', 'Other words.\n');
		embeds.refresh((await kernel.knowledge.tree()) ?? []);
		await vi.waitFor(() => expect(e.got?.text).toBe('Other words.'));
	});

	it('appears when it is made, and a picture is fetched once for all that show it', async () => {
		const embeds = new Embeds(kernel);
		const e = embeds.of('a.md', '![[sea.png]]');
		await settled(e);
		expect([e.got?.missing, e.url]).toEqual(['file', '']);
		await kernel.knowledge.attach({ name: 'sea.png', data: PNG });
		embeds.refresh((await kernel.knowledge.tree()) ?? []);
		await vi.waitFor(() => expect(e.url).toMatch(/^blob:/));
		const again = embeds.of('b.md', '![x](sea.png)');
		await settled(again);
		expect(again.url).toBe(e.url);
		expect(calls('knowledge.file')).toHaveLength(1);
		embeds.close();
		await vi.waitFor(() => expect(URL.revokeObjectURL).toHaveBeenCalledWith(e.url));
	});
});

describe('the completion of places', () => {
	const text = '# Top\n\n## A: b [c]\n\nFirst words\nand more\n\nSee ';
	async function offered(typed: string, more: Partial<Names> = {}) {
		const names = {
			places: (name: string, t: string) => kernel.knowledge.places('x.md', name, t),
			anchor: async () => '',
			...more,
		} as Names;
		const state = EditorState.create({ doc: text + typed, selection: { anchor: text.length + typed.length } });
		const view = new EditorView({ state });
		const r = await place(names)(new CompletionContext(state, state.doc.length, false, view));
		const apply = (i: number) => {
			const o = r!.options[i]!;
			(o.apply as (...a: unknown[]) => void)(view, o, r!.from, state.doc.length);
		};
		return { labels: r?.options.map((o) => o.label), apply, text: () => view.state.doc.toString(), view };
	}

	it('has the headings of the text itself and of another note, as a link can name them', async () => {
		const own = await offered('[[#');
		expect(own.labels).toEqual(['Top', 'A: b [c]']);
		own.apply(1);
		expect(own.text()).toBe(`${text}[[#A: b c]]`);
		expect((await offered('[[Oxios design#O')).labels).toEqual(['Oxios design', 'Open']);
		expect((await offered('[[nobody#')).labels).toBeUndefined();
		expect((await offered('[[note')).labels).toBeUndefined();
	});

	it('gives a block of the text its id in the same edit, so that one undo takes both back', async () => {
		const own = await offered('[[#^');
		expect(own.labels).toEqual(['First words']);
		own.apply(0);
		const id = /\^(\w+)\]\]$/.exec(own.text())![1]!;
		expect(own.text()).toBe(`${text.replace('and more', `and more ^${id}`)}[[#^${id}]]`);
		expect(own.view.state.selection.main.head).toBe(own.text().length);
	});

	it('leaves the text when a block of another note gets none', async () => {
		const anchor = vi.fn(async () => '');
		const other = await offered('[[WAL#^', { anchor });
		other.apply(0);
		await vi.waitFor(() => expect(anchor).toHaveBeenCalled());
		expect(other.text()).toBe(`${text}[[WAL#^`);
	});
});
