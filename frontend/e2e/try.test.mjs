// A command is tried on a copy, on the real kernel: what it would do is shown, applied and undone.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { answer, browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'try.toml');
const shots = process.env.OXIOS_SHOTS;
let o, chrome, page, errors;

const at = (name) => join(o.folder, name);
const text = (name) => readFileSync(at(name), 'utf8');
const card = () => page.getByRole('alertdialog');
const button = (name) => card().getByRole('button', { name, exact: true });

async function lay() {
	writeFileSync(at('list.txt'), 'pear\napple\n');
	writeFileSync(at('old.txt'), 'old\n');
}

const untouched = () => {
	assert.equal(text('list.txt'), 'pear\napple\n');
	assert.equal(text('old.txt'), 'old\n');
	assert.equal(existsSync(at('done.txt')), false);
};

describe('try on a copy', { skip }, () => {
	before(async () => {
		o = await oxios(script);
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('shows what a command would do, applies exactly that, and takes it back', async () => {
		await lay();
		const message = page.getByRole('textbox', { name: 'Message', exact: true });
		await message.fill('Tidy this folder');
		await message.press('Enter');
		await card().waitFor();
		if ((await button('Try on a copy').count()) === 0) {
			// No overlay here: the command line says why.
			const { code, err } = await o
				.cli('approvals', 'list', '--json')
				.then(({ out }) => o.cli('approvals', 'try', JSON.parse(out)[0].id));
			assert.equal(code, 1);
			assert.match(err, /cop/);
			return;
		}
		await answer(button('Try on a copy'));
		await card().getByText('Tidied 3 files', { exact: true }).waitFor();
		untouched();
		await button('Show the difference of list.txt').click();
		await card().getByRole('group', { name: 'list.txt', exact: true }).getByText('apple').first().waitFor();
		await card().getByText('old.txt', { exact: true }).waitFor();
		await accessible(page);

		// What was tried stays over a reload, and a change of the person's own is not overwritten.
		await page.reload();
		await page.getByText('Tidy this folder', { exact: true }).first().click();
		await button('Apply').waitFor();
		writeFileSync(at('list.txt'), 'mine\n');
		await answer(button('Apply'));
		await card()
			.getByText(/this was changed in the folder: list.txt/)
			.waitFor();
		await button('Discard').click();
		await button('Approve once').waitFor();
		assert.equal(text('list.txt'), 'mine\n');
		await lay();
		await answer(button('Try on a copy'));
		await answer(button('Apply'));
		await page
			.getByText(/It said: .*Tidied 3 files/s)
			.first()
			.waitFor();
		assert.equal(text('list.txt'), 'apple\npear\n');
		assert.equal(existsSync(at('old.txt')), false);
		assert.equal(text('done.txt'), 'done\n');

		await page.getByRole('button', { name: 'Undo 3 files…' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Undo 3 files' }).click();
		await page.getByRole('dialog').waitFor({ state: 'hidden' });
		untouched();
	});

	it('has every command work on a copy where that is wanted, and undoes all that it did', async () => {
		await page.keyboard.press('Control+Comma');
		await page.locator('aside nav button[data-section=permissions]').click();
		await page.getByRole('heading', { name: 'You approved' }).waitFor();
		const wanted = page.getByRole('switch', { name: 'Commands work on a copy of the folder' });
		if ((await wanted.count()) === 0) {
			// Only at isolation level 3 there are copies, and the page says which level this is.
			await page
				.getByText(/Level [012]/)
				.first()
				.waitFor();
			return;
		}
		await wanted.click();
		await page.keyboard.press('Control+KeyN');
		mkdirSync(at('node_modules'));
		writeFileSync(at('node_modules/a.js'), 'a\n');
		const message = page.getByRole('textbox', { name: 'Message', exact: true });
		await message.fill('Clear the modules');
		await message.press('Enter');
		await answer(button('Approve once'));
		await page
			.getByText(/It said: .*Cleared/s)
			.first()
			.waitFor();
		assert.equal(existsSync(at('node_modules')), false);
		if ((await page.getByText(/It worked in the folder itself/).count()) > 0) return; // no overlay here
		await page.getByRole('button', { name: 'Undo 2 files…' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Undo 2 files' }).click();
		await page.getByRole('dialog').waitFor({ state: 'hidden' });
		assert.equal(text('node_modules/a.js'), 'a\n');
		assert.equal(existsSync(at('done.txt')), false);
	});

	it('stays whole in both themes and in Korean', { skip: !shots }, async () => {
		await lay();
		const message = page.getByRole('textbox', { name: 'Message', exact: true });
		await message.fill('Tidy this folder');
		await message.press('Enter');
		await card().waitFor();
		await page.screenshot({ path: join(shots, 'try-card.png') });
		await answer(button('Try on a copy'));
		await button('Apply').waitFor();
		await button('Show the difference of list.txt').click();
		await page.waitForTimeout(200);
		await page.screenshot({ path: join(shots, 'try-light.png') });
		await page.emulateMedia({ colorScheme: 'dark' });
		await page.waitForTimeout(200);
		await page.screenshot({ path: join(shots, 'try-dark.png') });
		await o.writeConfig(o.config.replace('language = "en"', 'language = "ko"'));
		await page.reload();
		await page.getByText('Tidy this folder', { exact: true }).first().click();
		await card().getByRole('button', { name: '적용' }).waitFor();
		await page.waitForTimeout(300);
		await page.screenshot({ path: join(shots, 'try-korean.png') });
	});
});
