import { StateField, type EditorState, type Extension } from '@codemirror/state';
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';

/** headOf is the frontmatter of a text with the line end behind it. */
const headOf = (text: string) => /^---\n(?:[^\n]*\n)*?---[ \t]*(?:\n|$)/.exec(text)?.[0].length ?? 0;

/** bodyOf is where a text begins behind its frontmatter. */
export const bodyOf = (text: string): number => headOf(text.slice(0, 20_000));

/** headEnd is where the last line of the frontmatter ends, 0 when there is none. */
export function headEnd(state: EditorState): number {
	const end = bodyOf(state.sliceDoc(0, 20_000));
	return end === 0 ? 0 : state.doc.lineAt(Math.max(0, end - 1)).to;
}

/** Fold stands in the place of the frontmatter while the cursor is elsewhere. */
class Fold extends WidgetType {
	constructor(readonly label: string) {
		super();
	}

	override eq(o: Fold): boolean {
		return o.label === this.label;
	}

	override toDOM(view: EditorView): HTMLElement {
		const line = document.createElement('div');
		line.className = 'kn-fold';
		const button = document.createElement('button');
		button.type = 'button';
		button.textContent = this.label;
		button.onclick = () => {
			view.dispatch({ selection: { anchor: Math.min(4, view.state.doc.length) } });
			view.focus();
		};
		line.append(button);
		return line;
	}

	override ignoreEvent(): boolean {
		return true;
	}
}

function fold(state: EditorState, label: string): DecorationSet {
	const end = headEnd(state);
	if (end === 0 || state.selection.ranges.some((r) => r.from <= end)) return Decoration.none;
	return Decoration.set(Decoration.replace({ widget: new Fold(label), block: true }).range(0, end));
}

/** folded shows the frontmatter as one line until the cursor goes there. */
export const folded = (label: string): Extension =>
	StateField.define<DecorationSet>({
		create: (state) => fold(state, label),
		update: (old, tr) => (tr.docChanged || tr.selection ? fold(tr.state, label) : old),
		provide: (f) => EditorView.decorations.from(f),
	});
