import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyField, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentUnit } from '@codemirror/language';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { EditorState, Transaction, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap } from '@codemirror/view';
import { attaching, take, type Taking } from './attaching';
import { place, tag, wiki, type Names } from './complete';
import { embedding, type Showing } from './embedding';
import type { Given } from './files';
import { linkAt, type Target } from './paths';
import { bodyOf, folded } from './head';
import { changesBetween } from './patch';
import { preview, written } from './preview';
import { theme } from './theme';

/** Hooks are what the editor asks of the page and tells it. */
interface Hooks extends Names, Taking {
	label: string;
	fixed: boolean;
	/** task is the name of a checkbox. */
	task: string;
	/** head is the name of the button that shows the frontmatter; "" leaves that open. */
	head: string;
	ontext: (text: string) => void;
	/** onlink follows a link; beside opens it on the other side. */
	onlink: (to: Target, beside: boolean) => void;
	onsave: () => void;
	onblur: () => void;
	showing: Showing;
}

/** fields are what is kept of an editor between two showings. */
const fields = { history: historyField };

/** Keys of the window that the editor would take for itself. */
const left = new Set(['Mod-i', 'Shift-Mod-k', 'Mod-Enter']);

/** Editor is the text of one note on the screen. */
export class Editor {
	#view: EditorView;
	#quiet = false;
	#hooks: Hooks;

	constructor(parent: HTMLElement, text: string, h: Hooks, memory: unknown) {
		this.#hooks = h;
		const extensions = this.#extensions(h);
		const state = memory
			? EditorState.fromJSON(memory, { extensions }, fields)
			: EditorState.create({ doc: text, extensions, selection: { anchor: bodyOf(text) } });
		this.#view = new EditorView({ parent, state });
		this.set(text);
	}

	#extensions(h: Hooks): Extension[] {
		const follow = (view: EditorView, pos: number, beside: boolean): boolean => {
			const line = view.state.doc.lineAt(pos);
			const to = linkAt(line.text, pos - line.from);
			if (to) h.onlink(to, beside);
			return to !== undefined;
		};
		/** seen is where a link was pressed that shows only its words. */
		let seen: number | undefined;
		return [
			// A carriage return within a note stays what it is.
			EditorState.lineSeparator.of('\n'),
			EditorState.readOnly.of(h.fixed),
			history(),
			drawSelection(),
			bracketMatching(),
			indentUnit.of('  '),
			EditorView.lineWrapping,
			markdown({ base: markdownLanguage, completeHTMLTags: false }),
			preview(h.task),
			h.head ? folded(h.head) : [],
			embedding(h.showing),
			attaching(h),
			autocompletion({ override: [wiki(h), place(h), tag(h)], icons: false }),
			keymap.of([
				{ key: 'Mod-Enter', run: (view) => follow(view, view.state.selection.main.head, false) },
				{ key: 'Mod-Alt-Enter', run: (view) => follow(view, view.state.selection.main.head, true) },
				{ key: 'Mod-s', preventDefault: true, run: () => (h.onsave(), true) },
				...completionKeymap,
				...historyKeymap,
				...defaultKeymap.filter((k) => !left.has(k.key ?? '')),
			]),
			// Without tabindex axe takes a long text for a region that no key reaches.
			EditorView.contentAttributes.of({ 'aria-label': h.label, spellcheck: 'false', tabindex: '0' }),
			EditorView.updateListener.of((u) => {
				if (u.docChanged && !this.#quiet) h.ontext(u.state.doc.toString());
			}),
			EditorView.domEventHandlers({
				mousedown: (e, view) => {
					seen = undefined;
					if (e.button !== 0 || e.shiftKey) return false;
					const pos = view.posAtCoords({ x: e.clientX, y: e.clientY });
					if (pos === null) return false;
					if (!(e.ctrlKey || e.metaKey)) {
						// Where its marks are to be seen, a link is a text that somebody writes.
						const rendered = !written(view).has(view.state.doc.lineAt(pos).number);
						if (rendered && (e.target as HTMLElement).closest('.kn-link')) seen = pos;
						return false;
					}
					if (!follow(view, pos, e.altKey)) return false;
					e.preventDefault();
					return true;
				},
				click: (_, view) => seen !== undefined && view.state.selection.main.empty && follow(view, seen, false),
				blur: () => {
					h.onblur();
					return false;
				},
			}),
			theme,
		];
	}

	/** set puts another text in: only what differs changes, so that the cursor stays and undo goes back over it. */
	set(text: string): void {
		const old = this.#view.state.doc.toString();
		if (old === text) return;
		this.#quiet = true;
		this.#view.dispatch({
			changes: changesBetween(old, text),
			annotations: Transaction.userEvent.of('input.outside'),
		});
		this.#quiet = false;
	}

	focus(): void {
		this.#view.focus();
	}

	/** drop takes files that were dropped at a place of the window, and returns false when that is not in the text. */
	drop(given: Given[], x: number, y: number): boolean {
		if (!this.#view.dom.contains(document.elementFromPoint(x, y))) return false;
		void take(this.#view, given, this.#view.posAtCoords({ x, y }, false), this.#hooks);
		return true;
	}

	/** goTo brings a line onto the screen, from 1; one behind the last is the end of the text. */
	goTo(line: number): void {
		const { doc } = this.#view.state;
		const at = line > doc.lines ? doc.length : doc.line(Math.max(1, line)).from;
		this.#view.dispatch({
			selection: { anchor: at },
			effects: EditorView.scrollIntoView(at, { y: 'start', yMargin: 24 }),
		});
		this.#view.focus();
	}

	/** close takes the editor off the page and returns what it should have when it is shown again. */
	close(): unknown {
		const { state } = this.#view;
		this.#view.destroy();
		return state.toJSON(fields);
	}
}
