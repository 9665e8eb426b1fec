// A kind of step on the real kernel: asked once, allowed as a kind, and taken back.
import AxeBuilder from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { begin, visit } from './machine.mjs';
import { binary, oxios } from './oxios.mjs';
import { browser } from './serve.mjs';

const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'grants.toml');

describe('a kind of step', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let o, chrome, page;
	const message = () => page.getByRole('textbox', { name: 'Message' });
	const log = () => page.getByRole('log', { name: 'Conversation' });
	const card = () => page.getByRole('alertdialog');
	const made = (name) =>
		stat(join(o.folder, name)).then(
			() => true,
			() => false,
		);

	before(async () => {
		o = await oxios(script);
		chrome = await browser();
		page = await visit(chrome, await o.serve(), { reducedMotion: 'reduce' });
		await begin(page);
	});
	after(async () => {
		await page?.context().close();
		await chrome?.close();
		await o?.end();
	});
	const axe = async () => {
		const { violations } = await new AxeBuilder({ page }).analyze();
		assert.deepEqual(
			violations.map((v) => `${v.id}: ${v.nodes[0].html}`),
			[],
		);
	};

	async function say(text) {
		await message().fill(text);
		await message().press('Enter');
	}

	async function deny() {
		await card().getByRole('button', { name: 'Deny' }).click();
		await card().getByRole('button', { name: 'Deny' }).click();
		await card().waitFor({ state: 'detached' });
	}

	it('is asked about once, and says what it would allow', async () => {
		await say('make one');
		await card().getByRole('button', { name: 'This kind…' }).click();
		await card().getByText('`mkdir *` in').waitFor();
		await card().getByText('No request came from here before.').waitFor();
		await axe();
		await card().getByRole('radio', { name: '1 hour' }).check();
		await card().getByRole('button', { name: 'Approve this kind' }).click();
		await log().getByText('Made one.').waitFor();
		assert.ok(await made('one'));
	});

	it('runs the next time without asking, and its step says so', async () => {
		await say('make two');
		await log().getByText('Made two.').waitFor();
		assert.ok(await made('two'));
		await log()
			.getByRole('button', { name: /mkdir two/ })
			.last()
			.click();
		await log().getByText('Allowed by a grant of yours').waitFor();
	});

	it('asks about another option', async () => {
		await say('make private');
		await card().waitFor();
		await deny();
		await log().getByText('Private was left out.').waitFor();
		assert.ok(!(await made('private')));
	});

	it('is refused for a shell, in a line', async () => {
		await say('run a shell');
		await card().getByRole('button', { name: 'This kind…' }).click();
		await card().getByText('bash can run any other program, so it is asked for each time.').waitFor();
		assert.equal(await card().getByRole('button', { name: 'Approve this kind' }).count(), 0);
		await deny();
		await log().getByText('No shell.').waitFor();
	});

	it('stands in the settings with its uses, and asks again once it is revoked', async () => {
		await page.keyboard.press('Control+Comma');
		await page.locator('aside nav button[data-section=permissions]').click();
		const row = page.getByRole('row', { name: /mkdir \*/ });
		await row.getByRole('cell', { name: '1', exact: true }).waitFor();
		await axe();
		await row.getByRole('button', { name: 'Revoke mkdir *' }).click();
		await page.getByText('No kind of step is approved.').waitFor();
		await page.keyboard.press('Alt+KeyN');
		await say('make three');
		await card().waitFor();
		await deny();
		await log().getByText('Three was left out.').waitFor();
		assert.ok(!(await made('three')));
	});
});
