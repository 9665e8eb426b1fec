// The page after years of use and under load: 10,000 messages in a conversation, 2,000 conversations, a novel in the
// field, a theme that changes while an answer streams, and a machine that sleeps in the middle of one.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { visit } from './machine.mjs';
import { binary, call, oxios, passFirstStart } from './oxios.mjs';
import { browser } from './serve.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const RUNS = 5000;
const SESSIONS = 2000;

/** fill makes the home one that was used for years. */
const fill = (home) =>
	promisify(execFile)('go', ['run', './kernel/store/testdata/fill', home, String(RUNS), String(SESSIONS)], {
		cwd: dirname(dirname(here)),
	});

describe('a home of years', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let o, chrome, page;

	const message = () => page.getByRole('textbox', { name: 'Message' });
	const log = () => page.getByRole('log', { name: 'Conversation' });
	const line = (title) => page.locator('aside li .open', { hasText: title });
	const turns = () => log().locator('.turn').count();
	/** Where a text stands on the screen, from the top of the conversation. */
	const topOf = (text) =>
		log().evaluate((at, words) => {
			const e = [...at.querySelectorAll('.bubble')].find((b) => b.innerText.includes(words));
			return e ? e.getBoundingClientRect().top - at.getBoundingClientRect().top : undefined;
		}, text);

	/** openLong opens the long conversation, and goes to its end: what is far from the eye is not on the page. */
	async function openLong() {
		await line('The long conversation').click();
		await log().focus();
		await page.keyboard.press('End');
		await log()
			.getByText(`Answer ${RUNS - 1}.`)
			.waitFor();
	}

	/** work returns what reads how long the page's own thread has worked, in ms: how long a frame takes is the machine's as well. */
	async function work() {
		const cdp = await page.context().newCDPSession(page);
		await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
		return async () =>
			1000 * (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value;
	}

	async function begin(text) {
		await page.getByRole('button', { name: 'New conversation' }).first().click();
		await message().fill(text);
		await message().press('Enter');
	}

	before(async () => {
		o = await oxios(join(here, 'testdata', 'load.toml'));
		await fill(o.home);
		chrome = await browser();
		page = await visit(chrome, await o.serve(), { permissions: ['clipboard-read', 'clipboard-write'] });
		await passFirstStart(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(page?.errors ?? [], [], 'errors in the page'));

	it('2,000 conversations: the newest at once, the oldest by name, by words and by the page', async () => {
		await line('The long conversation').waitFor();
		assert.equal(await page.locator('aside li').count(), 50);
		await page.keyboard.press('Control+KeyK');
		await page.getByRole('combobox').fill('Conversation 7');
		await page.getByRole('option', { name: 'Conversation 7', exact: true }).first().click();
		await log().getByText('Answer 0.').waitFor();
		await page.keyboard.press('Control+KeyF');
		const search = page.getByRole('searchbox', { name: 'Search conversations' });
		await search.fill('Conversation 1234');
		await line('Conversation 1234').first().click();
		await log().getByText('Message 0 of Conversation 1234').waitFor();
		await search.press('Escape');
		await page.getByRole('button', { name: 'Show older' }).click();
		await page.waitForFunction(() => document.querySelectorAll('aside li').length === 100);
	});

	it('10,000 messages: opens at the end with a few of them drawn, and takes a key at once', async () => {
		await openLong();
		assert.ok((await turns()) < 60, `${await turns()} turns were drawn to show one screen`);
		await message().pressSequentially('abc');
		assert.equal(await message().inputValue(), 'abc');
		await message().fill('');
	});

	it('10,000 messages: scrolls without freezing, what is read staying under the eye', async () => {
		await openLong();
		await log().hover();
		const worked = await work();
		const took = [];
		for (let i = 0; i < 40; i++) {
			const began = await worked();
			await page.mouse.wheel(0, -300);
			await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
			took.push((await worked()) - began);
		}
		took.sort((a, b) => a - b);
		assert.ok(took[20] < 150, `half of the steps kept the page busy for more than ${took[20]} ms`);
		assert.ok(took.at(-1) < 500, `a step kept the page busy for ${took.at(-1)} ms`);
		// Far above nothing is drawn yet: what comes there must not move what is read.
		await log().evaluate((at) => (at.scrollTop = at.scrollHeight / 2));
		const seen = await log().evaluate(async (at) => {
			const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
			const first = () =>
				[...at.querySelectorAll('.bubble')].find(
					(b) => b.getBoundingClientRect().top >= at.getBoundingClientRect().top,
				);
			while (!first()) await frame();
			for (let i = 0; i < 30; i++) await frame();
			const moves = [];
			for (let i = 0; i < 40; i++) {
				const read = first();
				const before = read.getBoundingClientRect().top;
				at.scrollTop -= 200;
				await frame();
				await frame();
				moves.push(Math.round(read.getBoundingClientRect().top - before));
			}
			return moves;
		});
		assert.deepEqual(
			seen.filter((by) => by < 195 || by > 205),
			[],
			'what was read jumped',
		);
		assert.ok((await turns()) < 150, `${await turns()} turns are drawn: what is far away was left on the page`);
	});

	it('10,000 messages: Home leads to the first of them, End to the last, a search into the middle', async () => {
		await openLong();
		await log().focus();
		await page.keyboard.press('Home');
		await log().getByText('Message 0 of The long').waitFor();
		await page.waitForFunction(() => document.querySelector('[role=log]').scrollTop === 0);
		await page.keyboard.press('End');
		await log()
			.getByText(`Answer ${RUNS - 1}.`)
			.waitFor();
		await page.keyboard.press('Control+KeyF');
		await page.getByRole('searchbox', { name: 'Search conversations' }).fill('Message 2345 of');
		await line('Message 2345 of').click();
		await log().getByText('Message 2345 of').waitFor();
		await page.getByRole('searchbox', { name: 'Search conversations' }).press('Escape');
		const top = await topOf('Message 2345 of');
		assert.ok(top >= -2 && top < 200, `what was found stands at ${top}`);
	});

	it('10,000 messages: the next one is answered, and followed', async () => {
		await openLong();
		await log().focus();
		await page.keyboard.press('End');
		await message().fill('One more');
		await message().press('Enter');
		await log().getByText('You said: One more').waitFor();
		const rest = await log().evaluate((at) => at.scrollHeight - at.scrollTop - at.clientHeight);
		assert.ok(rest < 4, `the end is ${rest} px below the screen`);
	});

	it('turns as fast as they come: the session is not read for each, what is far is not drawn, keys are heard', async () => {
		let readings = 0;
		page.on('websocket', (socket) =>
			socket.on('framesent', ({ payload }) => (readings += /"state\.session(Page)?"/.test(payload) ? 1 : 0)),
		);
		await page.reload();
		await begin('The first of many');
		await log().getByText('You said: The first of many').waitFor();
		const { run_id: first } = await call(page, 'agents.submit', { text: 'Elsewhere' });
		await call(page, 'agents.wait', first);
		const session = (await call(page, 'state.sessions', { search: 'The first of many', limit: 1 }))[0];
		const before = readings;
		const turn = async (i) => {
			const { run_id } = await call(page, 'agents.submit', { session_id: session.id, text: `Turn ${i} of many` });
			await call(page, 'agents.wait', run_id);
		};
		for (let i = 0; i < 150; i++) await turn(i);
		await log().getByText('You said: Turn 149 of many').waitFor();
		assert.ok(readings - before < 15, `the session was read ${readings - before} times for 150 turns`);
		assert.ok((await turns()) < 100, `${await turns()} turns are drawn`);
		await message().fill('heard');
		assert.equal(await message().inputValue(), 'heard');
		await message().fill('');
	});

	it('a pasted novel: becomes an attachment, and only a text that can still be typed in goes into the field', async () => {
		await page.getByRole('button', { name: 'New conversation' }).first().click();
		const chips = page.getByRole('list', { name: 'Attachments' });
		const asText = page.getByRole('button', { name: 'Put into the message as text' });
		const paste = async (text) => {
			await page.evaluate((words) => navigator.clipboard.writeText(words), text);
			await message().press('Control+v');
			await chips.getByRole('button', { name: /^Open Call me Ishmael/ }).waitFor();
		};
		const words = 'Call me Ishmael. Some years ago, never mind how long precisely. ';
		await paste(words.repeat(14_000));
		assert.equal(await asText.count(), 0);
		await chips.getByRole('button', { name: /^Remove/ }).click();
		const chapter = words.repeat(1000);
		await paste(chapter);
		await asText.click();
		await page.waitForFunction((n) => document.querySelector('textarea').value.length === n, chapter.length);
		const worked = await work();
		const took = [];
		for (const key of 'and more') {
			const began = await worked();
			await message().press(key);
			await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
			took.push((await worked()) - began);
		}
		took.sort((a, b) => a - b);
		assert.ok(took[4] < 250, `a key keeps the page busy for ${took} ms`);
		await message().fill('');
	});

	it('a theme that changes while an answer streams: loses no word, does not move, and flashes nothing', async () => {
		await begin('Speak steadily');
		await log().getByText('word60').waitFor();
		await page.evaluate(() => {
			window.blank = 0;
			const look = () => {
				if (!document.querySelector('[role=log] .say')) window.blank++;
				window.looks = requestAnimationFrame(look);
			};
			look();
		});
		for (const theme of ['Dark', 'Light', 'Dark']) {
			const before = await log().evaluate((at) => getComputedStyle(at).color);
			await page.keyboard.press('Control+KeyK');
			await page.getByRole('combobox').fill(theme);
			await page.getByRole('option', { name: theme }).first().click();
			await page.waitForFunction((c) => getComputedStyle(document.querySelector('[role=log]')).color !== c, before);
			const rest = await log().evaluate((at) => at.scrollHeight - at.scrollTop - at.clientHeight);
			assert.ok(rest < 60, `the end is ${rest} px below the screen`);
		}
		await log().getByText('The end.').waitFor();
		const words = (await log().locator('.say').innerText()).match(/word\d+/g);
		assert.deepEqual(
			words,
			Array.from({ length: 240 }, (_, i) => `word${i + 1}`),
		);
		assert.equal(await page.evaluate(() => (cancelAnimationFrame(window.looks), window.blank)), 0);
	});

	for (const [who, pid] of [
		['the machine', () => [o.server.pid, o.model.pid]],
		['the model', () => [o.model.pid]],
		['Oxios', () => [o.server.pid]],
	]) {
		it(`${who} sleeps in the middle of an answer: it goes on after it, without a gap`, async () => {
			await begin('Speak steadily');
			await log().getByText('word30').waitFor();
			for (const p of pid()) process.kill(p, 'SIGSTOP');
			await new Promise((done) => setTimeout(done, 5000)); // the sleep itself
			for (const p of pid()) process.kill(p, 'SIGCONT');
			await log().getByText('The end.').waitFor();
			const words = (await log().locator('.say').innerText()).match(/word\d+/g);
			assert.deepEqual(
				words,
				Array.from({ length: 240 }, (_, i) => `word${i + 1}`),
			);
			await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
			assert.match((await o.cli('audit', 'verify')).out, /intact/);
		});
	}
});
