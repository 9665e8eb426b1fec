import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';

/** A block of a text: markup that is safe to insert, of a table also its cells, or code for its own component. */
export type Block = { raw: string; html: string; rows?: string[][] } | { raw: string; code: string; lang: string };

function escape(text: string): string {
	return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/**
 * A link is a button: it shows where it leads and opens only after a person said so. An image is told, never loaded:
 * an address chosen by a model could carry away what it read. Markup in the text is shown as text.
 */
const marked = new Marked({
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
});

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
	ALLOWED_ATTR: ['class', 'type', 'title', 'start', 'align', 'data-link', 'data-noimage'],
	ALLOW_DATA_ATTR: false,
	ADD_ATTR: ['data-link', 'data-noimage'],
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

/** blocks cuts a text into its blocks. Blocks of before whose text is the same are taken over as they are. */
export function blocks(text: string, before: Block[] = []): Block[] {
	const out: Block[] = [];
	for (const token of marked.lexer(text) as Token[]) {
		if (token.type === 'space') continue;
		const old = before[out.length];
		if (old && old.raw === token.raw) {
			out.push(old);
			continue;
		}
		if (token.type === 'code') {
			const { text: code, lang } = token as Tokens.Code;
			out.push({ raw: token.raw, code, lang: (lang ?? '').split(/\s/)[0] ?? '' });
		} else if (token.type !== 'def') {
			const html = DOMPurify.sanitize(marked.parser([token]), allowed);
			const rows = token.type === 'table' ? { rows: rowsOf(token as Tokens.Table) } : {};
			out.push({ raw: token.raw, html, ...rows });
		}
	}
	return out;
}
