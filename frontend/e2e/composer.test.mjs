// The keyboard of the composer on the real kernel: files behind @, commands behind /, what was sent before with ↑, sending,
// drafts, and the list of conversations that comes of it.
import AxeBuilder from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { begin, binary, machine, visit } from './machine.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
let chrome, m, page;

const message = () => page.getByRole('textbox', { name: 'Message' });
const log = () => page.getByRole('log', { name: 'Conversation' });
const files = () => page.getByRole('listbox', { name: 'Files and folders' });
const commands = () => page.getByRole('listbox', { name: 'Commands' });
const chosen = () => page.getByRole('option', { selected: true });
const value = () => message().inputValue();
const press = (key) => page.keyboard.press(key);
const type = (text) => page.keyboard.type(text);
const sent = () => log().locator('.bubble').count();

/** row is what a line of the list says, its name first. */
const row = async (option) => (await option.innerText()).split('\n')[0].trim();
const rows = async (list) => Promise.all((await list.getByRole('option').all()).map(row));

/** holds waits until the field says this; the list is put away by then. */
const holds = (want) =>
	page.waitForFunction((text) => document.querySelector('.composer textarea')?.value === text, want);

async function empty() {
	await message().fill('');
	await message().focus();
}

async function say(text) {
	const answered = await page.locator('.turn .foot').count();
	await message().fill(text);
	await press('Enter');
	await log().locator('.bubble', { hasText: text }).last().waitFor();
	await page.waitForFunction((n) => document.querySelectorAll('.turn .foot').length > n, answered);
	await page.getByText('nothing runs').waitFor();
}

async function home() {
	await press('Alt+KeyN');
	await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
	await empty();
}

/** put writes a file that was changed so many minutes ago. */
function put(path, minutes, text = 'x') {
	const at = join(m.folder, path);
	mkdirSync(dirname(at), { recursive: true });
	writeFileSync(at, text);
	const time = Date.now() / 1000 - minutes * 60;
	utimesSync(at, time, time);
}

async function axe() {
	const { violations } = await new AxeBuilder({ page }).analyze();
	return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${v.help}\n${n.html.slice(0, 200)}`));
}

before(async () => {
	if (skip) return;
	chrome = await browser();
	m = await machine();
	page = await visit(chrome, await m.serve(), { reducedMotion: 'reduce', acceptDownloads: true });
	await begin(page);
	for (const name of readdirSync(m.folder)) rmSync(join(m.folder, name)); // what the demo put there
	put('notes.txt', 1, 'milk and bread\n');
	put('src/main.go', 5);
	put('domain.txt', 3);
	put('a book.txt', 4);
	put('Makefile', 6);
	put('보고서.hwp', 7);
	put('.gitignore', 8, 'build/\n');
	put('build/out.js', 0);
});
after(async () => {
	await chrome?.close();
	await m?.end();
});
afterEach(() => assert.deepEqual(page?.errors ?? [], [], 'errors in the page'));

describe('@', { skip }, () => {
	it('offers the files that changed last, and takes one with the keys alone', async () => {
		await empty();
		await type('look at @');
		await files().waitFor();
		assert.deepEqual((await rows(files())).slice(0, 4), ['notes.txt', 'domain.txt', 'a book.txt', 'main.go']);
		assert.equal((await rows(files())).includes('out.js'), false, 'what is ignored is left out');
		assert.equal(await message().evaluate((e) => e === document.activeElement), true);
		const active = () => message().getAttribute('aria-activedescendant');
		assert.equal(await active(), await chosen().getAttribute('id'));
		const first = await active();
		await press('ArrowDown');
		assert.notEqual(await active(), first);
		assert.equal(await row(chosen()), 'domain.txt');
		await press('ArrowUp');
		await press('ArrowUp');
		assert.equal(await active(), await files().getByRole('option').last().getAttribute('id'), 'round the end');
		await press('ArrowDown');
		await press('Enter');
		await holds('look at @notes.txt ');
		await files().waitFor({ state: 'detached' });
		assert.equal(await sent(), 0);
	});

	it('finds by parts, the name before its folders, and writes what can be read again', async () => {
		for (const [typed, first, key, want] of [
			['@main', 'main.go', 'Enter', '@src/main.go '],
			['@smgo', 'main.go', 'Tab', '@src/main.go '],
			['@boo', 'a book.txt', 'Tab', '@"a book.txt" '],
			['@make', 'Makefile', 'Enter', '@./Makefile '],
			['@src', 'src/', 'Enter', '@src/ '],
			['@ㅂㄱㅅ', '보고서.hwp', 'Enter', '@보고서.hwp '],
			['@qhrh', '보고서.hwp', 'Enter', '@보고서.hwp '],
		]) {
			await empty();
			await type(typed);
			await chosen().filter({ hasText: first }).waitFor();
			assert.equal(await row(chosen()), first, typed);
			await press(key);
			await holds(want);
		}
	});

	it('takes what was typed quickly, and Ctrl Z gives it back', async () => {
		await empty();
		await type('@notes.t');
		await press('Enter');
		await holds('@notes.txt ');
		await press('Control+KeyZ');
		await holds('@notes.t');
	});

	it('is put away with Esc, which does nothing else, until another one begins', async () => {
		await empty();
		await type('see @no');
		await files().waitFor();
		await press('Escape');
		await files().waitFor({ state: 'detached' });
		await type('te');
		assert.equal(await files().count(), 0);
		assert.equal(await value(), 'see @note');
		await type(' @do');
		await chosen().filter({ hasText: 'domain.txt' }).waitFor();
		await press('Escape');
	});

	it('is no mention inside a word, and what fits nothing is text', async () => {
		for (const text of ['me@no', 'see @zzz', '@media']) {
			await empty();
			await type(text);
			await page.waitForTimeout(300); // longer than an answer takes
			assert.equal(await files().count(), 0, text);
		}
	});

	it('is taken with the mouse, and the focus stays', async () => {
		await empty();
		await type('@');
		await files().getByRole('option').filter({ hasText: 'domain.txt' }).click();
		await holds('@domain.txt ');
		assert.equal(await message().evaluate((e) => e === document.activeElement), true);
	});

	it('works while Hangul is composed, and the Enter that ends a syllable takes nothing', async () => {
		await empty();
		await type('@');
		const cdp = await page.context().newCDPSession(page);
		const compose = (text) =>
			cdp.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
		for (const text of ['ㅂ', '보', '복']) await compose(text);
		await chosen().filter({ hasText: '보고서.hwp' }).waitFor();
		for (const [code, key] of [
			['Enter', 'Enter'],
			['ArrowDown', 'ArrowDown'],
		]) {
			await cdp.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', code, key, windowsVirtualKeyCode: 229 });
		}
		assert.equal(await value(), '@복');
		await cdp.send('Input.insertText', { text: '보고' });
		await cdp.detach();
		await chosen().filter({ hasText: '보고서.hwp' }).waitFor();
		await press('Enter');
		await holds('@보고서.hwp ');
		assert.equal(await sent(), 0);
	});

	it('says how many there are, and axe finds nothing', async () => {
		await empty();
		await type('@');
		await files().waitFor();
		const count = await files().getByRole('option').count();
		await page
			.getByRole('status')
			.filter({ hasText: `${count} suggestions` })
			.waitFor();
		assert.deepEqual(await axe(), []);
		await press('Escape');
	});

	it('stands in the message that was sent, and the agent reads the file', async () => {
		await say('Please read @notes.txt and @"a book.txt".');
		assert.deepEqual(await log().locator('.bubble .mention').allInnerTexts(), ['@notes.txt', '@"a book.txt"']);
		const [session] = JSON.parse((await oxios('sessions', 'list', '--json')).stdout);
		const shown = JSON.parse((await oxios('sessions', 'show', session.id, '--json')).stdout);
		const step = shown.runs[0].steps.find((s) => s.name === 'read');
		assert.equal(step.outcome, 'ok');
		assert.match(step.output, /milk and bread/);
	});

	it('leaves a run alone when Esc closes the list', async () => {
		await message().fill('Push my changes');
		await press('Enter');
		await page.getByRole('alertdialog').waitFor();
		await type('@');
		await files().waitFor();
		await press('Escape');
		await files().waitFor({ state: 'detached' });
		await page.waitForTimeout(200);
		assert.equal(await page.getByRole('alertdialog').count(), 1, 'the request still waits');
		await empty();
		await press('Escape');
		await page.getByText('You stopped it').waitFor();
	});

	it('says why when the folder is gone', async () => {
		const gone = join(m.dir, 'gone');
		mkdirSync(gone);
		await home();
		await page.getByRole('button', { name: /^Folder:/ }).click();
		await page.getByRole('textbox', { name: 'Path of a folder' }).fill(gone);
		await press('Enter');
		await page.getByRole('button', { name: /^Folder: .*gone$/ }).waitFor();
		await page.getByRole('button', { name: 'Trust it' }).click();
		await message().focus();
		await type('@');
		await page.getByText('There is no file in this folder yet.').waitFor();
		await press('Escape');
		await empty();
		rmSync(gone, { recursive: true });
		await type('@');
		await page.getByText('There is no folder ~/gone. Make it first, or choose another one.').waitFor();
		await empty();
		mkdirSync(gone); // the next conversation begins there
	});
});

describe('/', { skip }, () => {
	const menu = async (typed) => {
		await empty();
		await type(typed);
		await commands().waitFor();
	};

	it('offers a few commands, and on the home none that has nothing to do there', async () => {
		await home();
		await menu('/');
		assert.deepEqual(await rows(commands()), ['/new', '/model', '/mode', '/help']);
		assert.deepEqual(await axe(), []);
		await press('Escape');
		await commands().waitFor({ state: 'detached' });
		assert.equal(await value(), '/');
		await empty();
		await page.locator('aside li .open').first().click();
		await log().waitFor();
		await menu('/');
		assert.deepEqual(await rows(commands()), ['/new', '/model', '/mode', '/export', '/help']);
	});

	it('is found by parts, in Korean, by first consonants and in the other layout', async () => {
		for (const [typed, first] of [
			['/mo', '/mode'],
			['/hp', '/help'],
			['/권', '/mode'],
			['/ㄴㅂ', '/export'],
			['/ㅜㄷㅈ', '/new'],
		]) {
			await menu(typed);
			assert.equal(await row(chosen()), first, typed);
		}
	});

	it('goes on to a second list, and does what is chosen there', async () => {
		await menu('/mode');
		await press('Enter');
		await holds('/mode ');
		await chosen().filter({ hasText: 'Guarded' }).waitFor();
		await chosen().getByText('in force').waitFor();
		await press('Backspace');
		await commands().getByRole('option').filter({ hasText: '/mode' }).first().waitFor();
		await type(' ask');
		await chosen().filter({ hasText: 'Ask' }).waitFor();
		await press('Enter');
		await holds('');
		await page.getByRole('button', { name: /^Permission mode: Ask/ }).waitFor();
		await type('/model demo');
		await chosen().filter({ hasText: 'demo' }).waitFor();
		await press('Enter');
		await holds('');
		await type('/mode gua');
		await press('Enter');
		await page.getByRole('button', { name: /^Permission mode: Guarded/ }).waitFor();
	});

	it('exports, helps, and begins anew', async () => {
		await menu('/exp');
		await press('Enter');
		await chosen().filter({ hasText: 'Markdown' }).waitFor();
		const saved = page.waitForEvent('download');
		await press('Enter');
		assert.match((await saved).suggestedFilename(), /\.md$/);
		await menu('/help');
		await press('Enter');
		const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
		await dialog.getByText('Name a file, a folder or a resource').waitFor();
		await press('Escape');
		await dialog.waitFor({ state: 'detached' });
		assert.equal(await message().evaluate((e) => e === document.activeElement), true);
		assert.equal(await value(), '');
		await type('/new');
		await commands().waitFor();
		await press('Enter');
		await page.getByRole('heading', { name: 'What should be done?' }).waitFor();
	});

	it('is text where no command is meant: a path can be sent', async () => {
		await home();
		for (const text of ['/etc/hosts', '/etc', '/home', '/usr', '/tmp', '/new things', '/zzz', 'a /mode']) {
			await empty();
			await type(text);
			assert.equal(await commands().count(), 0, text);
		}
		await empty();
		await type('/etc/hosts');
		await press('Enter');
		await log().locator('.bubble', { hasText: '/etc/hosts' }).waitFor();
		await page.getByText('nothing runs').waitFor();
	});
});

describe('↑', { skip }, () => {
	before(async () => {
		if (skip) return;
		await home();
		for (const text of ['hello one', 'hello two\nwith a second line', 'hello three']) await say(text);
	});

	it('brings back what was sent, the newest first, and ↓ goes forward to what was written', async () => {
		await empty();
		await press('ArrowUp');
		await holds('hello three');
		await press('ArrowUp');
		await holds('hello two\nwith a second line');
		await press('ArrowUp'); // to the first line
		assert.equal(await value(), 'hello two\nwith a second line');
		await press('ArrowUp');
		await holds('hello one');
		await press('ArrowUp');
		assert.equal(await value(), 'hello one');
		await press('ArrowDown');
		await holds('hello two\nwith a second line');
		await press('ArrowDown');
		await press('ArrowDown');
		await holds('');
	});

	it('leaves alone what a person wrote, and what they changed', async () => {
		await empty();
		await type('my own');
		await press('ArrowUp');
		assert.equal(await value(), 'my own');
		await empty();
		await press('ArrowUp');
		await holds('hello three');
		await type('!');
		await press('ArrowUp');
		assert.equal(await value(), 'hello three!');
		await page.reload();
		await page.locator('aside li .open', { hasText: 'hello one' }).first().click();
		await holds('hello three!');
		await empty();
	});

	it('moves in the list while one is open', async () => {
		await type('/');
		await commands().waitFor();
		await press('ArrowUp');
		assert.equal(await row(chosen()), '/help');
		assert.equal(await value(), '/');
		await empty();
	});
});

describe('writing', { skip }, () => {
	it('Enter sends and Shift Enter breaks the line; switched, Enter breaks it and Ctrl Enter sends', async () => {
		await home();
		await type('hello first');
		await press('Shift+Enter');
		await type('second');
		assert.equal(await value(), 'hello first\nsecond');
		await press('Enter');
		await log().locator('.bubble', { hasText: 'second' }).waitFor();
		await page.getByText('nothing runs').waitFor();
		const toggle = async () => {
			await press('Control+Comma');
			await page.getByRole('button', { name: 'Keyboard', exact: true }).click();
			await page.getByRole('switch', { name: 'Enter sends' }).click();
			await page.getByRole('button', { name: 'Chat', exact: true }).click();
			await message().focus();
		};
		await toggle();
		await type('hello third');
		await press('Enter');
		await type('@note');
		await files().waitFor();
		await press('Enter');
		await holds('hello third\n@notes.txt ');
		const before = await sent();
		await press('Control+Enter');
		await log().locator('.bubble', { hasText: 'hello third' }).waitFor();
		assert.equal(await sent(), before + 1);
		await page.getByText('nothing runs').waitFor();
		await toggle();
	});

	it('keeps a draft for each conversation, over a reload too', async () => {
		await home();
		await type('a thought for later');
		await page.locator('aside li .open', { hasText: 'hello one' }).click();
		await holds('');
		await type('another one');
		await page.locator('aside li .open', { hasText: 'hello first' }).click();
		await holds('');
		await page.reload();
		await holds('a thought for later');
		await page.locator('aside li .open', { hasText: 'hello one' }).click();
		await holds('another one');
		await empty();
		await home();
	});
});

/** oxios runs the command line beside the window. */
const oxios = (...args) => promisify(execFile)(binary, args, { env: m.env, cwd: m.folder });

describe('the list of conversations', { skip }, () => {
	const list = () => page.getByRole('navigation', { name: 'Conversations' });
	const line = (title) => list().locator('li', { hasText: title });
	const archived = () => list().getByRole('button', { name: /^Archived/ });

	async function menu(title, item) {
		await line(title)
			.getByRole('button', { name: /^Actions/ })
			.focus();
		await press('Enter');
		await page.getByRole('menuitem', { name: item }).focus();
		await press('Enter');
	}

	it('names a conversation by its first sentence, and takes another name', async () => {
		await home();
		await say('안녕하세요, 영수증을 정리해 주세요. 나머지는 그대로 두세요.');
		await line('안녕하세요, 영수증을 정리해 주세요').waitFor();
		await menu('안녕하세요', 'Rename');
		await page.getByRole('textbox', { name: 'Name' }).fill('Receipts');
		await press('Enter');
		await line('Receipts').waitFor();
	});

	it('pins with the keyboard, and the command line sees it', async () => {
		await menu('hello one', 'Pin');
		await list().getByText('Pinned').waitFor();
		const [first] = JSON.parse((await oxios('sessions', 'list', '--json')).stdout);
		assert.equal(first.title, 'hello one');
		await oxios('sessions', 'unpin', first.id);
		await list().getByText('Pinned').waitFor({ state: 'detached' });
	});

	it('archives with undo, keeps it to be read and found, and puts it back', async () => {
		await line('Receipts').locator('.open').click();
		await page.locator('main h1', { hasText: 'Receipts' }).waitFor();
		await menu('Receipts', 'Archive');
		await line('Receipts').waitFor({ state: 'detached' });
		await page.getByText('“Receipts” was archived.').waitFor();
		await page.getByRole('button', { name: 'Undo', exact: true }).click();
		await line('Receipts').waitFor();
		await menu('Receipts', 'Archive');
		await archived().focus();
		assert.equal(await archived().getAttribute('aria-expanded'), 'false');
		await press('Enter');
		await line('Receipts').locator('.open').click();
		await log().locator('.bubble', { hasText: '영수증' }).waitFor();
		await page.getByRole('button', { name: 'Folder: ~/Oxios' }).waitFor();
		assert.deepEqual(await axe(), []);
		assert.doesNotMatch((await oxios('sessions', 'list')).stdout, /Receipts/);
		assert.match((await oxios('sessions', 'list', '--archived')).stdout, /Receipts/);

		await press('Control+KeyF');
		await page.getByRole('searchbox', { name: 'Search conversations' }).fill('영수증을');
		await line('Receipts').getByText('Archived', { exact: true }).waitFor();
		await press('Escape');
		await menu('Receipts', 'Put back in the list');
		await archived().waitFor({ state: 'detached' });
		await line('Receipts').waitFor();
	});

	it('has an archived conversation back when somebody writes in it', async () => {
		const id = JSON.parse((await oxios('sessions', 'list', '--json', '--search', 'Receipts')).stdout)[0].id;
		await oxios('sessions', 'archive', id);
		await archived().waitFor();
		await say('hello again');
		await archived().waitFor({ state: 'detached' });
		await line('Receipts').waitFor();
	});

	it('deletes with undo', async () => {
		await menu('Receipts', 'Delete');
		await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
		await line('Receipts').waitFor({ state: 'detached' });
		const told = page.locator('.toast', { hasText: '“Receipts” was deleted.' });
		await told.getByRole('button', { name: 'Undo' }).click(); // the archive's own offer may still be there
		await line('Receipts').waitFor();
	});
});
