import { EditorView } from '@codemirror/view';

const heading = (size: string) => ({ fontSize: size, lineHeight: '1.35', fontWeight: '600', paddingTop: '0.5em' });

/** theme draws the editor with the colours of the house. */
export const theme = EditorView.theme({
	'&': { height: '100%', color: 'var(--text)', backgroundColor: 'transparent' },
	'&.cm-focused': { outline: 'none' },
	'.cm-scroller': { fontFamily: 'var(--sans)', fontSize: '14px', lineHeight: '24px', overflow: 'auto' },
	'.cm-content': {
		maxWidth: 'calc(var(--measure) + 32px)',
		padding: '22px 16px 40vh 40px',
		caretColor: 'var(--accent)',
		wordBreak: 'keep-all',
		overflowWrap: 'anywhere',
	},
	'.cm-line': { padding: '0 2px' },
	'.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
	'&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
		background: 'var(--accent-soft)',
	},
	'.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--active)' },
	'.kn-h1': heading('24px'),
	'.kn-h2': heading('17px'),
	'.kn-h3': heading('15px'),
	'.kn-h4, .kn-h5, .kn-h6': heading('14px'),
	'.kn-strong': { fontWeight: '600' },
	'.kn-em': { fontStyle: 'italic' },
	'.kn-gone, .kn-done': { textDecoration: 'line-through', color: 'var(--muted)' },
	'.kn-link, .kn-tag': { color: 'var(--accent-text)' },
	'.kn-mark': { color: 'var(--faint)', fontWeight: '400' },
	'.kn-here .kn-mark': { color: 'var(--muted)' },
	'.kn-code': { fontFamily: 'var(--mono)', fontSize: '0.88em', background: 'var(--hover)', borderRadius: 'var(--r1)' },
	'.kn-block, .kn-table': { fontFamily: 'var(--mono)', fontSize: '12px', lineHeight: '20px' },
	'.kn-block': { background: 'var(--sunken)' },
	'.kn-quote': { boxShadow: 'inset 2px 0 var(--line-strong)', paddingLeft: '12px' },
	'.kn-head': { fontFamily: 'var(--mono)', fontSize: '12px', lineHeight: '20px', color: 'var(--faint)' },
	'.kn-fold': { padding: '0 2px 4px' },
	'.kn-fold button': {
		padding: '0 8px',
		border: '1px solid var(--line)',
		borderRadius: '12px',
		font: '500 12px/22px var(--sans)',
		color: 'var(--muted)',
	},
	'.kn-fold button:hover': { background: 'var(--hover)' },
	'.kn-box': { width: '15px', height: '15px', margin: '0 2px', verticalAlign: '-2px', accentColor: 'var(--accent)' },
	// Inline, as the editor puts marks of no width beside it, each of which would take a line beside a block.
	'.kn-embed': {
		display: 'inline-block',
		width: '100%',
		padding: '4px 0',
		verticalAlign: 'top',
		lineHeight: '20px',
		whiteSpace: 'normal',
		userSelect: 'text',
	},
	'.kn-embed.kn-below': { display: 'block', padding: '4px 2px 8px' },
	'.kn-saving': { padding: '0 6px', borderRadius: 'var(--r1)', background: 'var(--sunken)', color: 'var(--muted)' },
	'.cm-tooltip': {
		background: 'var(--raised)',
		border: '1px solid var(--line)',
		borderRadius: 'var(--r2)',
		boxShadow: 'var(--shadow-2)',
		zIndex: 'var(--layer-menu)',
	},
	'.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--sans)', fontSize: '13px', maxHeight: '240px' },
	'.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 10px', color: 'var(--text)' },
	'.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
		background: 'var(--active)',
		color: 'var(--text)',
	},
	'.cm-completionDetail': { color: 'var(--faint)', fontStyle: 'normal', marginLeft: '8px' },
});
