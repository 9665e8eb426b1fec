import { render } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import Words from './Words.svelte';

it.each([
	['Run `oxios doctor` first.', 'Run <code>oxios doctor</code> first.'],
	['`oxios ps` or `oxios runs`', '<code>oxios ps</code> or <code>oxios runs</code>'],
	['one ` alone', 'one ` alone'],
	['`a` and ` alone', '<code>a</code> and ` alone'],
	['<b>plain</b>', '&lt;b&gt;plain&lt;/b&gt;'],
])('shows %s', (text, html) => {
	const { container } = render(Words, { text });
	expect(container.innerHTML.replaceAll(/<!--.*?-->/g, '')).toContain(html);
});
