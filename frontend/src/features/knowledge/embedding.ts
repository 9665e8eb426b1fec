import { syntaxTree } from '@codemirror/language';
import { StateField, type EditorState, type Extension, type Range } from '@codemirror/state';
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';
import { mount, unmount } from 'svelte';
import EmbedView from './EmbedView.svelte';
import type { Embeds } from './embeds.svelte';
import { headEnd } from './head';
import type { Target } from './paths';

/** Showing is what embeds in the text need of the page. */
export interface Showing {
	embeds: Embeds;
	/** from is the path of the note. */
	from: () => string;
	onopen: (path: string, line?: number) => void;
	onmake: (to: Target) => void;
}

/** Link is an embed as it stands in the text. */
interface Link {
	from: number;
	to: number;
	source: string;
}

/** An embed is spotted here; what it means the kernel reads. */
const link = /!\[\[[^\]\n]+\]\]|!\[[^\]\n]*\]\((?:<[^>\n]+>|(?:[^()\s]|\([^()\n]*\))+)(?:[ \t]+"[^"\n]*")?\)/g;

/** Pictures of the web are never loaded: an address could carry away what was read. They stay the link that they are. */
const outside = /^!\[[^\]]*\]\(\s*<?\s*(?:[a-z][a-z\d+.-]+:|\/\/)/i;

/** linksIn are the embeds of a text in order, without those in code. */
export function linksIn(state: EditorState): Link[] {
	const text = state.doc.toString();
	if (!text.includes('![')) return [];
	const head = headEnd(state);
	const tree = syntaxTree(state);
	const out: Link[] = [];
	for (const m of text.matchAll(link)) {
		if (m.index < head || outside.test(m[0])) continue;
		let inCode = false;
		for (let n = tree.resolveInner(m.index, 1) as typeof tree.topNode | null; n && !inCode; n = n.parent)
			inCode = /Code|HTML|Comment/.test(n.name);
		if (!inCode) out.push({ from: m.index, to: m.index + m[0].length, source: m[0] });
	}
	return out;
}

const apps = new WeakMap<HTMLElement, { app: object; seen: ResizeObserver }>();

/** Shown is what an embed shows, in the place of its source or below the line. */
class Shown extends WidgetType {
	readonly from: string;

	constructor(
		readonly source: string,
		readonly below: boolean,
		readonly s: Showing,
	) {
		super();
		this.from = s.from();
	}

	override eq(o: Shown): boolean {
		return o.source === this.source && o.below === this.below && o.from === this.from && o.s === this.s;
	}

	override get estimatedHeight(): number {
		return this.s.embeds.of(this.from, this.source).height;
	}

	override toDOM(view: EditorView): HTMLElement {
		const target = document.createElement('div');
		target.className = this.below ? 'kn-embed kn-below' : 'kn-embed';
		const { embeds, onopen, onmake } = this.s;
		const onedit = () => {
			view.dispatch({ selection: { anchor: view.state.doc.lineAt(view.posAtDOM(target)).to } });
			view.focus();
		};
		const props = { embeds, from: this.from, source: this.source, onopen, onmake, onedit };
		const seen = new ResizeObserver(() => {
			if (target.offsetHeight > 0) embeds.of(this.from, this.source).height = target.offsetHeight;
			view.requestMeasure();
		});
		apps.set(target, { app: mount(EmbedView, { target, props }), seen });
		seen.observe(target);
		return target;
	}

	override destroy(dom: HTMLElement): void {
		const known = apps.get(dom);
		known?.seen.disconnect();
		if (known) void unmount(known.app);
	}

	override ignoreEvent(): boolean {
		return true;
	}
}

interface Spotted {
	links: Link[];
	set: DecorationSet;
}

function draw(state: EditorState, links: Link[], s: Showing): Spotted {
	const out: Range<Decoration>[] = [];
	for (const l of links) {
		const line = state.doc.lineAt(l.from);
		const here = state.selection.ranges.some((r) => r.from <= line.to && r.to >= line.from);
		// Alone and without the cursor it stands for its source; the line stays one that the keys reach.
		const below = here || line.text.trim() !== l.source;
		const widget = new Shown(l.source, below, s);
		if (below) out.push(Decoration.widget({ widget, block: true, side: 1 }).range(line.to));
		else out.push(Decoration.replace({ widget }).range(l.from, l.to));
	}
	return { links, set: Decoration.set(out, true) };
}

/** embedding shows what the embeds of a note lead to: pictures, and parts of other notes. */
export const embedding = (s: Showing): Extension =>
	StateField.define<Spotted>({
		create: (state) => draw(state, linksIn(state), s),
		update: (old, tr) => {
			if (tr.docChanged || syntaxTree(tr.startState) !== syntaxTree(tr.state))
				return draw(tr.state, linksIn(tr.state), s);
			return tr.selection && old.links.length > 0 ? draw(tr.state, old.links, s) : old;
		},
		provide: (f) => EditorView.decorations.from(f, (v) => v.set),
	});
