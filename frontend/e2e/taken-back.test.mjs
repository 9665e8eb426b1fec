// A yes that was a wrong click: it is taken back until its step starts, and undone afterwards. On the real kernel, where
// another run holds the only place, so that the step has to wait for it.
import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, call, oxios, visit } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'taken-back.toml');
let o, chrome, page, errors;

const at = (name) => join(o.folder, name);
const card = () => page.getByRole('alertdialog');
const approve = () => card().getByRole('button', { name: 'Approve once', exact: true });
const note = () => page.getByRole('note', { name: /^Approved: / });
const button = (name) => note().getByRole('button', { name, exact: true });

async function until(what, ok) {
	for (const end = Date.now() + 30_000; !(await ok()); await page.waitForTimeout(20))
		assert.ok(Date.now() < end, `not within 30 s: ${what}`);
}

/** approved begins a run that asks, has another one take the only place, and says yes. */
async function approved() {
	for (const name of ['held', 'go', 'end', 'package.json']) rmSync(at(name), { force: true });
	await page.keyboard.press('Alt+KeyN');
	const message = page.getByRole('textbox', { name: 'Message', exact: true });
	await message.fill('Write the list');
	await message.press('Enter');
	await card().waitFor();
	await call(page, 'agents.submit', { text: 'Hold the place' });
	await until('the other run has the place', () => existsSync(at('held')));
	await answer(approve());
	await button('Take back').waitFor();
	assert.equal(await button('Undo').count(), 0);
	assert.equal(existsSync(at('package.json')), false);
}

describe('a yes that was a wrong click', { skip }, () => {
	before(async () => {
		o = await oxios(script);
		await o.writeConfig(`${o.config}mode = "autonomous"\nmax_concurrent = 1\n`);
		writeFileSync(at('hold.sh'), 'touch held\nwhile [ ! -e go ]; do sleep 0.05; done\n');
		writeFileSync(at('rest.sh'), 'while [ ! -e end ]; do sleep 0.05; done\n');
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('is taken back before its step starts, and then nothing is done', async () => {
		await approved();
		await accessible(page);
		await button('Take back').click();
		await note().waitFor({ state: 'detached' });
		writeFileSync(at('end'), '');
		writeFileSync(at('go'), '');
		await page.getByRole('log').getByText('It came to this').waitFor();
		assert.equal(existsSync(at('package.json')), false);
	});

	it('is undone once its step has started', async () => {
		await approved();
		writeFileSync(at('go'), '');
		await button('Undo').waitFor();
		assert.equal(await button('Take back').count(), 0);
		await until('the step has done its work', () => existsSync(at('package.json')));
		await button('Undo').click();
		const dialog = page.getByRole('dialog');
		await dialog.getByRole('button', { name: 'Stop it and look' }).click(); // it has not ended
		await dialog.getByRole('button', { name: 'Undo 1 file' }).click();
		await dialog.waitFor({ state: 'detached' });
		assert.equal(existsSync(at('package.json')), false);
	});
});
