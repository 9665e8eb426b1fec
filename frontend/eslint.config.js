import boundaries from 'eslint-plugin-boundaries';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

// Which part may import which: ui only ui, kernel only itself, a feature ui and kernel, the shell everything.
const to = (...type) => ({ to: { element: { type } } });
const walls = [
	{ from: { element: { type: 'ui' } }, allow: to('ui') },
	{ from: { element: { type: 'kernel' } }, allow: to('kernel') },
	{ from: { element: { type: 'feature' } }, allow: to('ui', 'kernel') },
	{
		from: { element: { type: 'feature' } },
		allow: { to: { element: { type: 'feature', captured: { name: '{{from.element.captured.name}}' } } } },
	},
	{ from: { element: { type: 'shell' } }, allow: to('ui', 'kernel', 'feature', 'shell') },
];

export default ts.config(
	{ ignores: ['dist', 'node_modules', 'test-results', 'wailsjs', '**/*.gen.ts'] },
	...ts.configs.recommended,
	...svelte.configs.recommended,
	{
		languageOptions: { globals: { ...globals.browser, ...globals.node } },
		rules: {
			'@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
			'no-console': 'error',
			// State is replaced, never changed in place, so plain sets and maps are enough.
			'svelte/prefer-svelte-reactivity': 'off',
			// A space at the edge of a text survives only in braces.
			'svelte/no-useless-mustaches': 'off',
		},
	},
	{
		files: ['**/*.svelte', '**/*.svelte.ts'],
		languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
	},
	{ files: ['e2e/**'], rules: { 'no-console': 'off' } },
	{
		files: ['src/**'],
		plugins: { boundaries },
		settings: {
			'import/resolver': { node: { extensions: ['.ts', '.svelte.ts', '.svelte', '.js'] } },
			'boundaries/elements': [
				{ type: 'ui', pattern: 'src/ui' },
				{ type: 'kernel', pattern: 'src/kernel' },
				{ type: 'feature', pattern: 'src/features/*', capture: ['name'] },
				{ type: 'shell', pattern: 'src/shell' },
			],
		},
		rules: { 'boundaries/dependencies': ['error', { default: 'disallow', policies: walls }] },
	},
);
