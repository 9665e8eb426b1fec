// The audit record on the real kernel: what was done stands in it, is found, verified, and leads to its run.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { begin, binary, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
let o, chrome, page, errors;

const rows = () => page.locator('table[data-table=audit] tr.line');
const chain = () => page.locator('main .chain');

describe('the audit record', { skip }, () => {
	before(async () => {
		o = await oxios();
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('shows what an agent did, narrows it, verifies it and leads to the run', async () => {
		await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Look around this folder.');
		await page.keyboard.press('Enter');
		await page.locator('.turn').last().waitFor();
		await page.keyboard.press('Control+Shift+KeyL');
		await rows().filter({ hasText: 'Ask the model' }).first().waitFor();

		await page.getByRole('searchbox', { name: 'Agent, action, path' }).fill('llm.complete');
		await page.waitForFunction(() => {
			const rows = [...document.querySelectorAll('table[data-table=audit] tr.line')];
			return rows.length > 0 && rows.every((r) => r.textContent.includes('Ask the model'));
		});

		await page.getByRole('button', { name: 'Verify now' }).click();
		await chain()
			.getByText(/Nothing was changed or removed/)
			.waitFor();
		await chain()
			.getByText(/Signed to .*Witnessed outside this folder to/)
			.waitFor();

		await rows().first().getByRole('button').click();
		const entry = page.locator('#pane-side');
		await entry.getByText('llm.complete').first().waitFor();
		await entry.getByRole('button', { name: 'Open the run' }).click();
		await page.getByText('Look around this folder.').first().waitFor();
	});

	it('saves an export that verifies alone', async () => {
		await page.keyboard.press('Control+Shift+KeyL');
		const wait = page.waitForEvent('download');
		await page.getByRole('button', { name: 'Export', exact: true }).click();
		const { out } = await o.cli('audit', 'verify', await (await wait).path());
		assert.match(out, /records, intact/);
	});
});
