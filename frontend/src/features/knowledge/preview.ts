import { syntaxTree } from '@codemirror/language';
import type { Extension, Range } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin, WidgetType, type DecorationSet, type ViewUpdate } from '@codemirror/view';
import { headEnd } from './head';

const lines: Record<string, Decoration> = {};
/** line gives a whole line a class. */
const line = (name: string) => (lines[name] ??= Decoration.line({ class: name }));
const marks: Record<string, Decoration> = {};
const mark = (name: string) => (marks[name] ??= Decoration.mark({ class: name }));

/** What a piece of Markdown looks like, by its name in the grammar. */
const spans: Record<string, string> = {
	StrongEmphasis: 'kn-strong',
	Emphasis: 'kn-em',
	Strikethrough: 'kn-gone',
	InlineCode: 'kn-code',
	Link: 'kn-link',
	URL: 'kn-link',
	HeaderMark: 'kn-mark',
	EmphasisMark: 'kn-mark',
	StrikethroughMark: 'kn-mark',
	CodeMark: 'kn-mark',
	CodeInfo: 'kn-mark',
	LinkMark: 'kn-mark',
	QuoteMark: 'kn-mark',
	ListMark: 'kn-mark',
	TableDelimiter: 'kn-mark',
	HorizontalRule: 'kn-mark',
};
const blocks: Record<string, string> = {
	Blockquote: 'kn-quote',
	FencedCode: 'kn-block',
	CodeBlock: 'kn-block',
	Table: 'kn-table',
};

/** Box is the checkbox of an item, which a click ticks. */
class Box extends WidgetType {
	constructor(
		readonly done: boolean,
		readonly label: string,
		readonly fixed: boolean,
	) {
		super();
	}

	override eq(o: Box): boolean {
		return o.done === this.done && o.label === this.label && o.fixed === this.fixed;
	}

	override toDOM(view: EditorView): HTMLElement {
		const box = document.createElement('input');
		box.type = 'checkbox';
		box.className = 'kn-box';
		box.checked = this.done;
		box.disabled = this.fixed;
		box.setAttribute('aria-label', this.label);
		box.onchange = () => toggle(view, view.posAtDOM(box), box.checked);
		return box;
	}

	override ignoreEvent(): boolean {
		return true;
	}
}

/** toggle ticks the item whose box stands there, or opens it again. */
function toggle(view: EditorView, at: number, done: boolean): void {
	if (!/^\[.\]$/.test(view.state.sliceDoc(at, at + 3))) return;
	view.dispatch({ changes: { from: at + 1, to: at + 2, insert: done ? 'x' : ' ' }, userEvent: 'input.tick' });
}

function decorate(view: EditorView, task: string): DecorationSet {
	const { state } = view;
	const { doc } = state;
	const head = headEnd(state);
	const out: Range<Decoration>[] = [];
	const each = (from: number, to: number, name: string) => {
		for (let pos = from; pos <= to;) {
			const l = doc.lineAt(pos);
			out.push(line(name).range(l.from));
			pos = l.to + 1;
		}
	};
	const at = new Set(state.selection.ranges.map((r) => doc.lineAt(r.head).number));
	for (const { from, to } of view.visibleRanges) {
		if (head > from) each(from, Math.min(head, to), 'kn-head');
		for (const n of at) {
			const l = doc.line(n);
			if (l.from >= from && l.to <= to) out.push(line('kn-here').range(l.from));
		}
		const raw: [number, number][] = [];
		syntaxTree(state).iterate({
			from,
			to,
			enter: (node) => {
				if (node.to <= head && node.name !== 'Document') return false;
				const { name } = node;
				const heading = /^(?:ATX|Setext)Heading(\d)$/.exec(name);
				if (heading && node.from >= head) each(node.from, node.to, `kn-h${heading[1]}`);
				// The grammar takes the inner brackets of a [[link]] for a link of its own.
				if (name === 'Link' && state.sliceDoc(Math.max(0, node.from - 1), node.from) === '[') return false;
				if (blocks[name]) each(Math.max(from, node.from), Math.min(to, node.to), blocks[name]);
				if (/Code|HTML|Comment/.test(name)) raw.push([node.from, node.to]);
				if (name === 'TaskMarker') box(node.from, node.to);
				else if (spans[name] && node.to > node.from) out.push(mark(spans[name]).range(node.from, node.to));
				return undefined;
			},
		});
		words(Math.max(from, head), to, raw);
	}
	return Decoration.set(out, true);

	function box(from: number, to: number) {
		const l = doc.lineAt(from);
		const done = state.sliceDoc(from + 1, to - 1) !== ' ';
		if (done && to + 1 < l.to) out.push(mark('kn-done').range(to + 1, l.to));
		if (state.selection.ranges.some((r) => r.from <= to && r.to > from)) return;
		const label = doc.sliceString(to, l.to).trim() || task;
		out.push(Decoration.replace({ widget: new Box(done, label, state.readOnly) }).range(from, to));
	}

	/** words marks what the grammar does not know: [[links]] and #tags. */
	function words(from: number, to: number, raw: [number, number][]) {
		if (from >= to) return;
		const text = doc.sliceString(from, to);
		for (const m of text.matchAll(/\[\[([^\]\n]+)\]\]|(?<=^|\s)#[\p{L}\d_/-]*\p{L}[\p{L}\d_/-]*/gmu)) {
			const start = from + m.index;
			const end = start + m[0].length;
			if (raw.some(([a, b]) => start < b && end > a)) continue;
			if (m[1] === undefined) {
				out.push(mark('kn-tag').range(start, end));
				continue;
			}
			out.push(
				mark('kn-mark').range(start, start + 2),
				mark('kn-link').range(start + 2, end - 2),
				mark('kn-mark').range(end - 2, end),
			);
		}
	}
}

/** preview shows Markdown as what it means while it stays text: larger headings, boxes to tick, tinted code. */
export const preview = (task: string): Extension =>
	ViewPlugin.fromClass(
		class {
			decorations: DecorationSet;
			constructor(view: EditorView) {
				this.decorations = decorate(view, task);
			}
			update(u: ViewUpdate) {
				if (u.docChanged || u.viewportChanged || u.selectionSet || syntaxTree(u.startState) !== syntaxTree(u.state))
					this.decorations = decorate(u.view, task);
			}
		},
		{ decorations: (v) => v.decorations },
	);
