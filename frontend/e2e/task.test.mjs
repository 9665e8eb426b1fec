// Work that is agreed on, on the real kernel with a scripted model: unclear, asked, agreed on, missed, evolved, passed.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { begin, binary, oxios, visit } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'task.toml');

describe('a task', { skip, timeout: 120_000 }, () => {
	let o, chrome, page, errors;
	const message = () => page.getByRole('textbox', { name: 'Message', exact: true });
	const log = () => page.getByRole('log', { name: 'Conversation' });
	const card = () => page.getByRole('alertdialog');
	const side = () => page.locator('#pane-side');

	before(async () => {
		o = await oxios(script);
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
		assert.deepEqual(errors, [], 'errors in the page');
	});

	it('asks before it begins, and shows how clear it is', async () => {
		await message().fill('make me a page');
		await message().press('Enter');
		await card().getByText('2 questions before it begins').waitFor();
		await page.keyboard.press('Control+Alt+KeyB');
		await side().getByText('a page says hello').waitFor();
		await side().getByText('84%, starts from 80%').waitFor();
		await side().getByRole('meter', { name: 'Constraints' }).waitFor();
	});

	it('asks again what was left open, and takes what is typed below it for the answer', async () => {
		await card().getByRole('radio', { name: 'Blue' }).check();
		await answer(card().getByRole('button', { name: 'Send answers' }));
		await card().getByText('1 question before it begins').waitFor();
		await card().getByText('Which title?').waitFor();
		await message().fill('the colour');
		await message().press('Enter');
		await card().waitFor({ state: 'detached' });
	});

	it('tells what the first version missed, and passes with the second', async () => {
		await log().getByText('1 of 2 criteria hold, score 0.50').waitFor();
		await log().getByText('2 of 2 criteria hold, score 1.00').waitFor();
		await log().getByText('Now the page has its title.').waitFor();
		await log().locator('.foot').waitFor();
		await side().getByText('All criteria hold').waitFor();
		await side().getByText('1 of 3 evolutions').waitFor();
		await side().getByText('What version 1 missed').waitFor();
		await side().getByRole('radio', { name: 'Version 1' }).check();
		await side().getByText('Not passed').waitFor();
	});

	it('keeps the plan over a reload', async () => {
		await page.reload();
		await page.locator('aside li .open').first().click();
		await side().getByText('a blue page says hello').waitFor();
		await side().getByRole('tab', { name: 'Changes' }).click();
		await side().getByText('page.html').first().waitFor();
	});
});
