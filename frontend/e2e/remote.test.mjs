// A server that runs elsewhere on the real kernel: added by its address, signed in at, and called after a yes.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { answer, browser } from './serve.mjs';
import { remote } from './testdata/remote.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const data = join(dirname(fileURLToPath(import.meta.url)), 'testdata');
const shots = process.env.OXIOS_SHOTS;
let o, chrome, page, errors, far;

const rail = (name) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name });
const list = () => page.getByRole('navigation', { name: 'MCP servers' });
const log = () => page.getByRole('log', { name: 'Conversation' });
const card = () => page.getByRole('alertdialog');
const shot = async (name) => shots && (await page.screenshot({ path: `${shots}/${name}.png` }));

describe('a server that runs elsewhere', { skip }, () => {
	before(async () => {
		far = await remote();
		o = await oxios(join(data, 'server.toml'));
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
		far?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('is added by its address, and says that it needs a sign-in', async () => {
		await rail('Extensions').click();
		await page.locator('main').getByRole('button', { name: 'Add server' }).click();
		const dialog = page.getByRole('dialog', { name: 'Add an MCP server' });
		await dialog.getByRole('textbox', { name: 'Name' }).fill('counter');
		await dialog.getByRole('textbox', { name: 'Command or address' }).fill(far.url);
		await dialog.getByText(`Oxios connects to ${new URL(far.url).host}`).waitFor();
		await shot('remote-add');
		await accessible(page);
		await dialog.getByRole('button', { name: 'Add and connect' }).click();
		await dialog.waitFor({ state: 'detached' });
		await page.getByText('This server needs you to sign in').waitFor();
		await list().getByText('Sign in').waitFor();
		await shot('remote-sign-in');
		await accessible(page);
		assert.match((await o.cli('mcp', 'list')).out, /counter\s+sign in needed/);
	});

	it('is signed in at on a page that opens after a click, and connected then', async () => {
		await page.getByRole('button', { name: 'Sign in', exact: true }).click();
		const host = new URL(far.issuer).host;
		await page.getByText(`Sign in at ${host}`).waitFor();
		await shot('remote-page');
		await accessible(page);
		const opened = page.context().waitForEvent('page');
		await page.getByRole('button', { name: `Open ${host}` }).click();
		const other = await opened;
		await other.getByRole('link', { name: 'Allow' }).click();
		await other.getByText('You are signed in').waitFor();
		await other.close();
		await page.getByRole('cell', { name: 'Count words' }).waitFor();
		await page.getByText(`Signed in at ${host}`).waitFor();
		await page.getByText('Word counter 0.4.0').waitFor();
		assert.equal(await page.getByRole('button', { name: 'Show log' }).count(), 0);
		await shot('remote-signed-in');
		await accessible(page);
	});

	it('is called after a yes on a card that says where all of it goes', async () => {
		await page.keyboard.press('Alt+KeyN');
		const message = page.getByRole('textbox', { name: 'Message', exact: true });
		await message.fill('Count the words');
		await message.press('Enter');
		const host = new URL(far.url).host;
		await card().getByText(`Calls “Count words” on the server counter (${host})`).waitFor();
		await card().getByText(`All that is shown here is sent to ${host}`).waitFor();
		await shot('remote-card');
		await answer(card().getByRole('button', { name: 'Approve once' }));
		await answer(page.getByRole('dialog').getByRole('button', { name: 'Approve once' }));
		await log().getByText('It came to this: 3 words').waitFor();
	});

	it('needs a sign-in again once the person has signed out, and leaves no key when it is removed', async () => {
		await rail('Extensions').click();
		await page.getByRole('button', { name: 'Sign out' }).click();
		await page.getByText('This server needs you to sign in').waitFor();
		await page.getByRole('button', { name: 'Remove server…' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Remove server' }).click();
		await page.getByRole('heading', { name: 'No servers yet' }).waitFor();
	});
});
