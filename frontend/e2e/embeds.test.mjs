// What a note shows of other files, and how these come into it. On the scripted kernel and on the real one.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { png } from './files.mjs';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { browser, fakePage } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const text = (page) => page.locator('.cm-content');

/** hand gives files to the text as a paste or a drop does. */
const hand = (page, kind, ...files) =>
	text(page).evaluate(
		(el, [kind, files]) => {
			const data = new DataTransfer();
			for (const { name, type, bytes } of files)
				data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name, { type }));
			if (kind === 'paste') {
				el.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
				return;
			}
			const { left, top } = el.querySelector('.cm-line:last-child').getBoundingClientRect();
			const at = { clientX: left + 2, clientY: top + 5, dataTransfer: data, bubbles: true, cancelable: true };
			el.dispatchEvent(new DragEvent('drop', at));
		},
		[kind, files],
	);
const picture = (name = 'image.png') => ({ name, type: 'image/png', bytes: png(40, 30).toString('base64') });

/** shown waits for a picture that the page could read. */
async function shown(page, alt) {
	const img = page.locator(`.kn-embed img[alt="${alt}"]`);
	await img.waitFor();
	assert.ok(await img.evaluate((i) => i.decode().then(() => i.naturalWidth === 40)));
	return img;
}

/** end puts the cursor behind the text, on a line of its own. */
async function end(page) {
	await text(page).click();
	await page.keyboard.press('Control+End');
	await page.keyboard.press('Enter');
}

/** choose takes a completion; by the mouse, as the keys do nothing in its first moment. */
const choose = (page, hasText) => page.locator('.cm-tooltip-autocomplete li', { hasText }).click();

describe('files in notes', () => {
	let served, chrome, page, errors, asked;
	before(async () => {
		served = await fakePage();
		chrome = await browser();
	});
	after(async () => {
		await chrome?.close();
		await served?.stop();
	});
	beforeEach(async () => {
		await page?.context().close();
		const context = await chrome.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
		page = await context.newPage();
		errors = [];
		asked = [];
		page.on('pageerror', (e) => errors.push(e.message));
		page.on('request', (r) => asked.push(r.url()));
		await page.goto(`${served.url}?fake=1&lang=en`);
		await page.getByRole('textbox', { name: 'Message' }).waitFor();
		await page.keyboard.press('Control+Shift+KeyK');
		await page.getByRole('tree', { name: 'Notes' }).waitFor();
		await page.getByRole('treeitem', { name: 'projects' }).click();
		await page.getByRole('treeitem', { name: 'Oxios design' }).click();
		await text(page).getByText('stand apart').waitFor();
	});

	it('a pasted picture is saved, linked where the cursor is, and shown', async () => {
		await end(page);
		await hand(page, 'paste', picture());
		await text(page)
			.getByText(/^!\[\[Pasted image \d{14}\.png\]\]$/)
			.waitFor();
		await page.keyboard.press('Enter');
		const name = await page.locator('.kn-embed img').getAttribute('alt');
		await shown(page, name);
		// Away from the line its source is gone; a click brings it back.
		await text(page)
			.getByText(/^!\[\[Pasted/)
			.waitFor({ state: 'detached' });
		await page.locator('.kn-embed button').click();
		await text(page)
			.getByText(/^!\[\[Pasted/)
			.waitFor();
		await page.keyboard.press('Control+z');
		await page.keyboard.press('Control+z');
		await page.locator('.kn-embed').waitFor({ state: 'detached' });
		assert.deepEqual(errors, []);
	});

	it('dropped files are saved one after the other, under names of their own', async () => {
		await end(page);
		await hand(page, 'drop', picture('sea.png'), picture('sea.png'), {
			name: 'plan.pdf',
			type: '',
			bytes: btoa('%PDF'),
		});
		await text(page).getByText('![[plan.pdf]]').waitFor();
		await page.keyboard.press('Control+Home');
		await shown(page, 'sea.png');
		await shown(page, 'sea (2).png');
		await page.locator('.kn-embed').getByRole('button', { name: 'plan.pdf' }).waitFor();
		await page.getByRole('treeitem', { name: 'attachments' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('a file that cannot be saved leaves the text, and says why', async () => {
		await end(page);
		await hand(page, 'paste', picture('no room.png'));
		await page.locator('.toast', { hasText: 'no space left on device' }).waitFor();
		assert.equal(await text(page).getByText('no room').count(), 0);
		assert.equal(await page.locator('.kn-saving').count(), 0);
		assert.deepEqual(errors, []);
	});

	it('a part of another note is shown, with its own links, and what is missing is made by a click', async () => {
		await end(page);
		await page.keyboard.insertText('![[WAL]]\n\n![[Nobody yet]]\n\n![x](https://example.com/track.png)\n\nend');
		const box = page.getByRole('group', { name: 'WAL' });
		await box.getByText('Readers do not block writers.').waitFor();
		await box.getByRole('button', { name: 'The page of SQLite' }).waitFor();
		assert.equal(asked.filter((u) => u.includes('example.com')).length, 0);
		await page
			.locator('.kn-embed')
			.getByRole('button', { name: 'Nobody yet does not exist. Click to make it' })
			.click();
		await page.locator('main h1', { hasText: 'Nobody yet' }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('notes that show each other end where they began', async () => {
		await page.getByRole('treeitem', { name: 'old' }).click();
		await page.getByRole('treeitem', { name: 'Letter' }).click();
		await text(page).getByText('Written long ago').waitFor();
		await end(page);
		await page.keyboard.insertText('![[WAL]]\n\n![[Letter]]\n\nend');
		await page.locator('.kn-embed').getByText('Letter is shown above already').waitFor();
		await page.getByRole('treeitem', { name: 'Oxios design' }).click();
		await text(page).getByText('stand apart').waitFor();
		await end(page);
		await page.keyboard.insertText('![[Letter]]\n\nend');
		const box = page.getByRole('group', { name: 'Letter' });
		await box.getByRole('group', { name: 'WAL' }).waitFor();
		await box.getByText('Letter is shown above already').waitFor();
		assert.deepEqual(errors, []);
	});

	it('headings and blocks are completed, and a block gets an id in either note', async () => {
		await end(page);
		await page.keyboard.type('See [[#Op');
		await choose(page, 'Open');
		await text(page).getByText('See [[#Open]]').waitFor();
		await page.keyboard.type(' and [[#^ten');
		await choose(page, 'ten readers');
		await text(page)
			.getByText(/Measure it with ten readers \^id\d+$/)
			.waitFor();
		await page.keyboard.type(' and [[WAL#^block');
		await choose(page, 'Readers do not');
		await text(page)
			.getByText(/\[\[WAL#\^id\d+\]\]$/)
			.waitFor();
		await page.getByRole('treeitem', { name: 'reading' }).click();
		await page.getByRole('treeitem', { name: 'WAL' }).click();
		await text(page)
			.getByText(/block writers\. \^id\d+$/)
			.waitFor();
		assert.deepEqual(errors, []);
	});

	it('a tag is completed while Hangul is composed', async () => {
		await page.goto(`${served.url}?fake=1&lang=ko`);
		await page.getByRole('textbox', { name: '메시지' }).waitFor();
		await page.keyboard.press('Control+Shift+KeyK');
		await page.getByRole('treeitem', { name: '프로젝트' }).click();
		await page.getByRole('treeitem', { name: 'Oxios 설계' }).click();
		await text(page).getByText('따로 둔다').waitFor();
		await end(page);
		await page.keyboard.type('태그 #');
		const ime = await page.context().newCDPSession(page);
		for (const word of ['ㅇ', '여', '영']) {
			await ime.send('Input.imeSetComposition', { text: word, selectionStart: word.length, selectionEnd: word.length });
		}
		await page.locator('.cm-tooltip-autocomplete li', { hasText: '영수증' }).waitFor();
		await ime.send('Input.insertText', { text: '영' });
		await choose(page, '영수증');
		await text(page).getByText('태그 #영수증', { exact: true }).waitFor();
		assert.deepEqual(errors, []);
	});

	it('another file is shown, deleted and put back', async () => {
		await end(page);
		await hand(page, 'paste', picture('sea.png'), { name: 'plan.pdf', type: '', bytes: btoa('%PDF') });
		await page.getByRole('treeitem', { name: 'attachments' }).click();
		await page.getByRole('treeitem', { name: 'sea.png' }).click();
		await page.locator('main').getByRole('img', { name: 'sea.png' }).waitFor();
		await page.getByRole('treeitem', { name: 'plan.pdf' }).click();
		await page.locator('main').getByText('File, 4 B').waitFor();
		await accessible(page);
		await page.locator('main').getByRole('button', { name: 'Delete' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
		await page.getByRole('treeitem', { name: 'plan.pdf' }).waitFor({ state: 'detached' });
		await page.locator('.toast', { hasText: 'plan.pdf' }).getByRole('button', { name: 'Undo' }).click();
		await page.getByRole('treeitem', { name: 'plan.pdf' }).waitFor();
		assert.deepEqual(errors, []);
	});
});

describe('files in notes, on the real kernel', { skip }, () => {
	let o, page, errors, chrome;
	const vault = (...name) => join(o.home, 'knowledge', ...name);
	const until = async (what, ok) => {
		for (const last = Date.now() + 15_000; Date.now() < last; await new Promise((r) => setTimeout(r, 50)))
			if (ok()) return;
		assert.fail(`not within 15 s: ${what}`);
	};
	before(async () => {
		o = await oxios();
		mkdirSync(vault(), { recursive: true });
		writeFileSync(vault('Trip.md'), '# Trip\n\nBy boat.\n\n## Packing\n\n- a coat\n');
		writeFileSync(vault('Plan.md'), '# Plan\n\n![[Trip#Packing]]\n\nend\n');
		writeFileSync(vault('no picture.png'), '<script>document.title = "ran"</script>');
		chrome = await browser();
		({ page, errors } = await visit(chrome, await o.serve()));
		await begin(page);
		await page.keyboard.press('Control+Shift+KeyK');
		await page.getByRole('treeitem', { name: 'Plan' }).click();
		await text(page).getByText('end', { exact: true }).waitFor();
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});

	it('a section of another note is shown, and follows what is written there', async () => {
		const box = page.getByRole('group', { name: 'Trip' });
		await box.getByText('a coat').waitFor();
		assert.equal(await box.getByText('By boat').count(), 0);
		await o.cli('vault', 'append', 'Trip', '* a hat');
		await box.getByText('a hat').waitFor();
		await accessible(page);
	});

	it('a pasted picture lies in attachments, and is shown', async () => {
		await end(page);
		await hand(page, 'paste', picture());
		await page.keyboard.press('Control+Home');
		// A file that is being written has a hidden name until it is whole.
		const there = () => readdirSync(vault('attachments')).filter((n) => !n.startsWith('.'));
		await until('the file is there', () => existsSync(vault('attachments')) && there().length > 0);
		const [name] = there();
		assert.match(name, /^Pasted image \d{14}\.png$/);
		assert.deepEqual(readFileSync(vault('attachments', name)), png(40, 30));
		await shown(page, name);
		await until('the note has the link', () => readFileSync(vault('Plan.md'), 'utf8').includes(`![[${name}]]`));
	});

	it('a large file goes over in parts, a larger one is refused', async () => {
		await end(page);
		const large = Buffer.concat([png(40, 30), Buffer.alloc(3 << 20)]);
		await hand(page, 'drop', { name: 'large.png', type: 'image/png', bytes: large.toString('base64') });
		await page.keyboard.press('Control+Home');
		await shown(page, 'large.png');
		assert.deepEqual(readFileSync(vault('attachments', 'large.png')), large);
		await text(page).evaluate((el) => {
			const data = new DataTransfer();
			data.items.add(new File([new Uint8Array((50 << 20) + 1)], 'huge.bin'));
			el.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
		});
		await page.locator('.toast', { hasText: 'huge.bin has more than 50 MB. Nothing was added.' }).waitFor();
		assert.ok(!existsSync(vault('attachments', 'huge.bin')));
	});

	it('what is called a picture and is none is not shown as one', async () => {
		await page.getByRole('treeitem', { name: 'no picture.png' }).click();
		await page.locator('main').getByText('File, 39 B').waitFor();
		assert.notEqual(await page.title(), 'ran');
		await page.getByRole('treeitem', { name: 'Plan' }).click();
		await text(page).getByText('end', { exact: true }).waitFor();
	});

	it('a block that is chosen gets an id in the file', async () => {
		await end(page);
		await page.keyboard.type('[[Trip#^boat');
		await choose(page, 'By boat.');
		await until('the block has an id', () => /^By boat\. \^\w{6}$/m.test(readFileSync(vault('Trip.md'), 'utf8')));
		const id = /\^(\w{6})/.exec(readFileSync(vault('Trip.md'), 'utf8'))[1];
		await until('the link names it', () => readFileSync(vault('Plan.md'), 'utf8').includes(`[[Trip#^${id}]]`));
		assert.deepEqual(errors, []);
	});
});
