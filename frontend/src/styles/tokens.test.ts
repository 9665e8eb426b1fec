import { describe, expect, it } from 'vitest';
import css from './tokens.css?raw';

/** tokens reads the meanings of a theme and follows them to the colours of the palette. */
function tokens(theme: 'light' | 'dark'): Record<string, string> {
	const palette: Record<string, string> = {};
	for (const [, name, value] of css.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g)) palette[name!] = value!;
	const block = new RegExp(`\\[data-theme='${theme}'\\]\\s*\\{([^}]*)\\}`).exec(css)![1]!;
	const out: Record<string, string> = {};
	for (const [, name, to] of block.matchAll(/--([\w-]+):\s*var\(--([\w-]+)\);/g))
		out[name!] = palette[to!] ?? out[to!]!;
	return out;
}

function luminance(hex: string): number {
	const [r, g, b] = [1, 3, 5].map((i) => {
		const c = parseInt(hex.slice(i, i + 2), 16) / 255;
		return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	}) as [number, number, number];
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
	const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p) as [number, number];
	return (x + 0.05) / (y + 0.05);
}

const grounds = ['bg', 'surface', 'sunken', 'raised', 'hover', 'active'];
const text: [string, string[]][] = [
	['text', [...grounds, 'wait-soft', 'fail-soft', 'add-soft', 'del-soft', 'accent-soft']],
	['muted', [...grounds, 'wait-soft', 'fail-soft', 'add-soft', 'del-soft']],
	['faint', ['bg', 'surface', 'sunken', 'raised', 'hover', 'active']],
	['accent-text', ['bg', 'surface', 'sunken', 'raised', 'hover', 'active', 'fail-soft', 'accent-soft']],
	['run-text', ['bg', 'surface', 'sunken', 'active', 'run-soft']],
	['wait-text', ['bg', 'surface', 'sunken', 'hover', 'active', 'wait-soft']],
	['fail-text', ['bg', 'surface', 'sunken', 'hover', 'active', 'fail-soft']],
	['taint-text', ['surface', 'taint-soft']],
	['ok-text', ['bg', 'surface', 'sunken']],
	['on-accent', ['accent', 'accent-hover']],
	['on-fail', ['fail']],
	['on-wait', ['wait']],
];

describe.each(['light', 'dark'] as const)('%s', (theme) => {
	const t = tokens(theme);
	it.each(text.flatMap(([fg, on]) => on.map((bg) => [fg, bg] as const)))('%s on %s reaches 4.5:1', (fg, bg) => {
		expect(contrast(t[fg]!, t[bg]!)).toBeGreaterThanOrEqual(4.5);
	});
	it.each(['bg', 'surface', 'sunken', 'raised'])('a control on %s reaches 3:1', (bg) => {
		expect(contrast(t.control!, t[bg]!)).toBeGreaterThanOrEqual(3);
		expect(contrast(t.accent!, t[bg]!)).toBeGreaterThanOrEqual(3);
	});
});
