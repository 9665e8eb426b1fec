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

/** Piece is a piece of Markdown in the grammar. */
type Piece = Parameters<Parameters<ReturnType<typeof syntaxTree>['iterate']>[0]['enter']>[0];

/** Sign stands in the place of a mark: the point of a list, the line across. */
class Sign extends WidgetType {
	constructor(readonly name: string) {
		super();
	}

	override eq(o: Sign): boolean {
		return o.name === this.name;
	}

	override toDOM(): HTMLElement {
		const sign = document.createElement('span');
		sign.className = this.name;
		sign.setAttribute('aria-hidden', 'true');
		return sign;
	}
}

const gone = Decoration.replace({});
const point = Decoration.replace({ widget: new Sign('kn-point') });
const rule = Decoration.replace({ widget: new Sign('kn-rule') });

/** written are the lines in which somebody writes: their marks are shown. */
export function written(view: EditorView): Set<number> {
	const { doc, selection, readOnly } = view.state;
	const out = new Set<number>();
	if (!view.hasFocus || readOnly) return out;
	for (const r of selection.ranges)
		for (let n = doc.lineAt(r.from).number; n <= doc.lineAt(r.to).number; n++) out.add(n);
	return out;
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
	const open = written(view);
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
				if (!open.has(doc.lineAt(node.from).number)) hide(node);
				return undefined;
			},
		});
		words(Math.max(from, head), to, raw);
	}
	return Decoration.set(out, true);

	/** hide takes away what only says how the text looks, and looks so now. */
	function hide(node: Piece) {
		const { name, from, to } = node;
		const above = node.node.parent?.name ?? '';
		const space = (at: number) => (state.sliceDoc(at, at + 1) === ' ' ? 1 : 0);
		const cut = (a: number, b: number, as = gone) => {
			if (b > a && doc.lineAt(a).to >= b) out.push(as.range(a, b));
		};
		if (name === 'HeaderMark' && above.startsWith('ATX')) {
			const first = from === node.node.parent!.from;
			cut(first ? from : from - space(from - 1), first ? to + space(to) : to);
		} else if (name === 'EmphasisMark' || name === 'StrikethroughMark') cut(from, to);
		else if (name === 'CodeMark' && above === 'InlineCode') cut(from, to);
		else if (name === 'LinkMark' && above === 'Autolink') cut(from, to);
		else if (name === 'QuoteMark') cut(from, to + space(to));
		else if (name === 'HorizontalRule') cut(from, to, rule);
		else if (name === 'ListMark' && node.node.nextSibling?.name === 'Task') cut(from, to + space(to));
		else if (name === 'ListMark' && to - from === 1) cut(from, to, point);
		else if (name === 'Link' && node.node.getChild('URL')) {
			const [begin, end] = node.node.getChildren('LinkMark');
			if (begin && end && end.from > begin.to) {
				cut(begin.from, begin.to);
				cut(end.from, to);
			}
		}
	}

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
			const shown = start + 2 + (m[1].includes('|') ? m[1].lastIndexOf('|') + 1 : 0);
			if (
				shown < end - 2 &&
				!open.has(doc.lineAt(start).number) &&
				state.sliceDoc(Math.max(0, start - 1), start) !== '!'
			) {
				out.push(gone.range(start, shown), mark('kn-link').range(shown, end - 2), gone.range(end - 2, end));
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

/**
 * preview shows Markdown as what it means while it stays text: larger headings, boxes to tick, tinted code. The marks are
 * to be seen in the lines in which somebody writes, and nowhere else.
 */
export const preview = (task: string): Extension =>
	ViewPlugin.fromClass(
		class {
			decorations: DecorationSet;
			constructor(view: EditorView) {
				this.decorations = decorate(view, task);
			}
			update(u: ViewUpdate) {
				const changed = u.docChanged || u.viewportChanged || u.selectionSet || u.focusChanged;
				if (changed || syntaxTree(u.startState) !== syntaxTree(u.state)) this.decorations = decorate(u.view, task);
			}
		},
		{ decorations: (v) => v.decorations },
	);
