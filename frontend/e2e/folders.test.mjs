// A folder that a person works in for the first time: whether they trust it, and what it then tells agents.
import AxeBuilder from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { begin, binary, machine, visit } from './machine.mjs';
import { browser } from './serve.mjs';

describe('a folder that is new', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let chrome, m, page;
	before(async () => {
		chrome = await browser();
		m = await machine();
		await mkdir(join(m.dir, 'notes', 'inside'), { recursive: true });
		await mkdir(join(m.dir, 'plain'));
		await writeFile(join(m.dir, 'notes', 'AGENTS.md'), '# Notes\n\nUse tabs.\n');
		page = await visit(chrome, await m.serve(), { reducedMotion: 'reduce' });
		await begin(page);
	});
	after(async () => {
		await page?.context().close();
		await chrome?.close();
		await m?.end();
	});
	const message = () => page.getByRole('textbox', { name: 'Message' });
	const question = (path) => page.getByRole('region', { name: `Do you trust the files in ${path}?` });
	const axe = async () => {
		const rules = { region: { enabled: (await page.locator('[data-bits-floating-content-wrapper]').count()) === 0 } };
		const { violations } = await new AxeBuilder({ page }).options({ rules }).analyze();
		assert.deepEqual(
			violations.map((v) => `${v.id}: ${v.nodes[0].html}`),
			[],
		);
	};

	async function use(path) {
		await page.getByRole('button', { name: /^Folder: / }).click();
		await page.getByRole('textbox', { name: 'Path of a folder' }).fill(path);
		await page.getByRole('button', { name: 'Use this folder' }).click();
		await page.getByRole('textbox', { name: 'Path of a folder' }).waitFor({ state: 'detached' }); // until then keys belong to it
	}

	async function say(text) {
		await message().fill(text);
		await message().press('Enter');
	}

	it('is asked about before anything is sent, and the message stays', async () => {
		await use('~/notes');
		await question('~/notes').getByText('It holds AGENTS.md').waitFor();
		await axe();
		await say('Hello!');
		await page.waitForFunction(() => document.activeElement?.textContent.trim() === 'Trust it');
		assert.equal(await message().inputValue(), 'Hello!');
		assert.equal(await page.getByRole('log', { name: 'Conversation' }).count(), 0);
	});

	it('tells agents what to do once it is trusted', async () => {
		await page.keyboard.press('Enter');
		await question('~/notes').waitFor({ state: 'detached' });
		await page.getByText('Follows AGENTS.md').waitFor();
		const chip = page.getByRole('button', { name: 'Instructions: AGENTS.md' });
		await chip.click();
		await page.getByText('Use tabs.').waitFor();
		await axe();
	});

	it('tells them nothing any more once that is taken back', async () => {
		await page.getByRole('button', { name: 'Stop trusting the folder' }).click();
		await page.getByRole('button', { name: 'Instructions: Not trusted' }).waitFor();
		await page.getByRole('button', { name: 'Copy the answer' }).first().waitFor();
		await say('Hello again!');
		await page.getByRole('button', { name: 'Copy the answer' }).nth(1).waitFor();
		assert.equal(await page.getByText('Follows AGENTS.md').count(), 1, 'of the first run alone');
	});

	it('is asked about once, and covers what is in it', async () => {
		await page.keyboard.press('Alt+KeyN');
		await use('~/plain');
		await question('~/plain').getByRole('button', { name: 'Work without trust' }).click();
		await question('~/plain').waitFor({ state: 'detached' });
		await use('~/notes/inside');
		await page.getByRole('button', { name: 'Instructions: Not trusted' }).waitFor();
		await use('~/plain');
		assert.equal(await question('~/plain').count(), 0);
	});

	it('is listed in the settings, where it can be trusted or asked about again', async () => {
		await page.keyboard.press('Control+Comma');
		await page.locator('aside nav button[data-section=folders]').click();
		await page.getByRole('button', { name: 'Trust ~/notes' }).click();
		await page.getByRole('button', { name: 'Trust ~/notes' }).waitFor({ state: 'detached' });
		await page.getByRole('button', { name: 'Ask again about ~/plain' }).click();
		await page.getByRole('button', { name: 'Ask again about ~/plain' }).waitFor({ state: 'detached' });
		await axe();
		await page.keyboard.press('Alt+KeyN');
		await use('~/plain');
		await question('~/plain').waitFor();
	});
});
