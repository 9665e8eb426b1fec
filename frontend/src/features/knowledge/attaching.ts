import { StateEffect, StateField, type Extension } from '@codemirror/state';
import { Decoration, dropCursor, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';
import { pastedFiles } from '../../kernel/handed';
import { clipboardPicture, holdsFiles, inWindow } from '../../kernel/window';
import type { Given } from './files';

/** Taking is what the page does with files that are pasted and dropped. */
export interface Taking {
	/** nameOf is what a file will be called. */
	nameOf: (given: Given) => string;
	saving: (name: string) => string;
	/** save puts a file into the vault and returns the name by which a link finds it, "" when that failed, which it says. */
	save: (given: Given, name: string) => Promise<string>;
	/** left is called with the link to what was saved when its place is gone: the note was closed, or the text deleted. */
	left: (link: string) => void;
}

/** Saving stands in the text where a file will be, until it is saved. */
class Saving extends WidgetType {
	constructor(
		readonly id: number,
		readonly label: string,
	) {
		super();
	}

	override eq(o: Saving): boolean {
		return o.id === this.id;
	}

	override toDOM(): HTMLElement {
		const dom = document.createElement('span');
		dom.className = 'kn-saving';
		dom.setAttribute('role', 'status');
		dom.textContent = this.label;
		return dom;
	}
}

const begun = StateEffect.define<{ at: number; widget: Saving }>();
const ended = StateEffect.define<number>();

const waiting = StateField.define<DecorationSet>({
	create: () => Decoration.none,
	update(old, tr) {
		let set = old.map(tr.changes);
		for (const e of tr.effects) {
			if (e.is(begun))
				set = set.update({ add: [Decoration.widget({ widget: e.value.widget, side: 1 }).range(e.value.at)] });
			if (e.is(ended)) set = set.update({ filter: (_, __, d) => (d.spec as { widget: Saving }).widget.id !== e.value });
		}
		return set;
	},
	provide: (f) => EditorView.decorations.from(f),
});

let count = 0;

/** take saves files one after the other, and shows each where it was pasted, wherever that has moved to. */
export async function take(view: EditorView, given: Given[], at: number, t: Taking): Promise<void> {
	if (view.state.readOnly) return;
	const all = given.map((g) => {
		const name = t.nameOf(g);
		return { g, name, widget: new Saving(++count, t.saving(name)) };
	});
	view.dispatch({ effects: all.map(({ widget }) => begun.of({ at, widget })) });
	for (const [i, { g, name, widget }] of all.entries()) {
		const saved = await t.save(g, name);
		const link = `![[${saved}]]`;
		if (!view.dom.isConnected) {
			if (saved) t.left(link);
			continue;
		}
		let pos = -1;
		view.state.field(waiting).between(0, view.state.doc.length, (from, _, d) => {
			if ((d.spec as { widget: Saving }).widget === widget) pos = from;
		});
		const effects = ended.of(widget.id);
		if (!saved || pos < 0) {
			if (saved) t.left(link);
			view.dispatch({ effects });
			continue;
		}
		const insert = i < all.length - 1 ? `${link}\n` : link;
		const { head, empty } = view.state.selection.main;
		view.dispatch({
			changes: { from: pos, insert },
			effects,
			...(empty && head === pos ? { selection: { anchor: pos + insert.length } } : {}),
			userEvent: 'input.paste',
		});
	}
}

/** attaching takes files that are pasted or dropped into the text. */
export const attaching = (t: Taking): Extension => [
	waiting,
	dropCursor(),
	EditorView.domEventHandlers({
		paste: (e, view) => {
			const files = pastedFiles(e.clipboardData);
			const at = () => view.state.selection.main.to;
			if (files.length > 0) void take(view, files, at(), t);
			else if (!e.clipboardData?.getData('text/plain') && inWindow())
				void clipboardPicture().then((f) => f && take(view, [f], at(), t));
			else return false;
			e.preventDefault();
			return true;
		},
		drop: (e, view) => {
			if (!holdsFiles(e.dataTransfer)) return false;
			// The window tells the paths of files by itself; what it drags of the web is a link.
			if (inWindow()) return !/^https?:/.test(e.dataTransfer?.getData('text/uri-list') ?? '');
			e.preventDefault();
			const at = view.posAtCoords({ x: e.clientX, y: e.clientY }, false);
			void take(view, [...(e.dataTransfer?.files ?? [])], at, t);
			return true;
		},
	}),
];
