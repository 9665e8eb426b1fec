// What a person puts beside a message, on the real kernel, as far as the model that gets it.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { endpoint, pdf, png } from './files.mjs';
import { passFirstStart } from './oxios.mjs';
import { browser, run } from './serve.mjs';

const binary = process.env.OXIOS_BIN;
const link = /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/;

describe('attachments', { skip: binary ? false : 'OXIOS_BIN names no binary' }, () => {
	let dir, env, model, server, chrome, context, page, socket;

	const message = () => page.getByRole('textbox', { name: 'Message' });
	const log = () => page.getByRole('log', { name: 'Conversation' });
	const chips = () => page.getByRole('list', { name: 'Attachments' });
	const chip = (name) => chips().getByRole('button', { name: `Open ${name}` });
	const button = (name) => page.getByRole('button', { name, exact: true });
	const choose = (...files) => page.locator('input[type=file]').setInputFiles(files);
	const file = (name, buffer) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(buffer) });

	/** answered sends and returns the parts of the message as they came to the model. */
	async function answered() {
		const before = model.asked.length;
		await button('Send').click();
		await log()
			.getByText(`Answer ${before + 1}.`)
			.waitFor();
		const { content } = model.asked.at(-1).findLast((m) => m.role === 'user');
		return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
	}

	async function serve() {
		server = await run(binary, ['serve'], link, { env });
		await page.goto(server.match[0]);
	}

	before(async () => {
		dir = await mkdtemp(join(tmpdir(), 'oxios-e2e-'));
		const home = join(dir, '.oxios');
		await mkdir(home, { mode: 0o700 });
		await mkdir(join(dir, 'work', 'ledger'), { recursive: true });
		await writeFile(
			join(home, 'config.toml'),
			`keyring = false\nnotifications = false\nlanguage = "en"\nfolder = "${join(dir, 'work')}"\n`,
		);
		model = await endpoint();
		env = {
			PATH: process.env.PATH,
			HOME: dir,
			OXIOS_HOME: home,
			LANG: 'C.UTF-8',
			OXIOS_BASE_URL: model.url,
			OXIOS_MODEL: 'seeing-one',
			OXIOS_API_KEY: 'test-key-0123456789',
		};
		chrome = await browser();
		context = await chrome.newContext({
			viewport: { width: 1280, height: 800 },
			reducedMotion: 'reduce',
			locale: 'en',
		});
		page = await context.newPage();
		page.on('websocket', (ws) => (socket = ws));
		await serve();
		await passFirstStart(page);
	});
	after(async () => {
		await chrome?.close();
		await server?.stop();
		await model?.stop();
		await rm(dir, { recursive: true, force: true });
	});
	beforeEach(async () => {
		await page.keyboard.press('Control+KeyN');
		await message().waitFor();
	});

	it('by the button: pictures, PDF and text of Korean Windows go to the model, and open large', async () => {
		const cp949 = Buffer.from('c8b8c0c7b4c220bcbc20bdc3c0d4b4cfb4d9', 'hex'); // 회의는 세 시입니다
		await choose(file('sea.png', png(2600, 1300)), file('report.pdf', pdf('Budget', 'Risks')), file('회의.txt', cp949));
		await chips().getByText('2 pages').waitFor({ timeout: 90_000 });
		await chip('sea.png').waitFor();
		await chip('회의.txt').waitFor();
		await message().fill('Compare them.');
		const parts = await answered();
		assert.deepEqual(
			parts.map((p) => p.type),
			['text', 'image_url'],
		);
		for (const want of ['Compare them.', '[page 2]\nRisks', '회의는 세 시입니다', 'sea.png (image, 2048 × 1024)'])
			assert.ok(parts[0].text.includes(want), `the model does not read ${want} in ${parts[0].text}`);
		assert.match(parts[1].image_url.url, /^data:image\/png;base64,iVBOR/);

		await log().getByRole('button', { name: 'Open sea.png' }).click();
		const shown = page.getByRole('dialog', { name: 'sea.png' });
		await shown.getByText('2048 × 1024 pixels').waitFor();
		await page.waitForFunction(() => document.querySelector('dialog img')?.naturalWidth === 2048);
		await page.keyboard.press('Escape');
		await log().getByRole('button', { name: 'Open report.pdf' }).click();
		await page.getByRole('dialog', { name: 'report.pdf' }).getByText('[page 2] Risks').waitFor();
		await page.keyboard.press('Escape');
	});

	it('by a paste: a picture, and long text, which can become text again', async () => {
		await context.grantPermissions(['clipboard-read', 'clipboard-write']);
		await message().evaluate(
			(field, bytes) => {
				const data = new DataTransfer();
				data.items.add(new File([Uint8Array.from(bytes)], 'image.png', { type: 'image/png' }));
				field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
			},
			[...png(40, 30)],
		);
		await chip('image.png').waitFor();
		const long = `Call me Ishmael. ${'Some years ago. '.repeat(200)}`;
		await page.evaluate((text) => navigator.clipboard.writeText(text), long);
		await message().press('Control+v');
		await chips()
			.getByRole('button', { name: /^Open Call me Ishmael/ })
			.waitFor();
		assert.equal(await message().inputValue(), '');
		await button('Put into the message as text').click();
		await page.waitForFunction((text) => document.querySelector('textarea').value === text, long);
		await chips().getByRole('listitem').nth(1).waitFor({ state: 'detached' });
		assert.equal(await chips().getByRole('listitem').count(), 1);
		const parts = await answered();
		assert.ok(parts[0].text.startsWith('Call me Ishmael.'));
	});

	it('by a drop: files become chips, and the page stays', async () => {
		const data = await page.evaluateHandle(() => {
			const transfer = new DataTransfer();
			transfer.items.add(new File(['dropped words'], 'dropped.txt'));
			return transfer;
		});
		for (const kind of ['dragover', 'drop']) await page.dispatchEvent('.home', kind, { dataTransfer: data });
		await chip('dropped.txt').waitFor();
		const [text] = await answered();
		assert.ok(text.text.includes('dropped words'));
	});

	it('a folder goes by its path', async () => {
		await button('Attach').click();
		await page.getByRole('menuitem', { name: 'Folder' }).click();
		const dialog = page.getByRole('dialog', { name: 'Attach a folder' });
		await dialog.getByRole('button', { name: 'ledger' }).click();
		await page.waitForFunction(() => document.querySelector('dialog input')?.value.endsWith('/ledger'));
		await dialog.getByRole('button', { name: 'Attach this folder' }).click();
		await chip('ledger').waitFor();
		await message().fill('Look there.');
		const [text] = await answered();
		assert.ok(text.text.includes(`This is the folder ${join(dir, 'work', 'ledger')}.`), text.text);
	});

	it('an attached folder becomes the one to work in', async () => {
		await button('Attach').click();
		await page.getByRole('menuitem', { name: 'Folder' }).click();
		const dialog = page.getByRole('dialog', { name: 'Attach a folder' });
		await dialog.getByRole('textbox').fill(join(dir, 'work', 'ledger'));
		await dialog.getByRole('textbox').press('Enter');
		await button('Work in ledger').click();
		await chip('ledger').waitFor({ state: 'detached' });
		await page.getByRole('button', { name: /^Folder: .*ledger$/ }).waitFor();
		await page.reload();
		await message().waitFor();
	});

	it('a picture that the model does not see is refused by name, and a model that sees is offered', async () => {
		await page.getByRole('button', { name: /^Model: / }).click();
		await page.getByRole('option', { name: /blind-one/ }).click();
		await choose(file('sea.png', png(40, 30)));
		const refusal = page
			.getByRole('alert')
			.filter({ hasText: 'sea.png is a picture, and blind-one does not see pictures.' });
		await refusal.waitFor();
		await message().fill('What is it?');
		assert.equal(await button('Send').isDisabled(), true);
		await message().press('Enter');
		assert.equal(await chip('sea.png').evaluate((e) => e === document.activeElement), true);
		await refusal.getByRole('button', { name: 'seeing-one' }).click();
		await refusal.waitFor({ state: 'detached' });
		assert.equal((await answered()).length, 2);
	});

	it('what cannot be read is refused by name, kept from being sent, and removed by the keyboard', async () => {
		await choose(file('kaputt.pdf', '%PDF-1.4 and no more'), file('setup.exe', 'MZ\0\0'), file('notes.txt', 'fine'));
		await page.getByRole('alert').getByText('kaputt.pdf cannot be read as a PDF').waitFor({ timeout: 90_000 });
		await page.getByRole('alert').getByText('setup.exe is a file that models cannot read').waitFor();
		await message().fill('Read it.');
		await message().press('Enter');
		for (const name of ['kaputt.pdf', 'setup.exe']) {
			await chips()
				.getByRole('button', { name: new RegExp(`^${name}`) })
				.focus();
			await page.keyboard.press('Delete');
		}
		await page.getByRole('alert').waitFor({ state: 'detached' });
		assert.equal(await chip('notes.txt').evaluate((e) => e === document.activeElement), true);
		const [text] = await answered();
		assert.ok(text.text.includes('fine'));
	});

	it('200 MB are refused at once, without being sent anywhere', async () => {
		const video = join(dir, 'video.mov');
		await writeFile(video, '');
		await truncate(video, 200 << 20);
		let sent = 0;
		socket.on('framesent', (frame) => (sent += frame.payload.length));
		const began = Date.now();
		await choose(video);
		await page
			.getByRole('alert')
			.getByText('video.mov has 200.0 MB; 50.0 MB is the most that can be attached.')
			.waitFor();
		await message().pressSequentially('still here');
		assert.equal(await message().inputValue(), 'still here');
		assert.ok(Date.now() - began < 5000, `took ${Date.now() - began} ms`);
		assert.ok(sent < 100_000, `${sent} bytes were sent`);
		await button('Remove video.mov').click();
		await message().fill('');
	});

	it('what was not sent is there again after a restart', async () => {
		const kept = new Promise((done) => {
			let call;
			socket.on('framesent', ({ payload }) => {
				if (payload.includes('infra.keep') && payload.includes('draft.txt')) call = JSON.parse(payload).id;
			});
			socket.on('framereceived', ({ payload }) => call && JSON.parse(payload).id === call && done());
		});
		await choose(file('draft.txt', 'unsent words'));
		await chip('draft.txt').waitFor();
		await kept;
		await server.stop();
		await serve();
		await chip('draft.txt').waitFor();
		const [text] = await answered();
		assert.ok(text.text.includes('unsent words'));
	});
});
