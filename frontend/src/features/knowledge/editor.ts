import {
	autocompletion,
	completionKeymap,
	type CompletionContext,
	type CompletionResult,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyField, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentUnit } from '@codemirror/language';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { EditorState, Transaction, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap } from '@codemirror/view';
import type { VaultHit } from '../../kernel/api.gen';
import { linkAt, type Target } from './paths';
import { bodyOf, folded } from './head';
import { changesBetween } from './patch';
import { preview } from './preview';
import { theme } from './theme';

/** Hooks are what the editor asks of the page and tells it. */
interface Hooks {
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
	names: (words: string) => Promise<VaultHit[]>;
	linkTo: (path: string) => string;
	tags: () => string[];
}

/** fields are what is kept of an editor between two showings. */
const fields = { history: historyField };

/** Keys of the window that the editor would take for itself. */
const left = new Set(['Mod-i', 'Shift-Mod-k', 'Mod-Enter']);

/** Editor is the text of one note on the screen. */
export class Editor {
	#view: EditorView;
	#quiet = false;

	constructor(parent: HTMLElement, text: string, h: Hooks, memory: unknown) {
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
			autocompletion({ override: [wiki(h), tag(h)], icons: false }),
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
					if (e.button !== 0 || !(e.ctrlKey || e.metaKey)) return false;
					const pos = view.posAtCoords({ x: e.clientX, y: e.clientY });
					if (pos === null || !follow(view, pos, e.altKey)) return false;
					e.preventDefault();
					return true;
				},
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

	/** goTo brings a line onto the screen, from 1. */
	goTo(line: number): void {
		const doc = this.#view.state.doc;
		const at = doc.line(Math.max(1, Math.min(line, doc.lines))).from;
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

/** wiki completes [[names]], which the kernel finds, by 초성 too. */
const wiki =
	(h: Hooks) =>
	async (c: CompletionContext): Promise<CompletionResult | null> => {
		const typed = c.matchBefore(/\[\[[^\]\[|#\n]*$/);
		if (!typed) return null;
		const hits = await h.names(typed.text.slice(2)).catch(() => []);
		if (c.aborted || hits.length === 0) return null;
		const closed = c.state.sliceDoc(c.pos, c.pos + 2) === ']]';
		return {
			from: typed.from + 2,
			filter: false,
			options: hits.map((hit) => {
				const name = h.linkTo(hit.path);
				const folder = hit.path.split('/').slice(0, -1).join('/');
				const apply = (view: EditorView, _: unknown, from: number, to: number) =>
					view.dispatch({
						changes: { from, to, insert: closed ? name : `${name}]]` },
						selection: { anchor: from + name.length + 2 },
						userEvent: 'input.complete',
					});
				return { label: name, ...(folder ? { detail: folder } : {}), apply };
			}),
		};
	};

/** tag completes #tags. Alone at the beginning of a line the sign makes a heading. */
const tag =
	(h: Hooks) =>
	(c: CompletionContext): CompletionResult | null => {
		const typed = c.matchBefore(/(?:\s#[^\s#]*|^#[^\s#]+)$/);
		if (!typed) return null;
		const from = typed.from + typed.text.indexOf('#') + 1;
		return { from, options: h.tags().map((label) => ({ label })), validFor: /^[^\s#]*$/ };
	};
