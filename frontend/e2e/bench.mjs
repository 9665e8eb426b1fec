// The control of the benchmark of the window (app/desktop/bench_test.go): the same page, home and measures in Chromium.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { oxios, passFirstStart } from './oxios.mjs';
import { browser } from './serve.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const measure = await readFile(join(root, 'app', 'desktop', 'testdata', 'measure.js'), 'utf8');
const tell = (name, value) => console.log(`${name.padEnd(28)} ${value.toFixed(1)}`);
const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];

const o = await oxios(join(here, 'testdata', 'load.toml'));
try {
	await promisify(execFile)('go', ['run', './kernel/store/testdata/fill', o.home, '5000', '2000'], { cwd: root });
	const address = await o.serve();
	const first = await browser();
	const context = await first.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
	let page = await context.newPage();
	await page.goto(address);
	await passFirstStart(page);
	const state = await context.storageState();
	await first.close();

	const [paint, ready] = [[], []];
	let chrome;
	for (let i = 0; i < 7; i++) {
		await chrome?.close();
		const began = Date.now();
		chrome = await browser();
		const again = await chrome.newContext({
			viewport: { width: 1280, height: 800 },
			locale: 'en',
			storageState: state,
		});
		page = await again.newPage();
		await page.goto(new URL('/', address).href);
		await page.evaluate(measure);
		const at = await page.waitForFunction(() => {
			const started = JSON.parse(measure.started());
			return started.paint && started.ready && started;
		});
		const { paint: p, ready: r } = await at.jsonValue();
		paint.push(p - began);
		ready.push(r - began);
	}
	console.log(`Chromium, load ${loadavg()[0].toFixed(1)}`);
	tell('first_paint_ms', middle(paint));
	tell('composer_ms', middle(ready));

	const keys = async () => JSON.parse(await page.evaluate(() => measure.keys()));
	const write = async () => {
		await page.getByRole('textbox', { name: 'Message' }).focus();
		await keys();
		await page.keyboard.type('abcd'.repeat(20), { delay: 60 });
		return keys();
	};
	const open = async (title) => {
		await page.evaluate((t) => measure.open(t), title);
		await page.waitForFunction(() => measure.took > 0);
		return page.evaluate(() => measure.took);
	};
	const idle = await write();
	await page.getByRole('textbox', { name: 'Message' }).fill('Speak steadily');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => document.querySelector('.growing')?.innerText.length > 20);
	const busy = await write();
	tell('key_p50_ms', idle.p50);
	tell('key_p95_ms', idle.p95);
	tell('key_streaming_p50_ms', busy.p50);
	tell('key_streaming_p95_ms', busy.p95);
	tell('open_10k_ms', await open('The long conversation'));
	await page.evaluate(() => measure.scroll(40, 240));
	await page.waitForFunction(() => measure.frames);
	const frames = JSON.parse(await page.evaluate(() => measure.frames));
	tell('frame_p50_ms', frames.p50);
	tell('frame_p95_ms', frames.p95);
	await chrome.close();
} finally {
	await o.end();
}
