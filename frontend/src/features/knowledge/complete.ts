import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { EditorView } from '@codemirror/view';
import type { Heading, VaultBlock, VaultHit, VaultPlaces } from '../../kernel/api.gen';

/** Names are what links and tags are completed from. */
export interface Names {
	names: (words: string) => Promise<VaultHit[]>;
	linkTo: (path: string) => string;
	tags: () => string[];
	/** places are what a link can name of a note, or, without a name, of the text. */
	places: (name: string, text: string) => Promise<VaultPlaces>;
	/** anchor gives a block of another note an id and returns it, "" when that failed, which it says. */
	anchor: (of: VaultPlaces, block: VaultBlock) => Promise<string>;
}

/** put writes what was chosen, and goes behind the link. */
function put(view: EditorView, from: number, to: number, text: string, also?: { from: number; insert: string }): void {
	const end = view.state.sliceDoc(to, to + 2) === ']]' ? '' : ']]';
	const changes = view.state.changes([{ from, to, insert: text + end }, ...(also ? [also] : [])]);
	view.dispatch({
		changes,
		selection: { anchor: changes.mapPos(from, -1) + text.length + 2 },
		userEvent: 'input.complete',
	});
}

/** wiki completes [[names]], which the kernel finds, by 초성 too. */
export const wiki =
	(h: Names) =>
	async (c: CompletionContext): Promise<CompletionResult | null> => {
		const typed = c.matchBefore(/\[\[[^\]\[|#\n]*$/);
		if (!typed) return null;
		const hits = await h.names(typed.text.slice(2)).catch(() => []);
		if (c.aborted || hits.length === 0) return null;
		return {
			from: typed.from + 2,
			filter: false,
			options: hits.map((hit) => {
				const name = h.linkTo(hit.path);
				const folder = hit.path.split('/').slice(0, -1).join('/');
				const apply = (view: EditorView, _: unknown, from: number, to: number) => put(view, from, to, name);
				return { label: name, ...(folder ? { detail: folder } : {}), apply };
			}),
		};
	};

/** place completes the heading behind [[note#, and the block behind [[note#^; without a name those of this text. */
export const place =
	(h: Names) =>
	async (c: CompletionContext): Promise<CompletionResult | null> => {
		const typed = c.matchBefore(/\[\[[^\]\[|#\n]*#[^\]\[|\n]*$/);
		if (!typed) return null;
		const name = typed.text.slice(2, typed.text.indexOf('#'));
		const part = typed.text.slice(typed.text.lastIndexOf('#') + 1);
		const block = part.startsWith('^');
		const found = await h.places(name.trim(), name.trim() ? '' : c.state.doc.toString()).catch(() => undefined);
		if (c.aborted || !found) return null;
		const own = c.state.doc.lineAt(c.pos).number;
		const options = block
			? found.blocks.filter((b) => found.path || own < b.line || own > b.end).map((b) => blockOption(h, found, b))
			: found.headings.map(headingOption);
		if (options.length === 0) return null;
		return { from: c.pos - part.length + (block ? 1 : 0), options, validFor: /^[^\]\[|#^\n]*$/ };
	};

/** inOrder sorts what fits as well by where it stands. */
const inOrder = (line: number) => String(line).padStart(7, '0');

function headingOption({ text, level, line }: Heading): Completion {
	// These signs would end the name in a link.
	const named = text
		.replace(/[#^|[\]\\]+/g, ' ')
		.replace(/\s+/g, ' ')
		.trim();
	const apply = (view: EditorView, _: unknown, from: number, to: number) => put(view, from, to, named);
	return { label: text, detail: `H${level}`, sortText: inOrder(line), apply };
}

function blockOption(h: Names, of: VaultPlaces, b: VaultBlock): Completion {
	const apply = async (view: EditorView, _: unknown, from: number, to: number) => {
		if (b.id) return put(view, from, to, b.id);
		if (!of.path) return put(view, from, to, of.free, idBelow(view, b, of.free));
		const typed = view.state.doc;
		const id = await h.anchor(of, b);
		// What was typed meanwhile has moved the link: then its id is there, and chosen again.
		if (id && view.dom.isConnected && view.state.doc.eq(typed)) put(view, from, to, id);
	};
	return {
		label: b.id ? `${b.text} ^${b.id}` : b.text,
		displayLabel: b.text,
		sortText: inOrder(b.line),
		...(b.id ? { detail: `^${b.id}` } : {}),
		apply: (view, x, from, to) => void apply(view, x, from, to),
	};
}

/** idBelow is the edit by which a block of this text gets an id. */
function idBelow(view: EditorView, b: VaultBlock, id: string): { from: number; insert: string } {
	const { doc } = view.state;
	const line = doc.line(Math.min(b.end, doc.lines));
	if (!b.apart) return { from: line.from + line.text.trimEnd().length, insert: ` ^${id}` };
	const next = line.number < doc.lines ? doc.line(line.number + 1).text.trim() : '';
	return { from: line.to, insert: `\n\n^${id}${next ? '\n' : ''}` };
}

/** tag completes #tags. Alone at the beginning of a line the sign makes a heading. */
export const tag =
	(h: Names) =>
	(c: CompletionContext): CompletionResult | null => {
		const typed = c.matchBefore(/(?:\s#[^\s#]*|^#[^\s#]+)$/);
		if (!typed) return null;
		const from = typed.from + typed.text.indexOf('#') + 1;
		return { from, options: h.tags().map((label) => ({ label })), validFor: /^[^\s#]*$/ };
	};
