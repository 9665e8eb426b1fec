// The actions of a card are whole and on the screen at once, in the conversation and in the inbox, however low the window is.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browser, fakePage } from './serve.mjs';
import { openView, viewPage, views } from './views.mjs';

let chrome, served;
before(async () => {
	chrome = await browser();
	served = await fakePage();
});
after(async () => {
	await chrome?.close();
	await served?.stop();
});

/** cut names the buttons of the card that are not whole in what scrolls, with the pixels that are missing. */
const cut = (page) =>
	page.locator('[role=alertdialog]').evaluate((card) => {
		const box = card.closest('.thread').getBoundingClientRect();
		return [...card.querySelectorAll('.act button')].flatMap((b) => {
			const r = b.getBoundingClientRect();
			const over = Math.max(r.bottom - box.bottom, box.top - r.top);
			return over > 0.5 ? [`${b.textContent.trim()}: ${Math.round(over)}`] : [];
		});
	});

const view = (name) => views.find((v) => v.name === name);
const names = ['approval-long', 'approval-network', 'approval-diff', 'approval-kind', 'tried', 'inbox', 'inbox-diff'];

// The last is the window at 1280 × 800 and 200 %.
for (const [width, height, lang] of [
	[1280, 800, 'en'],
	[900, 600, 'ko'],
	[640, 480, 'en'],
	[640, 400, 'ko'],
]) {
	describe(`a card at ${width} × ${height}, ${lang}`, () => {
		for (const name of names) {
			it(`${name} shows its actions whole`, async () => {
				const page = await viewPage(chrome, { lang, width, height });
				await openView(page, served.url, view(name), { theme: 'light', lang });
				await page.locator('[role=alertdialog] .act button').first().waitFor();
				assert.deepEqual(await cut(page), []);
				await page.context().close();
			});
		}
	});
}
