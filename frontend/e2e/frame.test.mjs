// The frame around the conversations, on the real kernel: the first start, the palette, keys, panes, the network, settings.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { begin, binary, far, listen, machine, ollama, visit } from './machine.mjs';
import { call } from './oxios.mjs';
import { browser, freePort, tryDemo } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
let chrome, m, page;

before(async () => {
	if (!skip) chrome = await browser();
});
after(() => chrome?.close());
afterEach(() => assert.deepEqual(page?.errors ?? [], [], 'errors in the page'));

const message = () => page.getByRole('textbox', { name: 'Message' });
const log = () => page.getByRole('log', { name: 'Conversation' });
const card = () => page.getByRole('alertdialog');
const status = () => page.getByRole('contentinfo', { name: 'Status' });
const dialog = () => page.getByRole('dialog', { name: 'Go to' });
const field = () => dialog().getByRole('combobox');
const chosen = () => dialog().getByRole('option', { selected: true });
const focused = (locator) =>
	locator.evaluate((e) => e === document.activeElement || e.contains(document.activeElement));

async function say(text) {
	await message().fill(text);
	await message().press('Enter');
}

/** done waits until nothing runs and the newest answer stands. */
async function done() {
	await status().getByText('nothing runs').waitFor();
	await log().locator('.foot').last().waitFor();
}

/** go does something with the palette, by keys alone: it types, waits until the best row is the wanted one, and takes it. */
async function go(words, wanted) {
	await page.keyboard.press('Control+KeyK');
	await field().waitFor();
	await page.keyboard.insertText(words);
	await chosen().filter({ hasText: wanted }).waitFor();
	await page.keyboard.press('Enter');
}

/** fresh makes a machine and opens its page; with first the first start stands on the screen. */
async function fresh({ first = false, options = {}, prepare = async () => {} } = {}) {
	m = await machine();
	await prepare(m);
	page = await visit(chrome, await m.serve(), options);
	if (!first) await begin(page);
}

async function putAway() {
	await page?.context().close();
	await m?.end();
	page = m = undefined;
}

describe('the first start', { skip }, () => {
	afterEach(putAway);

	it('without a model: one line to copy with a model that fits, and on by itself when the model is there', async () => {
		const port = await freePort();
		const models = [];
		await fresh({
			first: true,
			options: { permissions: ['clipboard-read', 'clipboard-write'] },
			prepare: async (m) => {
				m.env.OLLAMA_HOST = `127.0.0.1:${port}`;
			},
		});
		await page.getByText('No model was found on this machine').waitFor();
		const line = page.locator('.install code');
		assert.match(
			await line.innerText(),
			/^curl -fsSL https:\/\/ollama\.com\/install\.sh \| sh && ollama pull qwen3:[\d.]+b$/,
		);
		await page.getByText(/For \d+ GB of memory qwen3:[\d.]+b fits/).waitFor();
		await page.locator('.install').getByRole('button', { name: 'Copy' }).click();
		assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await line.innerText());

		// Ollama is installed, but its model is still on the way.
		m.onEnd(await listen(port, ollama(models)));
		await page.getByText(/Ollama runs, but has no model yet\. qwen3/).waitFor();
		assert.match(await line.innerText(), /^ollama pull qwen3:[\d.]+b$/);

		models.push('qwen3:8b');
		await page.getByRole('heading', { name: 'What may agents do without asking?' }).waitFor();
		await page.getByRole('button', { name: 'Begin' }).click();
		await page.getByText('qwen3:8b answers, working in ~/Oxios.').waitFor();
	});

	it('ends with the first answer, one click away, and does not come back', async () => {
		await fresh({ first: true });
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		await page.getByText('Ask something.').waitFor();
		await page.getByRole('button', { name: 'Write a hello file' }).click();
		await log().getByText('Demo: scripted, no language model').waitFor();
		await page.getByText('That was the first answer.').waitFor();
		assert.match(readFileSync(join(m.folder, 'hello.txt'), 'utf8'), /Hello/);
		await page.reload();
		await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
		assert.equal(await page.getByText('Ask something.').count(), 0);
	});

	it('speaks the language of the system', async () => {
		await fresh({ first: true, options: { locale: 'ko-KR' } });
		await page.getByText('이 컴퓨터에서 모델을 찾지 못했습니다').waitFor();
		assert.equal(await page.evaluate(() => document.documentElement.lang), 'ko');
	});
});

describe('the home', { skip }, () => {
	afterEach(putAway);

	it('offers what works in the folder: a repository, many files, none', async () => {
		const model = await freePort();
		await fresh({
			first: true,
			prepare: async (m) => {
				m.env.OLLAMA_HOST = `127.0.0.1:${model}`;
				m.onEnd(await listen(model, ollama(['qwen3:8b'])));
				mkdirSync(join(m.dir, 'repo'));
				execFileSync('git', ['init', '--quiet', join(m.dir, 'repo')]);
				mkdirSync(join(m.dir, 'full'));
				for (let i = 0; i < 25; i++) writeFileSync(join(m.dir, 'full', `${i}.txt`), 'x');
			},
		});
		await page.getByRole('button', { name: 'Use this' }).click();
		await page.getByRole('button', { name: 'Begin' }).click();
		await page.getByRole('button', { name: 'Write a first note' }).waitFor();
		await go('change the folder', 'Change the folder');
		await page.keyboard.insertText('~/rep');
		await chosen().filter({ hasText: 'Work in ~/repo' }).waitFor();
		await page.keyboard.press('Enter');
		await page.getByRole('button', { name: 'What changed here this week?' }).waitFor();
		await go('change the folder', 'Change the folder');
		await page.keyboard.insertText('~/full');
		await chosen().filter({ hasText: 'full' }).waitFor();
		await page.keyboard.press('Enter');
		await page.getByRole('button', { name: 'Sort these 25 files' }).waitFor();
		assert.equal(await page.locator('.starters button').count(), 4);

		// Enter on a starter is a run, once the person has said whether they trust the folder.
		await page.getByRole('button', { name: 'Sort these 25 files' }).press('Enter');
		await page.getByRole('button', { name: 'Trust it' }).press('Enter');
		await log().getByText('There are two files here.').waitFor();
	});
});

describe('the palette', { skip }, () => {
	before(async () => {
		if (skip) return;
		await fresh();
		for (const text of [
			'제주 사진을 날짜별로 정리해 줘',
			'Show me the folder with the invoices',
			'Tell me about zebras',
		]) {
			await page.keyboard.press('Alt+KeyN');
			await say(text);
			await done();
		}
	});
	after(putAway);
	beforeEach(async () => {
		await page.keyboard.press('Alt+KeyN');
		await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
	});

	it('finds a conversation by first consonants, and by words in its messages', async () => {
		await go('ㅈㅈ ㅅㅈ', '제주 사진');
		await page.locator('main h1', { hasText: '제주 사진' }).waitFor();
		await page.keyboard.press('Control+KeyK');
		await page.keyboard.insertText('invoices folder');
		await dialog().getByRole('option').filter({ hasText: 'Show me the folder' }).first().waitFor();
		await page.keyboard.press('Escape');
		// What an answer said stands in no title.
		await go('language model', 'Demo');
	});

	it('names what it is to those who cannot see it', async () => {
		await page.keyboard.press('Control+KeyK');
		assert.equal(await focused(field()), true);
		assert.equal(await field().getAttribute('aria-expanded'), 'true');
		const active = await field().getAttribute('aria-activedescendant');
		assert.equal(await chosen().getAttribute('id'), active);
		await page.keyboard.press('ArrowDown');
		assert.notEqual(await field().getAttribute('aria-activedescendant'), active);
		await page.keyboard.insertText('zzzzqq');
		await dialog().getByText('Nothing fits “zzzzqq”.').waitFor();
		assert.equal(await field().getAttribute('aria-expanded'), 'false');
		await page.keyboard.press('Escape');
		await dialog().waitFor({ state: 'detached' });
		assert.equal(await focused(message()), true);
	});

	it('shows first what was used last', async () => {
		await go('theme dark', 'Theme: Dark');
		await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
		await page.keyboard.press('Control+KeyK');
		await dialog().getByRole('group', { name: 'Used last' }).getByText('Theme: Dark').waitFor();
		await page.keyboard.press('Escape');
		await go('theme light', 'Theme: Light');
		await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
	});

	it('goes to every page of the settings, and finds it by its name in the other language', async () => {
		await go('limits', 'Settings: Limits');
		await page.getByRole('heading', { name: 'Limits', level: 1 }).waitFor();
		await go('권한', 'Settings: Permissions');
		await page.getByRole('heading', { name: 'Permissions', level: 1 }).waitFor();
	});

	it('switches model, permission mode and language', async () => {
		await go('permission mode: ask', 'Permission mode: Ask');
		await page.getByRole('button', { name: /^Permission mode: Ask/ }).waitFor();
		await go('change the model', 'Change the model');
		await chosen().filter({ hasText: 'oxios-demo' }).waitFor();
		await chosen().getByText('in force').waitFor();
		await page.keyboard.press('Backspace');
		await field().waitFor();
		await page.keyboard.press('Escape');
		await go('한국어', 'Language: 한국어');
		await page.getByRole('heading', { name: '무엇을 할까요?' }).waitFor();
		await page.keyboard.press('Control+KeyK');
		const korean = page.getByRole('dialog', { name: '이동' });
		await korean.getByRole('combobox').waitFor();
		await page.keyboard.insertText('english');
		await korean.getByRole('option', { selected: true }).filter({ hasText: 'English' }).waitFor();
		await page.keyboard.press('Enter');
		await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
	});

	it('pauses all, stops a run, continues it and exports the conversation', async () => {
		await go('pause all', 'Pause all agents');
		await status().getByText('Paused').waitFor();
		await say('Show me the folder');
		await page.getByText('All agents are paused').waitFor();
		await go('stop', 'Stop the run');
		await log().getByText('You stopped it').waitFor();
		await go('let all', 'Let all agents go on');
		await status().getByText('Paused').waitFor({ state: 'detached' });
		await go('continue', 'Continue where it ended');
		await done();
		await go('export', 'Export this conversation');
		const saved = page.waitForEvent('download');
		await chosen().filter({ hasText: 'Markdown' }).waitFor();
		await page.keyboard.press('Enter');
		const file = await saved;
		assert.match(file.suggestedFilename(), /^Show me the folder\.md$/);
		assert.match(readFileSync(await file.path(), 'utf8'), /# Show me the folder/);
	});

	it('leads to the request that waits, from anywhere, and the focus comes back after the decision', async () => {
		await say('Push my changes');
		await card().waitFor();
		await page.keyboard.press('Control+Comma');
		await page.keyboard.press('Control+KeyK');
		await dialog().getByRole('group', { name: 'Waits for you' }).getByRole('option').first().waitFor();
		await page.keyboard.insertText('push');
		await chosen().filter({ hasText: 'git push' }).waitFor();
		await page.keyboard.press('Enter');
		await page.waitForFunction(() => document.querySelector('[role=alertdialog]')?.contains(document.activeElement));
		// Keys wait until the card has stood still; D denies at once where Deny is the primary answer.
		await card()
			.getByRole('button', { name: /^Deny/ })
			.and(page.locator(':not([aria-disabled="true"])'))
			.first()
			.waitFor();
		await page.keyboard.press('KeyD');
		await card().waitFor({ state: 'detached' });
		await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
		await done();
	});
});

describe('the keys', { skip }, () => {
	before(async () => {
		if (!skip) await fresh();
	});
	after(putAway);

	/** hangul presses a key as a Korean keyboard does while Hangul is on. */
	async function hangul(code, key, modifiers) {
		const cdp = await page.context().newCDPSession(page);
		for (const type of ['rawKeyDown', 'keyUp']) {
			await cdp.send('Input.dispatchKeyEvent', {
				type,
				code,
				key,
				modifiers,
				windowsVirtualKeyCode: code.charCodeAt(3),
			});
		}
		await cdp.detach();
	}
	const CTRL = 2;

	it('work while Hangul is on', async () => {
		await message().focus();
		await hangul('KeyK', 'ㅏ', CTRL);
		await field().waitFor();
		await page.keyboard.press('Escape');
		await hangul('KeyF', 'ㄹ', CTRL);
		await page.getByRole('searchbox', { name: 'Search conversations' }).waitFor();
		await page.keyboard.press('Escape');
		await hangul('KeyB', 'ㅠ', CTRL);
		await page.getByRole('complementary', { name: 'Conversations' }).waitFor({ state: 'detached' });
		await hangul('KeyB', 'ㅠ', CTRL);
		await page.getByRole('complementary', { name: 'Conversations' }).waitFor();
	});

	it('are listed with ?, and in the settings', async () => {
		await message().focus();
		await page.keyboard.press('Shift+Slash');
		assert.equal(await message().inputValue(), '?');
		await message().fill('');
		await message().evaluate((e) => e.blur());
		await page.keyboard.press('Shift+Slash');
		await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to, find, or do').waitFor();
		await page.keyboard.press('Escape');
		await page.keyboard.press('Control+Comma');
		await page.getByRole('button', { name: 'Keyboard', exact: true }).click();
		for (const keys of ['Ctrl K', 'Ctrl N', 'Ctrl F', 'Ctrl B', 'Ctrl ,', '?']) {
			assert.ok((await page.locator('main kbd').allInnerTexts()).includes(keys), keys);
		}
	});
});

describe('the panes', { skip }, () => {
	before(async () => {
		if (!skip) await fresh();
	});
	after(putAway);

	const list = () => page.getByRole('complementary', { name: 'Conversations' });
	const edge = () => page.getByRole('separator', { name: 'Width of the list' });
	const width = async () => Math.round((await list().boundingBox()).width);
	/** kept waits until Oxios keeps a value. */
	async function kept(key, value) {
		while ((await call(page, 'infra.kept'))[key] !== value) await page.waitForTimeout(20);
	}

	it('resize by dragging and by keys, within their limits, and are there in the next browser', async () => {
		assert.equal(await width(), 256);
		const at = await edge().boundingBox();
		await page.mouse.move(at.x + 3, 300);
		await page.mouse.down();
		await page.mouse.move(at.x + 53, 300, { steps: 4 });
		await page.mouse.up();
		assert.equal(await width(), 306);
		await edge().focus();
		await page.keyboard.press('ArrowRight');
		assert.equal(await width(), 322);
		assert.equal(await edge().getAttribute('aria-valuenow'), '322');
		await page.keyboard.press('End');
		assert.equal(await width(), 400);
		await page.keyboard.press('Home');
		assert.equal(await width(), 200);
		await page.keyboard.press('Shift+ArrowRight');
		assert.equal(await width(), 264);

		// Another start has another port, so what a browser keeps by itself is not there.
		await kept('pane.list.width', '264');
		await page.context().close();
		await m.server.stop();
		page = await visit(chrome, await m.serve());
		await edge().waitFor();
		assert.equal(await width(), 264);
		await edge().dblclick();
		assert.equal(await width(), 256);
	});

	it('collapse, stay so, and come back', async () => {
		await page.keyboard.press('Control+KeyB');
		await list().waitFor({ state: 'detached' });
		await kept('pane.list', 'closed');
		await page.reload();
		await message().waitFor();
		assert.equal(await list().count(), 0);
		await page.getByRole('button', { name: 'Show the list' }).click();
		await list().waitFor();
	});

	it('are sheets in a small window, which Esc closes', async () => {
		await page.setViewportSize({ width: 900, height: 600 });
		await list().waitFor({ state: 'detached' });
		await page.keyboard.press('Control+KeyB');
		await list().waitFor();
		assert.equal(await edge().count(), 0);
		await page.keyboard.press('Escape');
		await list().waitFor({ state: 'detached' });
		await page.setViewportSize({ width: 1280, height: 800 });
	});

	it('leave everything usable at 200 % in a window of 900 by 600', async () => {
		await page.setViewportSize({ width: 450, height: 300 });
		for (const seen of [
			message(),
			page.getByRole('button', { name: 'Send' }),
			page.getByRole('button', { name: 'Settings' }),
		]) {
			const box = await seen.boundingBox();
			assert.ok(
				box && box.x >= 0 && box.x + box.width <= 450 && box.y >= 0 && box.y + box.height <= 300,
				JSON.stringify(box),
			);
		}
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 450);
		await page.keyboard.press('Control+KeyK');
		const box = await field().boundingBox();
		assert.ok(box.width > 200 && box.y + box.height < 300);
		await page.keyboard.press('Escape');
		await page.setViewportSize({ width: 1280, height: 800 });
	});
});

describe('the network', { skip }, () => {
	let provider;
	const banner = () => page.getByText('Far cannot be reached');

	beforeEach(async () => {
		if (skip) return;
		await fresh({
			prepare: async (m) => {
				provider = await far(m);
				await provider.up();
			},
		});
		await go('big', 'big');
		await page.getByRole('button', { name: 'Model: big' }).waitFor();
		await provider.down();
	});
	afterEach(putAway);

	it('is away: the message waits, says so, and goes out once with Send again', async () => {
		await say('Are you there?');
		await banner().waitFor();
		await page.getByText('Your message waits here and goes out when it is back. Nothing was sent elsewhere.').waitFor();
		await status().getByText('Far offline, 1 message waits').waitFor();
		assert.equal(await log().getByText('The model does not answer').count(), 0);
		await provider.up();
		await page.getByRole('button', { name: 'Send again' }).click();
		await log().getByText('Far heard: Are you there?').waitFor();
		await banner().waitFor({ state: 'detached' });
		assert.equal(await log().locator('.me').count(), 1);
	});

	it('comes back: the message goes out by itself', async () => {
		await say('And now?');
		await banner().waitFor();
		await provider.up();
		// The browser tells of its network; that is a hint to try, and the answer is the proof.
		await page.context().setOffline(true);
		await page.context().setOffline(false);
		await log().getByText('Far heard: And now?').waitFor();
		await banner().waitFor({ state: 'detached' });
	});

	it('is away, and a model on this machine goes on', async () => {
		await say('Are you there?');
		await banner().waitFor();
		await page.keyboard.press('Alt+KeyN');
		await banner().waitFor({ state: 'detached' });
		await go('oxios-demo', 'oxios-demo');
		await say('Show me the folder');
		await log().getByText('Demo: scripted, no language model').waitFor();
	});

	it('is away, and the message that waits can be stopped', async () => {
		await say('Never mind.');
		await banner().waitFor();
		await page.getByRole('button', { name: 'Stop' }).click();
		await log().getByText('You stopped it').waitFor();
		await banner().waitFor({ state: 'detached' });
	});
});

describe('what a screen reader hears', { skip }, () => {
	before(async () => {
		if (!skip) await fresh();
	});
	after(putAway);

	it('are whole sentences, each once, while an answer streams', async () => {
		await page.evaluate(() => {
			window.heard = [];
			new MutationObserver((list) => {
				for (const { addedNodes } of list) {
					for (const n of addedNodes) if (n.parentElement?.matches('[data-announce]')) window.heard.push(n.textContent);
				}
			}).observe(document.body, { childList: true, subtree: true });
		});
		await say('Write a hello file.');
		await done();
		await page.waitForFunction(() => window.heard.at(-1) === 'done');
		const heard = await page.evaluate(() => window.heard);
		assert.deepEqual(heard, [
			'I will write hello.txt.',
			'hello.txt is written, with one line of greeting.',
			'(Scripted demo, no language model.)',
			'done',
		]);
		assert.equal(await log().getAttribute('aria-live'), 'off');
	});
});

describe('the settings of the machine', { skip }, () => {
	before(async () => {
		if (!skip) await fresh();
	});
	after(putAway);

	it('set limits, and say what is out of bounds', async () => {
		await go('limits', 'Settings: Limits');
		const steps = page.getByRole('textbox', { name: 'Steps of a run' });
		assert.equal(await steps.inputValue(), '25');
		await steps.fill('40');
		await steps.press('Tab');
		await page.getByRole('button', { name: 'Set back' }).waitFor();
		assert.match(readFileSync(join(m.env.OXIOS_HOME, 'config.toml'), 'utf8'), /max_tool_calls = 40/);
		await steps.fill('9999');
		await steps.press('Tab');
		await page.getByText(/max_tool_calls is 9999, but must be from 1 to 500/).waitFor();
		assert.equal(await steps.inputValue(), '40');
		await page.getByRole('button', { name: 'Set back' }).click();
		await page.getByRole('button', { name: 'Set back' }).waitFor({ state: 'detached' });
		assert.equal(await steps.inputValue(), '25');
	});

	it('choose the folder of new conversations, refuse one with keys, and forget a recent one', async () => {
		mkdirSync(join(m.dir, 'notes'));
		await page.keyboard.press('Alt+KeyN');
		await go('change the folder', 'Change the folder');
		await page.keyboard.insertText('~/not');
		await chosen().filter({ hasText: 'Work in ~/notes' }).waitFor();
		await page.keyboard.press('Enter');
		await go('settings folders', 'Settings: Folders');
		const usual = page.getByRole('textbox', { name: 'New conversations work in' });
		assert.equal(await usual.inputValue(), '~/Oxios');
		await usual.fill('~/.ssh');
		await page.getByText(/holds passwords or keys/).waitFor();
		assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true);
		await usual.fill('~/Oxios');
		await page.getByRole('button', { name: 'Use by default' }).click();
		await page.waitForFunction(() => document.querySelector('main input').value === '~/notes');
		await page.getByRole('button', { name: 'Forget ~/notes' }).click();
		await page.getByRole('button', { name: 'Forget ~/notes' }).waitFor({ state: 'detached' });
	});
});
