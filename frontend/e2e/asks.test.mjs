// What a server of tools asks in the middle of a call, on the real kernel: a form, an address, and how far it is.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const data = join(dirname(fileURLToPath(import.meta.url)), 'testdata');
const shots = process.env.OXIOS_SHOTS;
let o, chrome, page, errors;

const log = () => page.getByRole('log', { name: 'Conversation' });
const card = () => page.getByRole('alertdialog');

async function say(text) {
	await page.keyboard.press('Alt+KeyN');
	const message = page.getByRole('textbox', { name: 'Message', exact: true });
	await message.fill(text);
	await message.press('Enter');
}

/** shoot makes a picture of the page in both themes and sizes. */
async function shoot(name) {
	if (!shots) return;
	for (const colorScheme of ['light', 'dark'])
		for (const [width, height] of [
			[1440, 900],
			[900, 600],
			[420, 700],
		]) {
			await page.emulateMedia({ colorScheme });
			await page.setViewportSize({ width, height });
			await page.screenshot({ path: `${shots}/${name}-${colorScheme}-${width}.png` });
		}
	await page.emulateMedia({ colorScheme: 'light' });
	await page.setViewportSize({ width: 1440, height: 900 });
}

describe('what a server asks', { skip }, () => {
	before(async () => {
		o = await oxios(join(data, 'asks.toml'));
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
		const add = ['mcp', 'add', 'rooms', '--allow', 'none', '--', process.execPath, join(data, 'asks-server.mjs')];
		assert.equal((await o.cli(...add)).code, 0);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('is a form that the person fills in', async () => {
		await say('Book a room');
		await card().getByText('The server rooms asks you something').waitFor();
		await card().getByText('Which room do you want?⟨U+202E⟩').waitFor();
		assert.equal(await card().getByRole('textbox', { name: 'Beds required' }).inputValue(), '2');
		assert.equal(await card().getByRole('combobox', { name: 'View' }).inputValue(), 'sea');
		await accessible(page);
		await shoot('asks-form');
		const send = card().getByRole('button', { name: 'Send to server' });
		assert.equal(await send.getAttribute('aria-disabled'), 'true');
		await card().getByRole('textbox', { name: 'Your name required' }).fill('Ann');
		await card().getByRole('textbox', { name: 'Beds required' }).fill('9');
		await answer(send);
		await card().getByRole('alert').getByText('Beds: The value must be at most 4. Nothing was sent.').waitFor();
		await card().getByRole('textbox', { name: 'Beds required' }).fill('3');
		await card().getByRole('checkbox', { name: 'dog' }).check();
		await card().getByLabel('From').fill('2026-12-01');
		await answer(send);
		await log().getByText('It came to this: accept').waitFor();
		await log()
			.getByText('{"beds":3,"extras":["dog"],"from":"2026-12-01","late":false,"name":"Ann","view":"sea"}')
			.first()
			.waitFor();
	});

	it('is declined, or left', async () => {
		for (const [button, said] of [
			['Decline', 'decline'],
			['Cancel', 'cancel'],
		]) {
			await say('Book a room');
			await answer(card().getByRole('button', { name: button, exact: true }));
			await log().getByText(`It came to this: ${said} {}`).waitFor();
		}
	});

	it('waits in the inbox', async () => {
		await say('Book a room');
		await card().waitFor();
		await page.keyboard.press('Alt+KeyN');
		await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Inbox' }).click();
		await card().getByText('Which room do you want?').waitFor();
		await shoot('asks-inbox');
		await answer(card().getByRole('button', { name: 'Decline' }));
		await card().waitFor({ state: 'detached' });
	});

	it('opens an address after a click alone', async () => {
		await say('Open the page');
		await card().getByText('The server rooms asks you to open rooms.example.com').waitFor();
		await card().getByText('https://rooms.example.com/sign-in?x=1').waitFor();
		await accessible(page);
		await shoot('asks-page');
		await page.context().route('https://rooms.example.com/**', (r) => r.fulfill({ body: 'Signed in' }));
		assert.equal(page.context().pages().length, 1);
		const opened = page.context().waitForEvent('page');
		await answer(card().getByRole('button', { name: 'Open rooms.example.com' }));
		assert.equal((await opened).url(), 'https://rooms.example.com/sign-in?x=1');
		await (await opened).close();
		await log().getByText('It came to this: accept {}').waitFor();
	});

	it('shows how far a call is', async () => {
		await say('Export all rooms');
		await log()
			.getByText(/\d0 % · room \d/)
			.waitFor();
		await shoot('asks-progress');
		await writeFile(join(o.disk, 'mcp', 'rooms', 'files', 'go'), '');
		await log().getByText('It came to this: All rooms are exported.').waitFor();
	});

	it('asks in Korean too', async () => {
		assert.equal((await o.cli('config', 'set', 'language', 'ko')).code, 0);
		await page.reload();
		await page.getByRole('textbox', { name: '메시지', exact: true }).waitFor();
		await page.keyboard.press('Alt+KeyN');
		await page.getByRole('textbox', { name: '메시지', exact: true }).fill('Book a room');
		await page.keyboard.press('Enter');
		await card().getByText('rooms 서버가 묻는 것이 있습니다').waitFor();
		await shoot('asks-korean');
		await answer(card().getByRole('button', { name: '거절' }));
		await card().waitFor({ state: 'detached' });
	});
});
