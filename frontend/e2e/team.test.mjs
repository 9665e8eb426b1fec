// A sentence that could mean much, all the way: a question, a seed, three agents at once, a criterion that fails, one evolution, a pass.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { begin, binary, oxios, visit } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'team.toml');

describe('a task for three agents', { skip, timeout: 120_000 }, () => {
	let o, chrome, page, errors;
	const message = () => page.getByRole('textbox', { name: 'Message', exact: true });
	const log = () => page.getByRole('log', { name: 'Conversation' });
	const card = () => page.getByRole('alertdialog');
	const team = () => log().getByRole('region', { name: 'Three agents' });
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

	it('asks what the sentence leaves open', async () => {
		await message().fill('make me a site');
		await message().press('Enter');
		await card().getByText('Which colour?').waitFor();
		await page.keyboard.press('Control+Alt+KeyB');
		await side().getByText('64%, starts from 80%').waitFor();
		await card().getByRole('radio', { name: 'Blue' }).check();
		await answer(card().getByRole('button', { name: 'Send answers' }));
	});

	it('shows three agents at work at once, and who works on which criterion', async () => {
		await team().getByText('3 at work').waitFor();
		await side().getByText('A small blue site that greets').waitFor();
		await side().getByText('agent 2 works on it').waitFor();
		await side().getByText('agent 4 works on it').waitFor();
	});

	it('joins them, tells the criterion that fails, and passes with the second version', async () => {
		await team()
			.getByText(/^joined after/)
			.waitFor();
		await log().getByText('3 of 4 criteria hold, score 0.75').waitFor();
		await log().getByText('4 of 4 criteria hold, score 1.00').waitFor();
		await log().getByText('The site is ready: a page, a blue style and a script.').waitFor();
		await log().locator('.foot').waitFor();
		await side().getByText('All criteria hold').waitFor();
		await side().getByText('1 of 3 evolutions').waitFor();
	});

	it('answers with one voice, and leads to each agent', async () => {
		assert.equal(await log().getByText('I wrote the style.').count(), 0);
		await page.reload();
		await page.locator('aside li .open').first().click();
		await team()
			.getByText(/^joined after/)
			.waitFor();
		await team().getByRole('button', { name: 'Open the agent: The style is blue' }).click();
		await page
			.getByRole('row', { name: /The style is blue/ })
			.first()
			.waitFor();
		await side().getByText('I wrote the style.').waitFor();
	});
});
