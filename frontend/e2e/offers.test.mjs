// What servers have besides tools, on the real kernel: a resource behind @, and a prompt behind the slash.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const data = join(dirname(fileURLToPath(import.meta.url)), 'testdata');
const shots = process.env.OXIOS_SHOTS;
let o, chrome, page, errors;

const message = () => page.getByRole('textbox', { name: 'Message', exact: true });
const log = () => page.getByRole('log', { name: 'Conversation' });

describe('resources and prompts of servers', { skip }, () => {
	before(async () => {
		o = await oxios(join(data, 'offers.toml'));
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
		const added = await o.cli('mcp', 'add', 'notes', '--', process.execPath, join(data, 'offers.mjs'));
		assert.match(added.out, /notes: running/, added.err);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('a resource behind @ is attached, and read when the message is sent', async () => {
		await page.keyboard.press('Alt+KeyN');
		await message().pressSequentially('What do I need? @tod');
		const row = page.getByRole('option', { name: /Today/ });
		await row.getByText('from notes').waitFor();
		if (shots) await page.screenshot({ path: `${shots}/offers-mention.png` });
		await accessible(page);
		await message().press('Enter');
		await page.getByRole('list', { name: 'Attachments' }).getByText('Today').waitFor();
		assert.equal((await message().inputValue()).trim(), 'What do I need?');
		await message().press('Enter');
		await log().getByText('You need milk.').waitFor();
		await log().getByRole('button', { name: 'Open Today' }).click();
		await page.getByRole('dialog').getByText('Milk and bread.').waitFor();
		await page.getByRole('dialog').getByText('This is what the server notes said.').waitFor();
		if (shots) await page.screenshot({ path: `${shots}/offers-attached.png` });
		await accessible(page);
		await page.keyboard.press('Escape');
	});

	it('one that cannot be read is said at the message, which stays', async () => {
		await message().pressSequentially('And before? @yester');
		await page.getByRole('option', { name: /Yesterday/ }).waitFor();
		await message().press('Enter');
		await page.getByRole('list', { name: 'Attachments' }).last().getByText('Yesterday').waitFor();
		await message().press('Enter');
		await page.getByRole('alert').getByText('Nothing was sent, and your text is kept.').waitFor();
		assert.equal((await message().inputValue()).trim(), 'And before?');
		await page.getByRole('button', { name: 'Remove Yesterday' }).click();
		await message().fill('');
	});

	it('a prompt behind the slash asks for its values', async () => {
		await message().pressSequentially('/week');
		await page
			.getByRole('option', { name: /notes:weekly/ })
			.getByText('Sums up the notes of a week.')
			.waitFor();
		await message().press('Enter');
		const form = page.getByRole('region', { name: 'Values for notes:weekly' });
		await form.getByText('Still needed: topic').waitFor();
		if (shots) await page.screenshot({ path: `${shots}/offers-prompt.png` });
		await accessible(page);
		await message().press('Enter');
		await page.getByRole('alert').getByText('The prompt notes:weekly needs a value for: topic.').waitFor();
		await form.getByRole('textbox', { name: 'topic' }).fill('my trip');
		assert.equal((await message().inputValue()).trim(), '/notes:weekly topic="my trip"');
		await form.getByRole('textbox', { name: 'topic' }).press('Enter');
		await log().getByText('It was a good week.').waitFor();
		await log().getByRole('button', { name: 'Open /notes:weekly' }).waitFor();
		if (shots) await page.screenshot({ path: `${shots}/offers-sent.png` });
	});
});
