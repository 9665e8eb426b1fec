import DOMPurify from 'dompurify';
import { Marked, type MarkedExtension, type Token, type Tokens } from 'marked';

/**
 * A block of a text: markup that is safe to insert, of a table also its cells, code for its own component, or, in a note,
 * the source of what it shows of another file.
 */
export type Block =
	| { raw: string; html: string; rows?: string[][] }
	| { raw: string; code: string; lang: string }
	| { raw: string; embed: string };

function escape(text: string): string {
	return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/**
 * A link is a button: it shows where it leads and opens only after a person said so. An image is told, never loaded:
 * an address chosen by a model could carry away what it read. Markup in the text is shown as text.
 */
const options: MarkedExtension = {
	gfm: true,
	breaks: false,
	renderer: {
		link({ href, tokens }: Tokens.Link) {
			const inner = this.parser.parseInline(tokens);
			if (!/^(https?:|mailto:)/i.test(href)) return inner;
			return `<button type="button" class="link" data-link="${escape(href)}" title="${escape(href)}">${inner}</button>`;
		},
		image({ href, text }: Tokens.Image) {
			return `<span class="noimage" data-noimage="${escape(text)}" title="${escape(href)}">${escape(text || href)}</span>`;
		},
		html({ text }: Tokens.HTML | Tokens.Tag) {
			return escape(text);
		},
		checkbox({ checked }: Tokens.Checkbox) {
			return checked ? '☑ ' : '☐ ';
		},
	},
};
const marked = new Marked(options);

const web = /^(?:[a-z][a-z\d+.-]+:|\/\/)/i;
const inNote = (source: string, label: string) =>
	`<button type="button" class="link" data-note="${escape(source)}">${escape(label)}</button>`;

/** In a note there are [[links]] too, and a picture of the web is a link to it. */
const noted = new Marked(options, {
	renderer: {
		link({ href, raw, tokens }: Tokens.Link) {
			return web.test(href) ? false : inNote(raw, this.parser.parseInline(tokens, this.parser.textRenderer));
		},
		image({ href, text, raw }: Tokens.Image) {
			if (!web.test(href)) return inNote(raw, text || href);
			if (!/^https?:/i.test(href)) return false;
			return `<button type="button" class="link" data-link="${escape(href)}" title="${escape(href)}">${escape(text || href)}</button>`;
		},
	},
	extensions: [
		{
			name: 'wiki',
			level: 'inline',
			start: (src: string) => /!?\[\[/.exec(src)?.index,
			tokenizer(src: string) {
				const m = /^!?\[\[([^\]\n]+)\]\]/.exec(src);
				if (!m) return undefined;
				const [to = '', alias] = m[1]!.split('|');
				return { type: 'wiki', raw: m[0], text: alias?.trim() || to.trim().replace(/#\^?/g, ' › ') };
			},
			renderer: (token: Tokens.Generic) => inNote(token.raw, String(token.text)),
		},
	],
});

/** embedOf is the source of an embed that is all of a paragraph. */
function embedOf(token: Token): string {
	if (token.type !== 'paragraph') return '';
	const parts = (token.tokens ?? []).filter((t) => t.raw.trim() !== '');
	const only = parts.length === 1 ? parts[0]! : undefined;
	if (only?.type === 'wiki') return only.raw.startsWith('!') ? only.raw : '';
	return only?.type === 'image' && !web.test((only as Tokens.Image).href) ? only.raw : '';
}

const allowed = {
	ALLOWED_TAGS: [
		'p',
		'br',
		'strong',
		'em',
		'del',
		'code',
		'pre',
		'blockquote',
		'ul',
		'ol',
		'li',
		'h1',
		'h2',
		'h3',
		'h4',
		'h5',
		'h6',
		'hr',
		'table',
		'thead',
		'tbody',
		'tr',
		'th',
		'td',
		'button',
		'span',
	],
	ALLOWED_ATTR: ['class', 'type', 'title', 'start', 'align', 'data-link', 'data-note', 'data-noimage'],
	ALLOW_DATA_ATTR: false,
	ADD_ATTR: ['data-link', 'data-note', 'data-noimage'],
};

/** rowsOf are the cells of a table as text. */
function rowsOf(table: Tokens.Table): string[][] {
	const words = (tokens: Token[]): string =>
		tokens.map((t) => ('tokens' in t && t.tokens ? words(t.tokens) : 'text' in t ? t.text : ' ')).join('');
	return [table.header, ...table.rows].map((row) => row.map((cell) => words(cell.tokens).trim()));
}

/** tabbed writes rows as a spreadsheet takes them from the clipboard: a tab between cells, a line for each row. */
export function tabbed(rows: string[][]): string {
	const cell = (text: string) => (/["\t\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
	return rows.map((row) => row.map(cell).join('\t')).join('\n');
}

/** blocks cuts a text, or that of a note, into its blocks. Blocks of before whose text is the same are taken over as they are. */
export function blocks(text: string, before: Block[] = [], note = false): Block[] {
	const out: Block[] = [];
	const reader = note ? noted : marked;
	for (const token of reader.lexer(text) as Token[]) {
		if (token.type === 'space') continue;
		const old = before[out.length];
		if (old && old.raw === token.raw) {
			out.push(old);
			continue;
		}
		if (token.type === 'code') {
			const { text: code, lang } = token as Tokens.Code;
			out.push({ raw: token.raw, code, lang: (lang ?? '').split(/\s/)[0] ?? '' });
		} else if (note && embedOf(token)) {
			out.push({ raw: token.raw, embed: embedOf(token) });
		} else if (token.type !== 'def') {
			const html = DOMPurify.sanitize(reader.parser([token]), allowed);
			const rows = token.type === 'table' ? { rows: rowsOf(token as Tokens.Table) } : {};
			out.push({ raw: token.raw, html, ...rows });
		}
	}
	return out;
}
