// The first ten minutes do not fail silently: what a stranger does wrong, and what they come back to.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { afterEach, after, before, describe, it } from 'node:test';
import { binary, listen, machine, visit } from './machine.mjs';
import { accessible } from './oxios.mjs';
import { browser, freePort, tryDemo } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const KEY = 'first-key-0123456789';
let chrome, m, page;

/** model is a server that wants its key and has one model; it counts how often it was asked for an answer. */
function model(seen) {
	return async (request, response) => {
		let text = '';
		for await (const chunk of request) text += chunk;
		seen.all++;
		const json = (status, v) =>
			response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(v));
		if (request.headers.authorization !== `Bearer ${KEY}`)
			return json(401, { error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } });
		if (request.url === '/v1/models') return json(200, { data: [{ id: 'small' }] });
		if (request.url !== '/v1/chat/completions') return json(404, { error: { message: 'Nothing is here.' } });
		const asked = JSON.parse(text);
		if (asked.model !== 'small')
			return json(404, { error: { message: `The model ${asked.model} does not exist.`, code: 'model_not_found' } });
		if (text.includes('Reply with the single word')) seen.tests++;
		const chunk = (v) => response.write(`data: ${JSON.stringify(v)}\n\n`);
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		const tool = seen.able && asked.tools?.some((t) => t.function.name === 'report_number');
		const call = {
			index: 0,
			id: 'c',
			type: 'function',
			function: { name: 'report_number', arguments: '{"number":7}' },
		};
		const delta = tool ? { role: 'assistant', tool_calls: [call] } : { role: 'assistant', content: 'ready' };
		chunk({ choices: [{ index: 0, delta }] });
		chunk({ choices: [{ index: 0, delta: {}, finish_reason: tool ? 'tool_calls' : 'stop' }] });
		chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } });
		response.end('data: [DONE]\n\n');
	};
}

async function up() {
	const seen = { all: 0, tests: 0 };
	const port = await freePort();
	m.onEnd(await listen(port, model(seen)));
	return { seen, url: `http://127.0.0.1:${port}/v1` };
}

async function fresh(prepare = async () => {}) {
	m = await machine();
	const config = await prepare(m);
	await m.config(config ?? '');
	page = await visit(chrome, await m.serve());
}

/** again closes Oxios, or has it crash, and opens the same home. */
async function again(how = 'stop') {
	await m.server[how]();
	await page.context().close();
	page = await visit(chrome, await m.serve());
}

const dialog = () => page.getByRole('dialog');
const field = (name) => dialog().getByLabel(name, { exact: true });
const press = (name) => dialog().getByRole('button', { name, exact: true }).click();
/** said is the sentence at a field that is wrong. */
const said = async (name) => {
	const at = field(name);
	await page.waitForFunction((el) => el.getAttribute('aria-invalid') === 'true', await at.elementHandle());
	return page.locator(`[id="${await at.getAttribute('aria-describedby')}"]`).innerText();
};
const ids = async () => {
	const { out } = await m.cli('providers', 'list', '--json');
	return JSON.parse(out.slice(out.indexOf('['))).map((p) => p.source);
};

async function form({ url, key = KEY, kind = 'Other' }) {
	await page.getByRole('button', { name: 'Another provider, or a key' }).click();
	await field('Kind').selectOption({ label: kind });
	if (url !== undefined) await field('Address').fill(url);
	if (key !== undefined) await field('Key').fill(key);
}
const rights = () => page.getByRole('heading', { name: 'What may agents do without asking?' }).waitFor();
const message = () => page.getByRole('textbox', { name: 'Message', exact: true });

/** seen tells whether nothing is over the middle of what at stands for, and no part of it is scrolled away. */
const seen = (at) =>
	at.evaluate((e) => {
		const { left, top, width, height, bottom } = e.getBoundingClientRect();
		return bottom <= innerHeight && e.contains(document.elementFromPoint(left + width / 2, top + height / 2));
	});

describe('the first ten minutes', { skip }, () => {
	before(async () => void (chrome = await browser()));
	after(() => chrome?.close());
	afterEach(async () => {
		const errors = page?.errors ?? [];
		await page?.context().close();
		await m?.end();
		page = m = undefined;
		assert.deepEqual(errors, [], 'errors in the page');
	});

	it('say a wrong key, a dead address and a missing model at the field, and save nothing', async () => {
		await fresh();
		const { url } = await up();
		const dead = `http://127.0.0.1:${await freePort()}/v1`;
		await form({ url, key: 'wrong-key-0123456789' });
		await page.setViewportSize({ width: 900, height: 600 });
		await press('Add and test');
		assert.match(await said('Key'), /refused the key.*Check the key/s);
		assert.ok(await seen(dialog().getByText('Nothing was saved.')), 'what became of it is out of sight');
		const untested = dialog().getByRole('button', { name: 'Save without testing' });
		assert.equal(await untested.count(), 0, 'a server that answered can be saved untested');
		await accessible(page);

		await field('Key').fill(KEY);
		await field('Address').fill(dead);
		await press('Add and test');
		assert.match(await said('Address'), /Nothing answers at http:\/\/127\.0\.0\.1:\d+\/v1.*Start it/s);

		await field('Address').fill(url);
		await field('Model').fill('huge');
		await press('Add and test');
		assert.match(await said('Model'), /does not know the model huge.*Choose a model/s);
		assert.equal(await untested.count(), 0, 'a server that answered can be saved untested');
		assert.ok(!(await ids()).includes('window'), 'a provider that does not work was saved');

		// What is there is one click away, and goes on.
		await press('small');
		await rights();
		assert.ok((await ids()).includes('window'));
	});

	it('save a server that does not answer now without testing, and say so in the list', async () => {
		await fresh();
		const dead = `http://127.0.0.1:${await freePort()}/v1`;
		await form({ url: dead });
		assert.equal(await dialog().getByRole('button', { name: 'Save without testing' }).count(), 0);
		await press('Add and test');
		await said('Address');
		await press('Save without testing');
		await dialog().waitFor({ state: 'detached' });
		await page.getByText('Saved without testing. It has not answered yet.').waitFor();
		await page.reload();
		await page.getByText('Saved without testing. It has not answered yet.').waitFor();
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		await page.getByRole('button', { name: 'Later' }).click();
		await page.keyboard.press('Control+Comma');
		await page.locator('aside nav button[data-section=models]').click();
		const card = page.getByRole('region', { name: dead.slice(7, -3) });
		await card.getByText('Not tested', { exact: true }).waitFor();
		await card.getByRole('button', { name: 'Test', exact: true }).waitFor();
	});

	it('remember what was set up over a reload, a restart and a crash', async () => {
		await fresh();
		const { url } = await up();
		await form({ url });
		await press('Add and test');
		await rights();
		await page.reload();
		await rights();
		await again();
		await rights();
		await again('kill');
		await rights();
		await page.getByRole('button', { name: 'Back' }).click();
		await page.getByText('small answered when you added it.').waitFor();
		await page.getByRole('button', { name: 'Use this' }).click();
		await page.getByRole('button', { name: 'Begin' }).click();
		await message().waitFor();
		await page.reload();
		await message().waitFor();
		await again('kill');
		await message().waitFor();
		assert.equal(await page.getByText('Ask something.').count(), 1);
	});

	it('remember the demo too', async () => {
		await fresh();
		await tryDemo(page);
		await rights();
		await again('kill');
		await rights();
		await page.getByRole('button', { name: 'Begin' }).click();
		await message().waitFor();
		await again('kill');
		await message().waitFor();
		await page.getByText('The demo answers with a script').waitFor();
	});

	it('go straight to the home where the environment names address, model and key, after one quiet test', async () => {
		let seen;
		await fresh(async (m) => {
			const server = await up();
			seen = server.seen;
			Object.assign(m.env, { OXIOS_BASE_URL: server.url, OXIOS_MODEL: 'small', OXIOS_API_KEY: KEY });
		});
		await message().waitFor();
		assert.equal(seen.tests, 1);
		await page.reload();
		await message().waitFor();
		await again();
		await message().waitFor();
		assert.equal(seen.tests, 1, 'it was tested again');
	});

	it('say of a model that it only talks, in composer and conversation, and test it again', async () => {
		let seen;
		await fresh(async (m) => {
			const server = await up();
			seen = server.seen;
			Object.assign(m.env, { OXIOS_BASE_URL: server.url, OXIOS_MODEL: 'small', OXIOS_API_KEY: KEY });
		});
		const chip = (name) => page.getByRole('button', { name, exact: true });
		await chip('Model: small · chat only').waitFor();
		await message().fill('Are you there?');
		await message().press('Enter');
		const foot = page.locator('.turn .foot');
		await foot.getByText('chat only').waitFor();
		await foot.getByRole('button', { name: 'Test again' }).click();
		await page.getByText('small used no tool this time either.').waitFor();
		assert.equal(await foot.getByText('chat only').count(), 1);

		seen.able = true;
		await chip('Model: small · chat only').click();
		await page.getByText('small used no tool when it was tested.').waitFor();
		await page.locator('.pop').getByRole('button', { name: 'Test again' }).click();
		await page.getByText('small used a tool. It can work with files and commands now.').waitFor();
		await page.keyboard.press('Escape');
		await chip('Model: small').waitFor();
		await foot.getByText('chat only').waitFor({ state: 'detached' });
	});

	it('say what is wrong where the environment names something that does not answer', async () => {
		await fresh(async (m) => {
			const { url } = await up();
			Object.assign(m.env, { OXIOS_BASE_URL: url, OXIOS_MODEL: 'small', OXIOS_API_KEY: 'wrong-key-0123456789' });
		});
		await page.getByText(/Your environment names 127\.0\.0\.1:\d+\..*refused the key/).waitFor();
		await page.getByRole('button', { name: 'Test again' }).waitFor();
	});

	it('wait for a click where the environment has a key alone', async () => {
		let seen;
		await fresh(async (m) => {
			const server = await up();
			seen = server.seen;
			Object.assign(m.env, { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.url });
		});
		await page.getByText('Found a key in OPENAI_API_KEY.').waitFor();
		assert.equal(seen.all, 0, 'a key was tried unasked');
		await page.getByRole('button', { name: 'Try and use' }).click();
		await rights();
		assert.equal(seen.tests, 1);
	});

	it('never leave Add and test disabled without its reason, and derive a name from the host', async () => {
		await fresh();
		await form({ key: '' });
		const button = dialog().getByRole('button', { name: 'Add and test', exact: true });
		assert.equal(await button.isEnabled(), true);
		await button.click();
		assert.match(await said('Address'), /Enter the address of the server/);
		await field('Address').fill('models.example.com');
		await button.click();
		assert.match(await said('Address'), /begins with http/);
		await field('Kind').selectOption({ label: 'OpenAI' });
		await button.click();
		assert.match(await said('Key'), /Enter a key/);

		const { url } = await up();
		await field('Kind').selectOption({ label: 'Other' });
		await field('Address').fill(url);
		await field('Key').fill(KEY);
		assert.equal(await field('Name').getAttribute('placeholder'), url.slice(7, -3));
		await button.click();
		await rights();
		await page.getByRole('button', { name: 'Back' }).click();
		await page.getByText(url.slice(7, -3), { exact: true }).waitFor();
	});

	it('offer presets with address and key page, and say what Anthropic and Gemini lack there', async () => {
		await fresh();
		await form({ key: undefined });
		for (const [kind, address] of [
			['Anthropic', 'https://api.anthropic.com/v1'],
			['Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai'],
			['DeepSeek', 'https://api.deepseek.com/v1'],
			['Groq', 'https://api.groq.com/openai/v1'],
			['Mistral', 'https://api.mistral.ai/v1'],
			['xAI', 'https://api.x.ai/v1'],
			['Together', 'https://api.together.xyz/v1'],
			['Fireworks', 'https://api.fireworks.ai/inference/v1'],
		]) {
			await field('Kind').selectOption({ label: kind });
			assert.equal(await field('Address').inputValue(), address);
			assert.match(await dialog().getByRole('button', { name: 'Get a key' }).getAttribute('title'), /^https:/);
			const lacks = dialog().getByText(/OpenAI-compatible address\. Thinking .* prompt caching/);
			assert.equal(await lacks.count(), kind === 'Anthropic' || kind === 'Google Gemini' ? 1 : 0, kind);
		}
	});

	it('have a demo that answers in the language it was asked in, runs nothing unrelated, and has files', async () => {
		await fresh();
		await tryDemo(page);
		await page.getByRole('button', { name: 'Begin' }).click();
		const ask = async (text) => {
			await message().fill(text);
			await message().press('Enter');
		};
		await ask('Can you update the README?');
		await page.getByText('so I cannot answer that').waitFor();
		await ask('날짜 형식을 바꿔 줘');
		await page.getByText('그래서 이 말에는 답할 수 없습니다').waitFor();
		await ask('Read notes.md');
		await page.getByText('The flight to Jeju leaves at 9:40').first().waitFor();
		assert.deepEqual(readdirSync(m.folder).sort(), ['expenses.csv', 'notes.md', 'welcome.md']);
	});
});
