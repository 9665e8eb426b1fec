// Every view, checked with axe: the states that are hard to come by on the scripted kernel, in both themes, and the ways
// through the product on the real one.
import AxeBuilder from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { begin, binary, machine, visit } from './machine.mjs';
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

/** found is what axe objects to, a line for each place. */
async function found(page) {
	const { violations } = await new AxeBuilder({ page })
		.setLegacyMode() // the page has no frames, and without it a second page is opened for each result, a third of the time
		// A menu hangs at the end of the body, beside the landmarks; everything else about it is checked.
		.options({
			resultTypes: ['violations'], // what passes is not laid out: that takes most of the time where much is on the screen
			rules: { region: { enabled: (await page.locator('[data-bits-floating-content-wrapper]').count()) === 0 } },
		})
		.analyze();
	return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${v.help}\n${n.html.slice(0, 200)}`));
}

// Each theme with its language and its size, so that all of them are there in half of the time.
for (const { theme, lang, width, height } of [
	{ theme: 'light', lang: 'en', width: 1280, height: 800 },
	{ theme: 'dark', lang: 'ko', width: 900, height: 600 },
]) {
	describe(`axe, ${theme}, ${lang}, ${width} × ${height}`, { concurrency: 2 }, () => {
		for (const view of views) {
			it(view.name, async () => {
				const page = await viewPage(chrome, { lang, width, height });
				await openView(page, served.url, view, { theme, lang });
				assert.deepEqual(await found(page), []);
				await page.context().close();
			});
		}
	});
}

describe('axe on the real kernel', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let m, page;
	before(async () => {
		m = await machine();
		page = await visit(chrome, await m.serve(), { reducedMotion: 'reduce' });
	});
	after(async () => {
		await page?.context().close();
		await m?.end();
	});
	const message = () => page.getByRole('textbox', { name: 'Message' });

	it('the first start', async () => {
		await page.getByText('No model was found on this machine').waitFor();
		assert.deepEqual(await found(page), []);
	});

	it('the home', async () => {
		await begin(page);
		assert.deepEqual(await found(page), []);
	});

	it('a conversation with a request that waits', async () => {
		await message().fill('Write a hello file.');
		await message().press('Enter');
		await page.getByText('1 file changed').waitFor();
		await message().fill('Push my changes');
		await message().press('Enter');
		await page.getByRole('alertdialog').waitFor();
		assert.deepEqual(await found(page), []);
	});

	it('each page of the settings', async () => {
		await page.keyboard.press('Control+Comma');
		const pages = page.locator('aside nav button');
		for (let i = 0; i < (await pages.count()); i++) {
			await pages.nth(i).click();
			await page.waitForFunction(() => !document.querySelector('main [aria-busy=true]'));
			assert.deepEqual(await found(page), [], await pages.nth(i).innerText());
		}
	});
});
