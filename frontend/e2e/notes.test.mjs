// Memory and notes on the real kernel, in both languages: a fact told in one conversation is given to another; a note
// that an agent saved is found, edited, renamed with its links, and undone.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'notes.toml');

const languages = {
	en: {
		message: 'Message',
		told: 'From now on the invoices go into the folder Bills',
		asked: 'Where do invoices go?',
		used: '1 memory used',
		save: 'Save it as Harbour',
		note: 'Harbour',
		saveAgain: 'Save it as Ferry',
		again: 'Ferry',
		find: 'harb',
		notes: 'Notes',
		search: 'Search notes',
		renamed: 'Port',
		undo: /^Undo 2 files…$/,
		undoDo: /^Undo 2 files$/,
	},
	ko: {
		message: '메시지',
		told: '앞으로 제주 사진은 날짜별 폴더에 둔다',
		asked: '제주 사진은 어디에 두지?',
		used: '기억 1개 사용',
		save: '지식 저장소에 저장해줘: 항구',
		note: '항구',
		saveAgain: '지식 저장소에 저장해줘: 나루',
		again: '나루',
		find: '배가 들',
		notes: '노트',
		search: '노트 검색',
		renamed: '부두',
		undo: /^파일 2개 되돌리기…$/,
		undoDo: /^파일 2개 되돌리기$/,
	},
};

for (const [language, t] of Object.entries(languages)) {
	describe(`memory and notes (${language})`, { skip }, () => {
		let o, chrome, page, errors;
		const vault = (name) => join(o.home, 'knowledge', name);
		const text = (name) => readFileSync(vault(name), 'utf8');
		const say = async (words) => {
			const message = page.getByRole('textbox', { name: t.message, exact: true });
			await message.fill(words);
			await message.press('Enter');
		};
		const until = async (what, ok) => {
			for (const end = Date.now() + 15_000; Date.now() < end; await new Promise((r) => setTimeout(r, 50))) {
				if (ok()) return;
			}
			assert.fail(`not within 15 s: ${what}`);
		};

		before(async () => {
			o = await oxios(script);
			chrome = await browser();
			({ page, errors } = await visit(chrome, await o.serve()));
			await begin(page);
			if (language !== 'en') await o.cli('config', 'set', 'language', language);
			await page.getByRole('textbox', { name: t.message, exact: true }).waitFor();
		});
		after(async () => {
			await chrome?.close();
			await o?.end();
		});
		afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

		it('a fact that was told is given to another conversation, which says so', async () => {
			await say(t.told);
			await page.getByText('Noted.').last().waitFor();
			await page.keyboard.press('Control+KeyN');
			await say(t.asked);
			await page.getByText('An answer.').last().waitFor();
			await page.getByRole('button', { name: t.used }).click();
			await page.locator('main').getByText(t.told).last().waitFor();
			await page.keyboard.press('Control+Shift+KeyM');
			await page.locator('table[data-table=memory]').getByText(t.told).waitFor();
			await accessible(page);
		});

		it('a note that an agent saved is found, edited, and renamed with its links', async () => {
			await page.keyboard.press('Control+KeyN');
			await say(t.save);
			await page.getByText('Saved.').last().waitFor();
			assert.match(text(`News/${t.note}.md`), /run: /);

			await page.keyboard.press('Control+Shift+KeyK');
			await page.getByRole('tree', { name: t.notes }).waitFor();
			await page.getByPlaceholder(t.search).fill(t.find);
			await page
				.locator('#pane-list')
				.getByRole('button', { name: new RegExp(t.note) })
				.first()
				.click();
			const editor = page.locator('.cm-content');
			await editor.click();
			await page.keyboard.press('Control+End');
			await page.keyboard.type('By hand.');
			await until('the text is saved', () => text(`News/${t.note}.md`).includes('By hand.'));
			await accessible(page);

			await page.locator('main h1 button').click();
			await page.getByRole('dialog').locator('input').first().fill(t.renamed);
			await page.keyboard.press('Enter');
			await until('the note is renamed', () => existsSync(vault(`News/${t.renamed}.md`)));
			await until('the link follows', () => text('index.md').includes(`[[${t.renamed}]]`));
			assert.equal(existsSync(vault(`News/${t.note}.md`)), false);
			// The disk knows of it before the page does, whose keys the dialog takes until then.
			await page.getByRole('dialog').waitFor({ state: 'hidden' });
		});

		it('what an agent saved is undone as what it does to other files', async () => {
			const before = text('index.md');
			await page.keyboard.press('Control+KeyN');
			await say(t.saveAgain);
			await page.getByRole('button', { name: t.undo }).click();
			await page.getByRole('dialog').getByRole('button', { name: t.undoDo }).click();
			await page.getByRole('dialog').waitFor({ state: 'hidden' });
			assert.equal(existsSync(vault(`News/${t.again}.md`)), false);
			assert.equal(text('index.md'), before);
		});
	});
}
