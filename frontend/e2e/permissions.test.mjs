// Permissions on the real kernel: a path that is kept from agents, a role, and a kind of step that is approved and taken back.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'permissions.toml');
let o, chrome, page, errors;

const at = (name) => join(o.folder, name);
const dialog = () => page.getByRole('dialog');
/** said is a text of the conversation; it is told to screen readers besides. */
const said = (text) => page.getByRole('log', { name: 'Conversation' }).getByText(text).first();
const button = (name, options) => page.getByRole('button', { name, exact: true, ...options });

async function permissions() {
	await page.keyboard.press('Control+Comma');
	await page.locator('aside nav button[data-section=permissions]').click();
	await page.getByRole('heading', { name: 'You approved' }).waitFor();
}

async function say(text) {
	await page.keyboard.press('Control+KeyN');
	const message = page.getByRole('textbox', { name: 'Message', exact: true });
	await message.fill(text);
	await message.press('Enter');
}

const axe = () => accessible(page);

describe('permissions', { skip }, () => {
	before(async () => {
		o = await oxios(script);
		mkdirSync(at('taxes'), { recursive: true });
		writeFileSync(at('taxes/2026.txt'), 'income 12\n');
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('keeps a path from agents, in a sentence that names the rule, until it is taken from the list', async () => {
		await permissions();
		await button('Add').click();
		await dialog().getByRole('textbox', { name: 'Path' }).fill(at('taxes'));
		await axe();
		await dialog().getByRole('button', { name: 'Keep from agents' }).click();
		await dialog().waitFor({ state: 'hidden' });
		await button('No longer keep ~/work/taxes from agents').waitFor();
		await axe();

		await say('Read taxes/2026.txt');
		await said(/What came of taxes\/2026\.txt: .*Refused by a rule of the person: denied_paths keeps/).waitFor();
		assert.equal(await page.getByText('income 12').count(), 0);

		await permissions();
		await button('No longer keep ~/work/taxes from agents').click();
		await button('No longer keep ~/work/taxes from agents').waitFor({ state: 'detached' });
		await say('Read taxes/2026.txt');
		await said(/What came of taxes\/2026\.txt: .*income 12/).waitFor();
	});

	it('makes a role, which holds the conversation that starts with it', async () => {
		await permissions();
		await button('Add a role').click();
		await dialog().getByRole('textbox', { name: 'Name' }).fill('lister');
		await dialog().getByRole('switch', { name: 'Only some tools' }).click();
		await dialog().getByRole('checkbox', { name: 'ls', exact: true }).check();
		await axe();
		await dialog().getByRole('button', { name: 'Save the role' }).click();
		await dialog().waitFor({ state: 'hidden' });
		await page.getByText('tools: ls', { exact: true }).waitFor();

		await page.keyboard.press('Control+KeyN');
		await button(/^Permission mode/, { exact: false }).click();
		await page.getByRole('menuitem', { name: /role lister/ }).click();
		const message = page.getByRole('textbox', { name: 'Message', exact: true });
		await message.fill('Read taxes/2026.txt');
		await message.press('Enter');
		await said(/What came of taxes\/2026\.txt: .*There is no tool "read"/).waitFor();
		assert.equal(await page.getByText('income 12').count(), 0);
		const { out } = await o.cli('ps', '--all', '--json');
		assert.equal(JSON.parse(out)[0].role, 'lister');
	});

	it('shows the rules of config.toml for single agents and for the person', async () => {
		const config = join(o.home, 'config.toml');
		const before = readFileSync(config, 'utf8');
		writeFileSync(
			config,
			`${before}\n[agents.helper]\ndenied_tools = ["exec"]\n\n[user]\ndenied_actions = ["config_change"]\n`,
		);
		await o.cli('config', 'get', 'theme'); // the file is read again
		await permissions();
		await page.getByText('Agent helper', { exact: true }).waitFor();
		await page.getByText('not the tools exec', { exact: true }).waitFor();
		await page.getByText('changes no settings', { exact: true }).waitFor();
		await axe();
		await button('Delete: lister').click();
		await page
			.getByText(/Refused by a rule that you wrote: denied_actions of the user/)
			.first()
			.waitFor();
		writeFileSync(config, before);
		await o.cli('config', 'set', 'theme', 'auto');
	});

	it('asks once for a kind of step, and again when it is taken back', async () => {
		await say('Make one');
		await button('This kind…').click();
		await page.getByText('mkdir *').first().waitFor();
		await page.getByRole('radio', { name: '1 hour' }).click();
		await answer(button('Approve this kind'));
		await said('one was asked for.').waitFor();
		assert.ok(existsSync(at('one')));

		await say('Make two');
		await said('two was asked for.').waitFor();
		assert.ok(existsSync(at('two')));

		await permissions();
		const revoke = button('Revoke mkdir *');
		await revoke.click();
		await revoke.waitFor({ state: 'detached' });
		await say('Make three');
		await button('This kind…').waitFor();
		assert.equal(existsSync(at('three')), false);
		await page.keyboard.press('Escape');
	});

	it('opens an address of the own network to all agents from a card, until it is taken from the list', async () => {
		const server = createServer((_, answer) => answer.end('the printer has paper'));
		await new Promise((done) => server.listen(0, '127.0.0.1', done));
		const url = `http://127.0.0.1:${server.address().port}/`;
		try {
			await say(`Fetch ${url}`);
			const more = button('More');
			await more.click();
			await answer(page.getByRole('menuitem', { name: 'Open 127.0.0.1 to all agents' }));
			await said(/the printer has paper/).waitFor();

			await say(`Fetch ${url}`);
			await said(/the printer has paper/).waitFor();
			await permissions();
			await button('Remove 127.0.0.1').click();
			await button('Remove 127.0.0.1').waitFor({ state: 'detached' });
			await say(`Fetch ${url}`);
			await button('More').waitFor();
		} finally {
			server.close();
		}
	});
});
