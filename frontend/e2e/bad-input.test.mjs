// What bad input gets in the page, on the real kernel with a model that misbehaves: each time a sentence that says what
// happened, what was kept and what to do; nothing lost, nothing half done, nothing that turns for ever.
// The terminal's half is app/cli/badinput_test.go, which plays the same scenarios.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { binary, oxios, passFirstStart, setVersion } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
let o, chrome, page, errors;

const message = () => page.getByRole('textbox', { name: 'Message' });
const log = () => page.getByRole('log', { name: 'Conversation' });
const card = () => page.getByRole('alertdialog');
const note = (title) => log().locator('.note', { hasText: title });
const status = () => page.getByRole('contentinfo', { name: 'Status' });
/** problem is what the status line says of a trouble that no call of the page's own reports. */
const problem = () => status().locator('button .trunc');
const conversation = (title) => page.locator('aside li .open', { hasText: title });
const wrote = (name) => existsSync(join(o.folder, name));

async function say(text) {
	await message().fill(text);
	await message().press('Enter');
}

/** begin says something in a conversation of its own. */
async function begin(text) {
	await page.getByRole('button', { name: 'New conversation' }).first().click();
	await say(text);
}

/** says waits for a note, and checks its sentences and that nothing on the page still turns. */
async function says(title, ...sentences) {
	await note(title).waitFor();
	const text = await note(title).innerText();
	for (const s of sentences) assert.ok(text.includes(s), `${title}: got ${text}, want ${s} in it`);
	await page.waitForFunction(() => !document.querySelector('.spin'));
}

/** visit opens the page with the link of a server, in a browser that was never there. */
async function visit(link) {
	await page?.context().close();
	const context = await chrome.newContext({
		viewport: { width: 1280, height: 800 },
		locale: 'en',
		permissions: ['clipboard-read', 'clipboard-write'],
	});
	context.setDefaultTimeout(20_000);
	page = await context.newPage();
	page.on('pageerror', (e) => errors.push(e.message));
	await page.goto(link);
}

describe('bad input', { skip }, () => {
	before(async () => {
		chrome = await browser();
	});
	after(async () => {
		await chrome?.close();
	});
	beforeEach(() => {
		errors = [];
	});
	afterEach(() => {
		assert.deepEqual(errors, [], 'errors in the page');
	});

	describe('while Oxios runs', () => {
		before(async () => {
			errors = [];
			o = await oxios();
			await visit(await o.serve());
			await passFirstStart(page);
		});
		after(() => o?.end());

		it('a wrong key: says who refused it, keeps the message, and leads to the models', async () => {
			await begin('Try the wrong key');
			await says(
				'The key was refused',
				'Incorrect API key',
				'Your message is kept.',
				'Check the key in Settings, Models',
			);
			await note('The key was refused').getByRole('button', { name: 'Models and keys' }).click();
			await page.getByRole('heading', { name: 'Models' }).waitFor();
			await page.getByRole('button', { name: 'Chat', exact: true }).click();
			await log().getByText('Try the wrong key').waitFor();
			await note('The key was refused').getByRole('button', { name: 'Ask again' }).waitFor();
		});

		it('an unknown model: names it and says where to choose another', async () => {
			await begin('Ask an unknown model');
			await says('The provider does not know this model', 'oxios-demo', 'Your message is kept.', 'Choose a model');
			await note('The provider').getByRole('button', { name: 'Models and keys' }).waitFor();
		});

		it('no quota left: says so and what helps', async () => {
			await begin('Is the quota gone');
			await says('The quota is used up', 'no credit left', 'Your message is kept.', 'Add credit at the provider');
		});

		it('an endpoint that is down: tells each try, then asks again once it is there', async () => {
			await o.model.stop();
			await begin('Is anybody there?');
			await log().getByText('Trying again (2 of 3)').waitFor();
			await says(
				'The model does not answer',
				'Nothing answers at',
				'Your message is kept.',
				'Start it, then try again',
			);
			await o.startModel();
			await note('The model does not answer').getByRole('button', { name: 'Ask again' }).click();
			await log().getByText('You said: Is anybody there?').waitFor();
		});

		for (const words of ['cut the call', 'lose the finish']) {
			it(`a stream cut in the middle (${words}): keeps what came, runs no tool of it, and goes on`, async () => {
				await begin(`Please ${words}`);
				await says('The answer was cut off', 'What came is kept above.', 'No step of the unfinished part was run.');
				await log().getByText('I will write the file now.').waitFor();
				await note('The answer was cut off').getByRole('button', { name: 'Continue' }).click();
				await log().getByText('You said: Go on where you stopped.').waitFor();
				assert.equal(wrote('cut.txt'), false, 'a call that was cut off was run');
			});
		}

		it('malformed tool arguments: says that nothing was done, and the run goes on', async () => {
			await begin('Send malformed arguments');
			await log().getByText('The arguments of write are not valid JSON').first().waitFor();
			await log().getByText('Nothing was done.').first().waitFor();
			await log().getByText('I wrote nothing').waitFor();
			assert.equal(wrote('malformed.txt'), false);
		});

		it('a tool that does not exist: names it, and the run goes on', async () => {
			await begin('Please teleport');
			await log().getByText('There is no tool "teleport". Nothing was done.').waitFor();
			await log().getByText('I cannot do that here.').waitFor();
		});

		it('an endless tool loop: ends at its limit with an answer that says so, and can go on', async () => {
			await begin('Look without end');
			await says('The step limit was reached', 'Every step is kept.', 'it can go on from here');
			await log().getByText('I looked, and found nothing so far.').waitFor();
			await log().getByText('Searched 8 times by name').waitFor();
			await note('The step limit was reached').getByRole('button', { name: 'Continue' }).click();
			await log().getByText('You said: Go on where you stopped.').waitFor();
		});

		it('the same step without end: is ended, and can go on', async () => {
			await begin('Do the same again');
			await says('The run was ended', 'gave the same result 6 times', 'What was done before is kept.');
			await note('The run was ended').getByRole('button', { name: 'Continue' }).waitFor();
		});

		it('a message of 10 MB: is not taken, and what was written stays', async () => {
			await page.getByRole('button', { name: 'New conversation' }).first().click();
			await message().fill('Half a thought ');
			await page.evaluate(() => navigator.clipboard.writeText('word '.repeat(2 << 20)));
			await message().press('Control+v');
			await page.getByRole('alert').getByText('What you pasted is 10.5 MB; at most 1 MB can be sent.').waitFor();
			assert.equal(await message().inputValue(), 'Half a thought ');
			await page.evaluate(() => navigator.clipboard.writeText('and its end'));
			await message().press('Control+v');
			await page.getByRole('alert').waitFor({ state: 'detached' });
			await message().press('Enter');
			await log().getByText('You said: Half a thought and its end').waitFor();
		});

		it('a config.toml with an error: points at the line, and the last good one stays in force', async (t) => {
			t.after(() => o.writeConfig(o.config));
			await o.writeConfig(o.config.replace('max_tool_calls = 8', 'max_tool_calls = 3'));
			assert.equal((await o.cli('config', 'get', 'max_tool_calls')).out, '3\n');
			await begin('Look without end, but for 3');
			await says('The step limit was reached');
			await log().getByText('Searched 3 times by name').waitFor();
			const bad = o.config.replace('max_tool_calls = 8', 'max_tool_call = 5');
			await o.writeConfig(bad);
			await problem().filter({ hasText: 'line 5' }).waitFor();
			await problem().filter({ hasText: 'line 5' }).click();
			await page.getByRole('alert').getByText('max_tool_call').first().waitFor();
			await page.getByRole('button', { name: 'Settings', exact: true }).click();
			await page.getByText('config.toml has an error').first().waitFor();
			await page.getByRole('button', { name: 'Language', exact: true }).click();
			await page.getByText('한국어').click();
			await page.getByRole('alert').getByText('nothing was changed').waitFor();
			assert.equal(await readFile(join(o.disk, 'config.toml'), 'utf8'), bad);
			for (const left of [2, 1]) {
				assert.equal(await page.getByRole('button', { name: 'Dismiss' }).count(), left);
				await page.getByRole('button', { name: 'Dismiss' }).first().click();
			}
			await page.getByRole('button', { name: 'Chat', exact: true }).click();
			await begin('Look without end, still for 3');
			await says('The step limit was reached');
			await log().getByText('Searched 3 times by name').waitFor();
			await o.writeConfig(o.config);
			await problem().filter({ hasText: 'line 5' }).waitFor({ state: 'detached' });
		});

		it('two processes on one home: the second is turned away, and a command works through the first', async () => {
			const second = await o.cli('serve');
			assert.equal(second.code, 1);
			assert.match(second.err, /Oxios already runs for .*serve/);
			const ran = await o.cli('run', 'From the terminal');
			assert.equal(ran.code, 0, ran.err);
			await conversation('From the terminal').click();
			await log().getByText('You said: From the terminal').waitFor();
		});

		it('a revoked approval: the same call asks again, and nothing ran in between', async () => {
			await begin('Please remove twice');
			await card().getByText('rm -f once.txt').waitFor();
			await card().getByRole('button', { name: 'More' }).click();
			await answer(page.getByRole('menuitem', { name: /Approve for this run/ }));
			await card().getByText('rm -f other.txt').waitFor();
			const granted = page.getByRole('note', { name: /Approved for this run/ });
			await granted.getByText('rm -f once.txt').waitFor();
			await granted.getByRole('button', { name: 'Take back' }).click();
			await granted.waitFor({ state: 'detached' });
			await answer(card().getByRole('button', { name: 'Approve once' }));
			await card().getByText('rm -f once.txt').waitFor();
			await answer(card().getByRole('button', { name: /^Deny/ }));
			await answer(card().getByRole('button', { name: 'Deny', exact: true }));
			await log().getByText('It came to this').waitFor();
			assert.equal(await log().getByText('Ran rm -f once.txt').count(), 1);
		});
	});

	describe('when Oxios itself is hit', () => {
		beforeEach(async () => {
			o = await oxios();
		});
		afterEach(() => o?.end());

		it('a full disk: the message stays in the field; a run ends, and its end is written with space again', async () => {
			const [told, help] = (await o.mount())
				? ['The disk is full', 'Free some space']
				: ['The disk did not take what was to be saved', 'Check that the disk is there'];
			await visit(await o.serve());
			await passFirstStart(page);
			await begin('Before');
			await log().getByText('You said: Before').waitFor();
			await o.fill();
			await say('Is there room?');
			await page.locator('#composer-problem', { hasText: told }).waitFor();
			await page.getByRole('alert').getByText('Nothing can be saved').waitFor();
			assert.equal(await message().inputValue(), 'Is there room?');
			await o.empty();
			await message().press('Enter');
			await log().getByText('You said: Is there room?').waitFor();

			await begin('Speak slowly');
			await log().getByText('One two').waitFor();
			await o.fill();
			await says(told, help);
			await log().getByText('eighteen nineteen twenty.').waitFor();
			await o.empty();
			await problem().filter({ hasText: told }).waitFor({ state: 'detached' });
			await page.reload();
			await conversation('Speak slowly').click();
			await says(told);
			await log().getByText('eighteen nineteen twenty.').waitFor();
			await conversation('Before').click();
			await log().getByText('You said: Before').waitFor();
			assert.match((await o.cli('audit', 'verify')).out, /intact/);
		});

		it('a database from a newer version: is left alone, and the open page says that nobody answers', async () => {
			await visit(await o.serve());
			await passFirstStart(page);
			await begin('Before the update');
			await log().getByText('You said: Before the update').waitFor();
			await o.server.stop();
			await status().getByText('Not connected to Oxios').waitFor();
			const path = join(o.home, 'oxios.db');
			const older = await setVersion(path, 99);
			const before = await readFile(path);
			await assert.rejects(o.serve(), /newer Oxios[^]*Nothing was changed[^]*Update Oxios/);
			assert.deepEqual(await readFile(path), before, 'the database was changed');
			await setVersion(path, older);
			await visit(await o.serve());
			await conversation('Before the update').click();
			await log().getByText('You said: Before the update').waitFor();
		});

		it('kill -9 in the middle: nothing turns for ever, and the next start has it all', async () => {
			await visit(await o.serve());
			await passFirstStart(page);
			await begin('Please sleep');
			await answer(card().getByRole('button', { name: 'Approve once' }));
			await log().getByText('Run sleep 60').waitFor();
			await card().waitFor({ state: 'detached' });
			await begin('Please remove twice');
			await card().getByText('rm -f once.txt').waitFor();
			await conversation('Please sleep').click();
			await log().getByText('Run sleep 60').waitFor();
			await o.server.kill();
			await log().getByText('what this run does now is not known').waitFor();
			assert.equal(
				await page.evaluate(() =>
					[...document.querySelectorAll('.spin')].every((e) => getComputedStyle(e).animationName === 'none'),
				),
				true,
			);

			await visit(await o.serve());
			await conversation('Please sleep').click();
			await says('One step may or may not have run', 'Run sleep 60', 'Look there before you rely on it.');
			await log().getByText('It came to this: It is not known whether this step ran').waitFor();
			assert.equal(wrote('slept.txt'), false);
			await status().getByText('1 waits for you').click();
			await card().getByText('rm -f once.txt').waitFor();
			await answer(card().getByRole('button', { name: 'Approve once' }));
			await card().getByText('rm -f other.txt').waitFor();
		});
	});
});
