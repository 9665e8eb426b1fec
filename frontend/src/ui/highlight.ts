import type { HighlighterCore, LanguageInput, ThemedToken } from 'shiki/core';

/** What the names in fences stand for. Each language is loaded when its first block appears. */
const languages: Record<string, () => Promise<unknown>> = {
	bash: () => import('shiki/langs/bash.mjs'),
	c: () => import('shiki/langs/c.mjs'),
	css: () => import('shiki/langs/css.mjs'),
	diff: () => import('shiki/langs/diff.mjs'),
	dockerfile: () => import('shiki/langs/dockerfile.mjs'),
	go: () => import('shiki/langs/go.mjs'),
	html: () => import('shiki/langs/html.mjs'),
	java: () => import('shiki/langs/java.mjs'),
	javascript: () => import('shiki/langs/javascript.mjs'),
	json: () => import('shiki/langs/json.mjs'),
	markdown: () => import('shiki/langs/markdown.mjs'),
	python: () => import('shiki/langs/python.mjs'),
	rust: () => import('shiki/langs/rust.mjs'),
	sql: () => import('shiki/langs/sql.mjs'),
	toml: () => import('shiki/langs/toml.mjs'),
	typescript: () => import('shiki/langs/typescript.mjs'),
	yaml: () => import('shiki/langs/yaml.mjs'),
};
const aliases: Record<string, string> = {
	sh: 'bash',
	shell: 'bash',
	zsh: 'bash',
	console: 'bash',
	js: 'javascript',
	ts: 'typescript',
	py: 'python',
	rs: 'rust',
	yml: 'yaml',
	md: 'markdown',
	golang: 'go',
	docker: 'dockerfile',
	svelte: 'html',
	xml: 'html',
	h: 'c',
	jsonc: 'json',
	patch: 'diff',
};

/** Above this many characters code is shown plain: colouring it would hold the page up. */
const LIMIT = 40_000;

let core: Promise<HighlighterCore> | undefined;
const loading = new Map<string, Promise<void>>();

async function highlighter(): Promise<HighlighterCore> {
	core ??= (async () => {
		const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] = await Promise.all([
			import('shiki/core'),
			import('shiki/engine/javascript'),
		]);
		const theme = createCssVariablesTheme({ name: 'oxios', variablePrefix: '--code-', fontStyle: true });
		// The engine in JavaScript needs no WebAssembly, which the page's policy forbids.
		return createHighlighterCore({
			themes: [theme],
			langs: [],
			engine: createJavaScriptRegexEngine({ forgiving: true }),
		});
	})();
	return core;
}

/** highlight returns the tokens of each line, or undefined for a language that is not known. */
export async function highlight(code: string, lang: string): Promise<ThemedToken[][] | undefined> {
	const name = aliases[lang.toLowerCase()] ?? lang.toLowerCase();
	const load = languages[name];
	if (!load || code.length > LIMIT) return undefined;
	const h = await highlighter();
	if (!loading.has(name)) {
		loading.set(
			name,
			load().then((m) => h.loadLanguage((m as { default: LanguageInput }).default)),
		);
	}
	await loading.get(name);
	return h.codeToTokensBase(code, { lang: name, theme: 'oxios' });
}
