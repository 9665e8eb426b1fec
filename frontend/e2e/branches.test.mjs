// The conversation as a tree, on the real kernel with a scripted model: edit, versions, other models, branches, copies.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { begin as firstStart, binary, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'branches.toml');
let o, chrome, page, errors, second, asked;

const message = () => page.getByRole('textbox', { name: 'Message', exact: true });
const log = () => page.getByRole('log', { name: 'Conversation' });
const turn = (at) => log().locator('.turn').nth(at);
const versions = (at) => turn(at).getByRole('group', { name: 'Versions of this message' });

async function shows(...texts) {
	await page.waitForFunction((want) => {
		const got = [...document.querySelectorAll('.bubble')].map((b) => b.lastChild.textContent);
		return JSON.stringify(got) === JSON.stringify(want);
	}, texts);
}

/** answered waits until the last message has its answer: what it cost stands below it. */
const answered = () => log().locator('.turn').last().locator('.foot').waitFor();

async function say(text) {
	await message().fill(text);
	await message().press('Enter');
	await log().locator('.bubble', { hasText: text }).waitFor();
	await answered();
}

/** begin says things in a conversation of its own. */
async function begin(...texts) {
	await page.keyboard.press('Control+KeyN');
	await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
	for (const text of texts) await say(text);
}

async function edit(at, text) {
	await turn(at).hover();
	await turn(at).getByRole('button', { name: 'Edit', exact: true }).click();
	await page.getByRole('textbox', { name: 'Message, edited' }).fill(text);
	await page.keyboard.press('Enter');
}

/** startSecond is another model: it passes all on to the scripted one under its own name, and keeps what it was asked. */
async function startSecond(upstream) {
	asked = [];
	const server = createServer(async (req, res) => {
		const parts = [];
		for await (const part of req) parts.push(part);
		const body = Buffer.concat(parts).toString();
		if (req.method === 'POST') asked.push(JSON.parse(body));
		const answer = await fetch(upstream + req.url.replace(/^\/v1/, ''), {
			method: req.method,
			headers: { 'content-type': 'application/json' },
			body: body ? body.replace('"other-model"', '"oxios-demo"') : undefined,
		});
		res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') });
		res.end((await answer.text()).replaceAll('oxios-demo', 'other-model'));
	});
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	return server;
}

describe('branches', { skip }, () => {
	before(async () => {
		o = await oxios(script);
		second = await startSecond(o.env.OXIOS_BASE_URL);
		const provider = `[[providers]]\nid = "second"\nname = "Second"\nbase_url = "http://127.0.0.1:${second.address().port}/v1"\n`;
		await o.writeConfig(o.config + provider);
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await firstStart(page);
	});
	after(async () => {
		await chrome?.close();
		second?.close();
		await o?.end();
	});
	beforeEach(() => {
		errors = [];
	});
	afterEach(() => {
		assert.deepEqual(errors, [], 'errors in the page');
	});

	it('an edited message is another version; the old one stays, and files do not go back', async () => {
		await begin('first thing', 'note two', 'third thing');
		await turn(1).hover();
		await turn(1).getByRole('button', { name: 'Edit', exact: true }).click();
		const field = page.getByRole('textbox', { name: 'Message, edited' });
		await log().getByText('Files do not go back: what agents changed stays changed.').waitFor();
		assert.equal(await field.evaluate((e) => e === document.activeElement), true);
		await page.keyboard.press('Escape');
		await field.waitFor({ state: 'detached' });
		const pencil = turn(1).getByRole('button', { name: 'Edit', exact: true });
		assert.equal(await pencil.evaluate((e) => e === document.activeElement), true, 'the focus is back where it was');
		await edit(1, 'note zwei');
		await shows('first thing', 'note zwei');
		await answered();
		await versions(1).getByText('2 / 2').waitFor();
		await turn(1).getByText('edited', { exact: true }).waitFor();
		for (const name of ['two', 'zwei'])
			assert.equal(await readFile(join(o.folder, `${name}.txt`), 'utf8'), `${name}\n`);
	});

	it('goes through the versions with the keyboard, the focus staying where it is', async () => {
		await versions(1)
			.getByRole('button', { name: /^Previous version/ })
			.focus();
		await page.keyboard.press('Enter');
		await shows('first thing', 'note two', 'third thing');
		const previous = versions(1).getByRole('button', { name: 'Previous version (this is 1 of 2)' });
		await previous.waitFor();
		await page.waitForFunction((e) => e === document.activeElement, await previous.elementHandle());
		assert.equal(await previous.getAttribute('aria-disabled'), 'true');
		await page.keyboard.press('ArrowRight');
		await shows('first thing', 'note zwei');
	});

	it('goes on behind the version that is shown, also after a reload', async () => {
		await versions(1)
			.getByRole('button', { name: /^Previous version/ })
			.click();
		await shows('first thing', 'note two', 'third thing');
		await say('fourth thing');
		await page.reload();
		await page.locator('aside li .open').first().click();
		await shows('first thing', 'note two', 'third thing', 'fourth thing');
	});

	it('a hit on another branch is opened with that branch', async () => {
		await page.keyboard.press('Control+KeyF');
		await page.getByRole('searchbox', { name: 'Search conversations' }).fill('note zwei');
		await page.getByText('1 conversation', { exact: true }).waitFor();
		await page.locator('aside li .open', { hasText: 'first thing' }).click();
		await shows('first thing', 'note zwei');
		await page.locator('aside').getByRole('button', { name: 'Close' }).click();
	});

	it('makes an answer again, also with another model, and for that answer alone', async () => {
		await begin('hello');
		await turn(0).getByRole('button', { name: 'Answer again' }).click();
		await page.getByRole('button', { name: 'Again with oxios-demo' }).click();
		await versions(0).getByText('2 / 2').waitFor();
		await answered();
		assert.equal(await turn(0).getByText('edited', { exact: true }).count(), 0);
		await turn(0).getByRole('button', { name: 'Answer again' }).click();
		const find = page.getByRole('combobox', { name: 'Search models' });
		await find.fill('other');
		await find.press('Enter');
		await versions(0).getByText('3 / 3').waitFor();
		await answered();
		await turn(0).locator('.foot').getByText('other-model').waitFor();
		await page.getByRole('button', { name: 'Model: oxios-demo' }).waitFor();
	});

	it('a model change is a line between two answers, and the steps are passed on', async () => {
		await begin('note three');
		await page.getByRole('button', { name: 'Model: oxios-demo' }).click();
		await page.getByRole('option', { name: /other-model/ }).click();
		asked.length = 0;
		await say('and what now?');
		await log().locator('.divider', { hasText: 'oxios-demo → other-model' }).waitFor();
		const told = asked[0].messages.filter((m) => m.role !== 'system');
		assert.deepEqual(
			told.map((m) => [m.role, m.tool_calls?.[0].id ?? m.tool_call_id]),
			[
				['user', undefined],
				['assistant', 'call00001'],
				['tool', 'call00001'],
				['assistant', undefined],
				['user', undefined],
			],
		);
	});

	it('branches into a new conversation that leads back', async () => {
		await begin('alpha', 'beta', 'gamma');
		await turn(1)
			.locator('.foot')
			.getByRole('button', { name: /^Branch from here/ })
			.click();
		await page.locator('main h1', { hasText: 'alpha (branch)' }).waitFor();
		await shows('alpha', 'beta');
		await say('delta');
		await shows('alpha', 'beta', 'delta');
		await log().locator('.divider').getByRole('button', { name: 'alpha' }).click();
		await page.locator('main h1', { hasText: /^alpha$/ }).waitFor();
		await shows('alpha', 'beta', 'gamma');
	});

	it('keeps the branch while an agent is at work, and a stopped answer with its Continue', async () => {
		await begin('one thing');
		await message().fill('speak slowly');
		await message().press('Enter');
		await log().getByText('One word after').waitFor();
		const pencil = turn(0).getByRole('button', { name: 'Edit', exact: true });
		assert.equal(await pencil.getAttribute('aria-disabled'), 'true');
		await page.getByRole('button', { name: 'Stop' }).click();
		await log().getByText('You stopped it').waitFor();
		await edit(1, 'speak quickly');
		await answered();
		await versions(1)
			.getByRole('button', { name: /^Previous version/ })
			.click();
		await log().getByText('You stopped it').waitFor();
		assert.ok((await log().innerText()).includes('One word after'), 'what came is kept');
		await log().getByRole('button', { name: 'Continue' }).click();
		await shows('one thing', 'speak slowly', 'Go on where you stopped.');
		await answered();
	});

	it('shows how full the context is, warns near its end, and has the figures', async () => {
		await begin('hello again');
		await page.getByRole('button', { name: 'Context: 9 % used' }).click();
		await page.getByText('3,100 of 32,768 tokens').waitFor();
		await page.keyboard.press('Escape');
		await say('make a table');
		await page.getByRole('button', { name: 'Context: 86 % used, Nearly full' }).waitFor();
	});

	it('copies a message, an answer, code, a table and the whole conversation', async () => {
		const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
		const copied = async (want) => {
			await page.waitForFunction(async (w) => (await navigator.clipboard.readText()).includes(w), want);
			return clipboard();
		};
		await turn(1).hover();
		await turn(1).getByRole('button', { name: 'Copy the message' }).click();
		assert.equal(await copied('make a table'), 'make a table');
		await turn(1).locator('.code').hover();
		await turn(1).locator('.code').getByRole('button', { name: 'Copy' }).click();
		assert.equal(await copied('ls -la'), 'ls -la');
		for (const [item, want] of [
			['As Markdown', '| File | Size |\n|---|---:|\n| a.txt | 4 |'],
			['For a spreadsheet', 'File\tSize\na.txt\t4'],
		]) {
			await turn(1).locator('.table').hover();
			await turn(1).locator('.table button').click();
			await page.getByRole('menuitem', { name: item }).click();
			assert.equal(await copied(want), want);
		}
		await turn(1).getByRole('button', { name: 'Copy the answer' }).click();
		await copied('```sh');
		await page
			.locator('main')
			.getByRole('button', { name: /^Actions for/ })
			.click();
		await page.getByRole('menuitem', { name: 'Copy the conversation as Markdown' }).click();
		const all = await copied('# hello again');
		assert.ok(all.includes('You said: hello again') && all.includes('| a.txt | 4 |'), all);
	});

	it('the command line shows the branch and says how many others there are', async () => {
		const { out } = await o.cli('sessions', 'list', '--json', '--search', 'speak quickly');
		const [{ id }] = JSON.parse(out);
		const shown = await o.cli('sessions', 'show', id);
		assert.match(shown.out, /Other branches, not shown: 1/);
		assert.match(shown.out, /speak slowly/);
		assert.equal(shown.out.includes('speak quickly'), false);
	});
});
