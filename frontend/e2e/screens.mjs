// Makes a picture of every view in both themes, both sizes and both languages, and checks each with axe.
// node e2e/screens.mjs [folder] [only this view]
import AxeBuilder from '@axe-core/playwright';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browser, fakePage } from './serve.mjs';
import { openView, viewPage, views } from './views.mjs';

const out = process.argv[2] ?? join(tmpdir(), 'oxios-screens');
const only = process.argv[3]?.split(',');
const quick = process.env.QUICK === '1';
mkdirSync(out, { recursive: true });

/** An open menu hangs at the end of the body, beside the landmarks; everything else about it is checked. */
function audit(page) {
	return new AxeBuilder({ page }).options({ rules: { region: { enabled: false } } });
}

const page$ = await fakePage();
const chrome = await browser();
let bad = 0;
try {
	for (const lang of quick ? ['en'] : ['en', 'ko']) {
		for (const theme of quick ? ['light'] : ['light', 'dark']) {
			for (const [width, height] of quick
				? [[1280, 800]]
				: [
						[1280, 800],
						[900, 600],
					]) {
				const page = await viewPage(chrome, { lang, width, height });
				page.on('pageerror', (e) => {
					bad++;
					console.error('page error:', e.message);
				});
				page.on('console', (m) => {
					if (m.type() === 'error') console.error('console:', m.text());
				});
				for (const view of views) {
					if (only && !only.includes(view.name)) continue;
					const name = `${view.name}-${theme}-${width}-${lang}`;
					try {
						await openView(page, page$.url, view, { theme, lang });
						await page.screenshot({ path: join(out, `${name}.png`) });
						const { violations } = await audit(page).analyze();
						for (const v of violations) {
							bad++;
							console.error(
								`${name}: ${v.id} ${v.help}\n   ${v.nodes
									.slice(0, 3)
									.map((n) => `${n.html.slice(0, 160)} | ${n.any[0]?.message ?? ''}`)
									.join('\n   ')}`,
							);
						}
					} catch (e) {
						bad++;
						console.error(`${name}: ${e.message.split('\n')[0]}`);
						await page.screenshot({ path: join(out, `${name}.png`) }).catch(() => {});
					}
				}
				await page.context().close();
			}
		}
	}
} finally {
	await chrome.close();
	await page$.stop();
}
console.log(bad === 0 ? `All views are in ${out}.` : `${bad} problems.`);
process.exitCode = bad === 0 ? 0 : 1;
