import { answer } from './serve.mjs';

/** The views that are photographed and checked: how to reach each from the page that has just opened. */
const settings = (name) => async (page) => {
	await page.keyboard.press('Control+Comma');
	await section(page, name);
};

async function section(page, name) {
	const line = page.locator(`aside nav button[data-section=${name}]`);
	if (!(await line.isVisible().catch(() => false))) await page.locator('main .view-head button').first().click();
	await line.click();
	await page.waitForTimeout(150);
}

/** palette opens it and types. */
const palette = (words) => async (page) => {
	await page.keyboard.press('Control+KeyK');
	await page.keyboard.insertText(words);
	await page.waitForTimeout(400);
};

/** memoryFile opens the menu of the memories, and with a text the import of it. */
const memoryFile = (text) => async (page) => {
	await page
		.getByRole('button', { name: /^(Memory|기억)$/ })
		.first()
		.click();
	await page.locator('main .view-head .icon-trigger').click();
	await page.locator('.menu-item').first().waitFor();
	if (text === undefined) return;
	await page.locator('.menu-item').first().click();
	const file = { name: 'memories.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(text) };
	await page.locator('dialog input[type=file]').setInputFiles(file);
	await page.locator('dialog [role=status] p').first().waitFor();
};

async function session(page, index) {
	const list = page.locator('aside nav li .open');
	if (
		!(await list
			.first()
			.isVisible()
			.catch(() => false))
	)
		await page.keyboard.press('Control+KeyB');
	await list.nth(index).click();
	await page.waitForTimeout(250);
}

/** inbox opens it, and goes to the line at the index. */
const inbox =
	(index = 0) =>
	async (page) => {
		await page.keyboard.press('Control+KeyI');
		await page.locator('aside nav, main .column').first().waitFor();
		if (!(await page.locator('aside nav').isVisible())) {
			if (index === 0) return;
			await page.keyboard.press('Control+KeyB');
		}
		await page.locator('aside nav').focus();
		for (let i = 0; i < index; i++) await page.keyboard.press('ArrowDown');
		await page.waitForTimeout(200);
	};

/** agents opens the table, and goes to the agent of that name. */
const agents = (name) => async (page) => {
	await page.keyboard.press('Control+Shift+KeyA');
	await page.locator('main .scroll').waitFor();
	const row = (text) =>
		page.locator('main tr.line').filter({ has: page.getByRole('button', { name: text, exact: true }) });
	// The name of this one says most on a wide page: what it did, and what it does.
	const wanted = row(name ?? 'jeju-photos');
	await page.locator('main tr.line, main h2').first().waitFor();
	while ((await wanted.count()) > 0 && !(await wanted.getAttribute('aria-current')))
		await page.keyboard.press('ArrowDown');
	await page.waitForTimeout(400);
};

/** audit opens the record, and goes to the entry at the index. */
const audit = (index, change) => async (page) => {
	await page.keyboard.press('Control+Shift+KeyL');
	await page.locator('main .chain, main .none').first().waitFor();
	await change?.(page);
	if (index === undefined) return;
	await page.locator('table[data-table=audit] tr.line button').nth(index).click();
	await page.waitForTimeout(300);
};

/** memory opens it, and goes to the memory at the index. */
const memory = (index, then) => async (page) => {
	await page.keyboard.press('Control+Shift+KeyM');
	await page.locator('main .chips').waitFor();
	if (index !== undefined) {
		await page.locator('table[data-table=memory] tr.line button').nth(index).click();
		await page.locator('#pane-side dl').waitFor();
	}
	await then?.(page);
	await page.waitForTimeout(300);
};

/** extensions opens the servers of tools, and the one at the index. */
const extensions = (index, then) => async (page) => {
	await page.locator('nav.rail button').nth(6).click();
	await page.locator('main .head').waitFor();
	if (!(await page.locator('#pane-list').isVisible())) await page.keyboard.press('Control+KeyB');
	await page.locator('#pane-list li button').nth(index).click();
	await then?.(page);
	await page.waitForTimeout(300);
};

/** knowledge opens the notes, and the one whose line in the tree has this name. */
const knowledge = (name, then) => async (page) => {
	await page.keyboard.press('Control+Shift+KeyK');
	await page.locator('main .view-head').waitFor();
	if (!(await page.locator('#pane-list').isVisible())) await page.keyboard.press('Control+KeyB');
	await page.locator('#pane-list').waitFor();
	await page.waitForTimeout(200);
	if (name) {
		const line = page.getByRole('treeitem', { name });
		if ((await line.count()) === 0) await page.getByRole('treeitem', { name: 'journal' }).click();
		await line.last().click();
		await page.locator('.cm-content').waitFor();
	}
	await then?.(page);
	await page.waitForTimeout(300);
};
/** inMemory presses a button of the memory that is open. */
const inMemory = (name) => (page) => page.locator('#pane-side').getByRole('button', { name }).click();

/** files chooses files for the message that is written. */
const files =
	(...names) =>
	async (page) => {
		const list = names.map(([name, content]) => ({
			name,
			mimeType: 'application/octet-stream',
			buffer: Buffer.from(content),
		}));
		await page.locator('input[type=file]').setInputFiles(list);
		await page.waitForTimeout(200);
	};
/** dialogOf opens what the palette has under this name. */
const dialogOf = async (page, en, ko) => {
	const name = await page.evaluate(([en, ko]) => (document.documentElement.lang === 'ko' ? ko : en), [en, ko]);
	await page.keyboard.press('Control+KeyK');
	await page.getByRole('combobox').fill(name);
	await page.getByRole('option', { name }).first().click();
	await page.locator('dialog header h2', { hasText: name }).waitFor();
};

const notes = ['notes from the design review, second half, with everything that was said.txt', 'text '.repeat(9000)];

/** sent opens the conversation whose message has attachments, and the one at the index. */
const sent = (index) => async (page) => {
	await session(page, 0);
	if (index === undefined) return;
	await page.locator('.sent button').nth(index).click();
	await page.waitForTimeout(300);
};

/** written is what stands in the composer, on the home or in the conversation at the index. */
const written = (text, index) => async (page) => {
	if (index !== undefined) await session(page, index);
	await page.locator('.composer textarea').focus();
	await page.keyboard.type(text);
	await page.waitForTimeout(300);
};

/** plan opens the conversation with its side panel. */
const plan = (then) => async (page) => {
	await session(page, 0);
	await page.keyboard.press('Control+Alt+KeyB');
	await page.locator('#pane-side').waitFor();
	await page.waitForTimeout(300);
	await then?.(page);
};

/** quick asks the quick prompt, and waits until that stands. */
const quick = (words, until) => async (page) => {
	await page.getByRole('textbox', { name: /Message|메시지/ }).fill(words);
	await page.keyboard.press('Enter');
	if (until) await page.locator(until).waitFor();
};

/** provider opens the form of the first start, fills it, and with until sends it and waits for that. */
const provider =
	({ kind, url, key, model, until }) =>
	async (page) => {
		await page.locator('.other').click();
		await page.locator('dialog select').selectOption(kind);
		if (url) await page.locator('dialog input[type=url]').fill(url);
		if (key) await page.locator('dialog input[type=password]').fill(key);
		if (model) await page.locator('dialog input[type=text]').nth(1).fill(model);
		if (!until) return page.waitForTimeout(200);
		await page.locator('dialog .primary').click();
		await page.locator(`dialog ${until}`).waitFor();
		await page.waitForTimeout(300);
	};

/** spaces opens them, and the space at the index. */
const spaces = (index, then) => async (page) => {
	await palette('manage spaces')(page);
	await page.keyboard.press('Enter');
	await page.locator('main .chips, main .none').first().waitFor();
	if (index !== undefined) {
		await page.locator('table[data-table=spaces] tr.line button').nth(index).click();
		await page.locator('#pane-side dl').waitFor();
	}
	await then?.(page);
	await page.waitForTimeout(300);
};
/** inSpace presses a button of the space that is open. */
const inSpace = (name) => (page) => page.locator('#pane-side').getByRole('button', { name }).click();

export const views = [
	{ name: 'home' },
	{ name: 'home-empty', scene: 'empty' },
	{ name: 'waiting', go: (page) => session(page, 0) },
	{ name: 'running', go: (page) => session(page, 1) },
	{ name: 'approval-long', go: (page) => session(page, 2) },
	{
		name: 'approval-network',
		go: async (page) => {
			await session(page, 2);
			await page.locator('[role=alertdialog] .turns button').nth(1).click();
		},
	},
	{
		name: 'approval-diff',
		go: async (page) => {
			await session(page, 2);
			await page.locator('[role=alertdialog] .turns button').nth(0).click();
		},
	},
	{
		name: 'approval-kind',
		go: async (page) => {
			await session(page, 2);
			await page.locator('[role=alertdialog] .turns button').nth(1).click();
			await page.locator('[role=alertdialog] .act button[aria-expanded]').click();
			await page.locator('[role=alertdialog] div.kind').waitFor();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'tried',
		go: async (page) => {
			await session(page, 0);
			await answer(page.locator('[role=alertdialog] .act button').nth(1));
			await page.locator('.tried li button').first().click();
			await page.waitForTimeout(200);
		},
	},
	{ name: 'uncontained', scene: 'uncontained', go: (page) => session(page, 0) },
	{ name: 'uncontained-permissions', scene: 'uncontained', go: settings('permissions') },
	{
		name: 'undo',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.files .total button').first().click();
			await page.locator('dialog[open] li button').first().click();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'finished',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.files .total button').last().click();
			await page.waitForTimeout(400);
		},
	},
	{
		name: 'steps-open',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.steps .head').first().click();
			await page.locator('.turn > div > .head').first().click();
		},
	},
	{
		name: 'room-open',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.steps .head', { hasText: /Made room|자리 마련/ }).click();
		},
	},
	{
		name: 'versions',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.me').first().hover();
		},
	},
	{
		name: 'edit',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.me').first().hover();
			await page.locator('.me .acts button').first().click();
		},
	},
	{ name: 'branch', scene: 'branch', go: (page) => session(page, 0) },
	{ name: 'questions', scene: 'ask', go: (page) => session(page, 0) },
	{ name: 'questions-plan', scene: 'ask', go: plan() },
	{ name: 'plan', scene: 'plan', go: plan() },
	{
		name: 'plan-beside',
		scene: 'plan',
		go: plan(async (page) => {
			await page.locator('#pane-side .versions button').click();
			await page.waitForTimeout(150);
		}),
	},
	{
		name: 'branch-context',
		scene: 'branch',
		go: async (page) => {
			await session(page, 0);
			await page.locator('.meter-trigger').click();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'branch-again',
		scene: 'branch',
		go: async (page) => {
			await session(page, 0);
			await page.locator('.foot .icon-trigger').last().click();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'branch-table',
		scene: 'branch',
		go: async (page) => {
			await session(page, 0);
			await page.locator('.table').hover();
			await page.locator('.table .icon-trigger').click();
			await page.waitForTimeout(200);
		},
	},
	{ name: 'failed', go: (page) => session(page, 4) },
	{ name: 'cut', go: (page) => session(page, 5) },
	{
		name: 'models-menu',
		go: async (page) => {
			await page.locator('.composer .chip-trigger').nth(3).click();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'folder-menu',
		go: async (page) => {
			await page.locator('.composer .chip-trigger').nth(1).click();
			await page.waitForTimeout(300);
		},
	},
	{
		name: 'mode-menu',
		go: async (page) => {
			await page.locator('.composer .chip-trigger').nth(2).click();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'delete',
		go: async (page) => {
			await session(page, 3);
			const list = page.locator('aside nav li');
			if (
				!(await list
					.first()
					.isVisible()
					.catch(() => false))
			)
				await page.keyboard.press('Control+KeyB');
			await list.nth(3).hover();
			await list.nth(3).locator('.icon-trigger').click();
			await page.locator('.menu-item').last().click();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'search',
		go: async (page) => {
			await page.keyboard.press('Control+KeyF');
			await page.waitForTimeout(200);
			await page.keyboard.type('parse');
			await page.waitForTimeout(400);
		},
	},
	{ name: 'inbox', go: inbox() },
	{ name: 'inbox-diff', go: inbox(3) },
	{ name: 'inbox-limit', scene: 'limit', go: inbox(4) },
	{ name: 'inbox-away', scene: 'offline', go: inbox(4) },
	{ name: 'inbox-found', scene: 'found', go: inbox() },
	{ name: 'inbox-failed', go: inbox(4) },
	{ name: 'inbox-finished', go: inbox(6) },
	{ name: 'inbox-empty', scene: 'empty', go: inbox() },
	{ name: 'inbox-many', scene: 'ends', go: inbox(40) },
	{ name: 'agents', scene: 'agents', go: agents() },
	{ name: 'agents-busy', scene: 'busy', go: agents() },
	{ name: 'agents-failed', scene: 'agents', go: agents('october-report') },
	{
		name: 'agents-stop',
		scene: 'agents',
		go: async (page) => {
			await agents('tidy-downloads')(page);
			await page.keyboard.press('KeyX');
			await page.waitForTimeout(200);
		},
	},
	{ name: 'agents-empty', scene: 'empty', go: agents() },
	{ name: 'agents-many', scene: 'many-agents', go: agents() },
	{
		name: 'agents-narrow',
		scene: 'agents',
		go: async (page) => {
			await agents('jeju-photos')(page);
			if (await page.locator('#pane-side').isVisible()) return;
			await page.keyboard.press('Enter');
			await page.waitForTimeout(400);
		},
	},
	{ name: 'extensions', go: extensions(1) },
	{ name: 'extensions-changed', go: extensions(0) },
	{ name: 'extensions-unknown', go: extensions(2) },
	{
		name: 'extensions-add',
		go: extensions(1, async (page) => {
			if (!(await page.locator('#pane-list').isVisible())) await page.keyboard.press('Control+KeyB');
			await page.locator('#pane-list .view-head button').last().click();
			await page.getByRole('menuitem').first().click();
		}),
	},
	{
		name: 'extensions-import',
		go: extensions(1, async (page) => {
			if (!(await page.locator('#pane-list').isVisible())) await page.keyboard.press('Control+KeyB');
			await page.locator('#pane-list .view-head button').last().click();
			await page.getByRole('menuitem').nth(1).click();
			await page.locator('dialog button, [role="dialog"] button').last().click();
		}),
	},
	{
		name: 'skills-find',
		go: extensions(3, async (page) => {
			if (!(await page.locator('#pane-list').isVisible())) await page.keyboard.press('Control+KeyB');
			await page.locator('#pane-list .view-head button').last().click();
			await page.getByRole('menuitem').last().click();
			const dialog = page.getByRole('dialog');
			if (!(await dialog.locator('input[type=search]').isVisible())) await dialog.getByRole('switch').first().click();
			await dialog.locator('input[type=search]').fill('paper');
			await dialog.locator('input[type=search]').press('Enter');
			await dialog.locator('li').first().waitFor();
		}),
	},
	{ name: 'skill', go: extensions(3) },
	{ name: 'skill-changed', go: extensions(5) },
	{ name: 'skill-review', go: extensions(6) },
	{ name: 'extensions-remove', go: extensions(1, (page) => page.locator('main .body > div > button').last().click()) },
	{ name: 'memory', go: memory() },
	{ name: 'memory-fact', go: memory(0) },
	{ name: 'memory-outside', go: memory(2) },
	{ name: 'memory-edit', go: memory(0, inMemory(/^(Edit|고치기)$/)) },
	{ name: 'memory-forget', go: memory(0, inMemory(/^(Forget|지우기)$/)) },
	{
		name: 'memory-found',
		go: memory(undefined, async (page) => {
			await page.locator('main .chips label').nth(2).click();
			await page.locator('main input[type=search]').fill('parse');
			await page.waitForTimeout(300);
		}),
	},
	{
		name: 'memory-replaced',
		go: memory(undefined, async (page) => {
			await page.locator('main .chips label').nth(3).click();
			await page.locator('table[data-table=memory] tr.line button').first().click();
		}),
	},
	{
		name: 'memory-add',
		go: memory(undefined, (page) => page.locator('main .view-head button').last().click()),
	},
	{
		name: 'memory-off',
		go: memory(undefined, (page) => page.locator('main .give [role=switch]').click()),
	},
	{
		name: 'memory-night',
		go: memory(undefined, async (page) => {
			await page.locator('main .night button').click();
			await page.locator('dialog[open] li').first().waitFor();
		}),
	},
	{ name: 'memory-empty', scene: 'empty', go: memory() },
	{
		name: 'memory-many',
		scene: 'many-memories',
		go: memory(0, async (page) => {
			for (let i = 0; i < 4; i++) await page.keyboard.press('PageDown');
		}),
	},
	{
		name: 'memory-used',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.used .head').click();
			await page.locator('.used li').first().waitFor();
		},
	},
	{ name: 'embedder', go: settings('memory') },
	{
		name: 'embedder-away',
		go: async (page) => {
			await settings('memory')(page);
			await page.locator('main select[id$=-who]').selectOption('openai');
			await page.getByRole('button', { name: /^(Test|시험)$/ }).click();
			await page.locator('main .result').waitFor();
		},
	},
	{
		name: 'embedder-ask',
		go: async (page) => {
			await settings('memory')(page);
			await page.locator('main select[id$=-who]').selectOption('openai');
			await page.getByRole('button', { name: /^(Use it|사용)$/ }).click();
			await page.waitForTimeout(200);
		},
	},
	{ name: 'embedder-progress', scene: 'embedding', go: settings('memory') },
	{ name: 'embedder-failed', scene: 'embedding-failed', go: settings('memory') },
	{
		name: 'space-switcher',
		scene: 'proposed',
		go: async (page) => {
			await session(page, 1);
			if (!(await page.locator('.space-switch').isVisible())) await page.keyboard.press('Control+KeyB');
			await page.locator('.space-switch').click();
			await page.waitForTimeout(250);
		},
	},
	{ name: 'space-proposed', scene: 'proposed', go: (page) => session(page, 1) },
	{ name: 'space-proposed-move', scene: 'proposed', go: (page) => session(page, 3) },
	{
		name: 'space-chip',
		go: async (page) => {
			await written('File the receipts, 영수증')(page);
			await page.locator('.composer .chip-trigger', { hasText: /Home|집/ }).click();
			await page.waitForTimeout(300);
		},
	},
	{
		name: 'space-move',
		go: async (page) => {
			if (!(await page.locator('aside nav').isVisible())) await page.keyboard.press('Control+KeyB');
			const line = page.locator('aside nav li').nth(3);
			await line.hover();
			await line.locator('.icon-trigger').click();
			await page.locator('.menu-item', { hasText: /Move to a space|공간으로 옮기기/ }).click();
			await page.waitForTimeout(250);
		},
	},
	{ name: 'spaces', scene: 'spaces', go: spaces() },
	{ name: 'spaces-one', scene: 'spaces', go: spaces(2) },
	{ name: 'spaces-gone', scene: 'spaces', go: spaces(4) },
	{ name: 'spaces-default', scene: 'spaces', go: spaces(5) },
	{ name: 'spaces-edit', scene: 'spaces', go: spaces(2, inSpace(/^(Edit|고치기)$/)) },
	{ name: 'spaces-merge', scene: 'spaces', go: spaces(3, inSpace(/^(Merge into|다른 공간에)/)) },
	{ name: 'spaces-remove', scene: 'spaces', go: spaces(3, inSpace(/^(Remove|없애기)/)) },
	{
		name: 'spaces-archived',
		scene: 'spaces',
		go: spaces(undefined, async (page) => {
			await page.locator('main .chips label').nth(1).click();
			await page.locator('table[data-table=spaces] tr.line button').first().click();
			await page.locator('#pane-side dl').waitFor();
		}),
	},
	{
		name: 'spaces-stale',
		scene: 'spaces',
		go: spaces(undefined, (page) => page.locator('main .chips button').click()),
	},
	{
		name: 'spaces-create',
		go: spaces(undefined, (page) => page.locator('main .view-head button').last().click()),
	},
	{ name: 'spaces-empty', scene: 'empty', go: spaces() },
	{ name: 'audit', go: audit() },
	{ name: 'audit-entry', go: audit(3) },
	{
		name: 'audit-refused',
		go: audit(0, async (page) => {
			await page.locator('.chips button').last().click();
			await page.waitForTimeout(300);
		}),
	},
	{ name: 'audit-damaged', scene: 'found', go: audit() },
	{ name: 'audit-empty', scene: 'empty', go: audit() },
	{
		name: 'attach-menu',
		go: async (page) => {
			await page.locator('.attach-trigger').click();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'attach-chips',
		go: files(['report.pdf', 'pages'], notes, ['보고서.txt', '한글'], ['kaputt.pdf', 'broken']),
	},
	{ name: 'attach-blind', go: files(['sea at Jeju.jpg', 'picture'], ['report.pdf', 'pages']) },
	{
		name: 'attach-folder',
		go: async (page) => {
			await page.locator('.attach-trigger').click();
			await page.locator('.menu-item').nth(1).click();
			await page.waitForTimeout(300);
		},
	},
	{ name: 'attach-sent', scene: 'attached', go: sent() },
	{ name: 'attach-image', scene: 'attached', go: sent(0) },
	{ name: 'attach-text', scene: 'attached', go: sent(1) },
	{ name: 'attach-path', scene: 'attached', go: sent(2) },
	{ name: 'mention', go: written('Compare @', 3) },
	{ name: 'mention-found', go: written('Compare @ledger') },
	{ name: 'mention-sent', scene: 'archived', go: (page) => session(page, 0) },
	{ name: 'commands', go: written('/', 3) },
	{ name: 'commands-mode', go: written('/mode ') },
	{
		name: 'archived',
		scene: 'archived',
		go: async (page) => {
			await session(page, 0);
			if (!(await page.locator('aside nav').isVisible())) await page.keyboard.press('Control+KeyB');
			await page.locator('aside nav .fold').click();
		},
	},
	{ name: 'many', scene: 'many' },
	{ name: 'trouble', scene: 'problem', go: (page) => settings('models')(page) },
	{ name: 'settings-general', go: settings('general') },
	{ name: 'settings-models', go: settings('models') },
	{
		name: 'settings-fallbacks',
		go: async (page) => {
			await settings('models')(page);
			await page.locator('#fallbacks-title').scrollIntoViewIfNeeded();
			await page.locator('#fallbacks-title').evaluate((e) => e.scrollIntoView());
		},
	},
	{
		name: 'settings-fallback-asks',
		go: async (page) => {
			await settings('models')(page);
			await page.locator('section[aria-labelledby=fallbacks-title] select').first().selectOption({ index: 1 });
			await page.locator('[role=dialog], dialog').first().waitFor();
		},
	},
	{
		name: 'settings-add',
		go: async (page) => {
			await settings('models')(page);
			await page.locator('main .view-head button').last().click();
			await page.waitForTimeout(200);
		},
	},
	{ name: 'settings-permissions', go: settings('permissions') },
	{ name: 'settings-programs', go: settings('programs') },
	{
		name: 'settings-program-add',
		go: async (page) => {
			await settings('programs')(page);
			await page.locator('main .view-head button').last().click();
			await page.waitForTimeout(200);
		},
	},
	{ name: 'settings-folders', go: settings('folders') },
	{ name: 'settings-language', go: settings('language') },
	{ name: 'settings-appearance', go: settings('appearance') },
	{ name: 'settings-keyboard', go: settings('keyboard') },
	{ name: 'settings-notifications', go: settings('notifications') },
	{ name: 'settings-limits', go: settings('limits') },
	{ name: 'limit', scene: 'limit', go: (page) => session(page, 1) },
	{ name: 'settings-memory', go: settings('memory') },
	{
		name: 'pages',
		scene: 'pages',
		async go(page) {
			await session(page, 0);
			for (const i of [2, 1]) await page.locator('main .steps .head').nth(i).click();
			await page.locator('main .page .btn').first().click();
			await page.locator('main .page .said').waitFor();
		},
	},
	{ name: 'memory-menu', go: memoryFile() },
	{ name: 'memory-import', go: memoryFile('{"text":"Rides a bicycle"}\n{"text":"Tea, no coffee","space":"Sea"}') },
	{ name: 'memory-import-wrong', go: memoryFile('{"text":"Rides a bicycle"}\n{"text":""}\nTea, no coffee') },
	{
		name: 'settings-web',
		async go(page) {
			await settings('web')(page);
			await page.locator('main .try button').click();
			await page.locator('main .works').waitFor();
		},
	},
	{
		name: 'settings-web-failed',
		async go(page) {
			await settings('web')(page);
			await page.locator('main input[type=radio]').nth(2).check();
			await page.locator('main input[type=password]').fill('wrong');
			await page.locator('main .more .btn.primary').click();
			await page.locator('main .try button').click();
			await page.locator('main .bad').waitFor();
		},
	},
	{ name: 'settings-knowledge', go: settings('knowledge') },
	{
		name: 'settings-knowledge-theirs',
		async go(page) {
			await settings('knowledge')(page);
			await page.locator('main .place button').last().click();
			await page.locator('dialog input').fill('~/Documents');
			await page.locator('dialog .btn.primary').click();
			await page.locator('dialog').waitFor({ state: 'detached' });
			await page.locator('main .fields input').last().fill('..');
			await page.locator('main .wrong').waitFor();
		},
	},
	{ name: 'settings-storage', go: settings('storage') },
	{
		name: 'settings-restore',
		go: async (page) => {
			await settings('storage')(page);
			await page.locator('main .card').first().locator('button').last().click();
			await page.locator('dialog[open] table').waitFor();
		},
	},
	{ name: 'settings-about', go: settings('about') },
	{
		name: 'shortcuts',
		go: async (page) => {
			await page.keyboard.press('F1');
			await page.waitForTimeout(200);
		},
	},
	{ name: 'trust', scene: 'trust' },
	{
		name: 'instructions',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.bar .chip-trigger', { hasText: /AGENTS/ }).click();
			await page.waitForTimeout(200);
		},
	},
	{ name: 'knowledge', go: knowledge(/^\d{4}-\d\d-\d\d/) },
	{
		name: 'knowledge-embeds',
		scene: 'embedded',
		go: knowledge(/^(Jeju trip|제주 여행)$/, async (page) => {
			await page.locator('.kn-embed img').waitFor();
			await page.locator('.kn-embed .note').waitFor();
		}),
	},
	{
		name: 'knowledge-blocks',
		scene: 'embedded',
		go: knowledge(/^(Jeju trip|제주 여행)$/, async (page) => {
			await page.locator('.cm-content').click();
			await page.keyboard.press('Control+Home');
			await page.keyboard.press('ArrowDown');
			await page.keyboard.type('[[#^');
			await page.locator('.cm-tooltip-autocomplete').waitFor();
		}),
	},
	{
		name: 'knowledge-file',
		scene: 'embedded',
		go: knowledge(undefined, async (page) => {
			await page.getByRole('treeitem', { name: 'attachments' }).click();
			await page.getByRole('treeitem', { name: /svg$/ }).click();
			await page.locator('main img').waitFor();
		}),
	},
	{
		name: 'knowledge-file-other',
		scene: 'embedded',
		go: knowledge(undefined, async (page) => {
			await page.getByRole('treeitem', { name: 'attachments' }).click();
			await page.getByRole('treeitem', { name: /pdf$/ }).click();
			await page.locator('main .acts').waitFor();
		}),
	},
	{
		name: 'knowledge-clash',
		scene: 'clash',
		go: knowledge(/Broken head|깨진 머리말/, async (page) => {
			await page.locator('.cm-content').click();
			await page.keyboard.type('Mine. ');
			await page.locator('.note.wait').waitFor();
		}),
	},
	{
		name: 'knowledge-versions',
		go: knowledge(/^\d{4}-\d\d-\d\d/, async (page) => {
			await page.getByRole('button', { name: /^(Versions|버전)$/ }).click();
			await page.locator('dialog .add').first().waitFor();
		}),
	},
	{
		name: 'knowledge-trash',
		go: knowledge(/Broken head|깨진 머리말/, async (page) => {
			await page.getByRole('button', { name: /^(Actions for this note|노트 동작)$/ }).click();
			await page.getByRole('menuitem', { name: /^(Delete|삭제)$/ }).click();
			await page.locator('dialog footer button').last().click();
			await dialogOf(page, 'Trash', '휴지통');
			await page.locator('dialog li').first().waitFor();
		}),
	},
	{
		name: 'knowledge-graph',
		go: knowledge(/^\d{4}-\d\d-\d\d/, async (page) => {
			await dialogOf(page, 'Graph of all notes', '전체 그래프');
			await page.locator('dialog svg .node').first().waitFor();
		}),
	},
	{
		name: 'knowledge-rename',
		go: knowledge(/^\d{4}-\d\d-\d\d/, async (page) => {
			await page.locator('main h1 button').click();
			await page.locator('dialog input').first().fill('Saturday');
			await page.locator('dialog .says p').first().waitFor();
		}),
	},
	{
		name: 'knowledge-check',
		go: knowledge(undefined, async (page) => {
			await dialogOf(page, 'Check the notes', '노트 점검');
			await page.locator('dialog li').first().waitFor();
		}),
	},
	{
		name: 'knowledge-import',
		go: knowledge(undefined, async (page) => {
			await dialogOf(page, 'Import a folder', '폴더 가져오기');
			await page.locator('dialog input').first().fill('/home/me/Obsidian');
			await page.keyboard.press('Enter');
			await page.locator('dialog .place').waitFor();
		}),
	},
	{
		name: 'knowledge-beside',
		go: knowledge(/^\d{4}-\d\d-\d\d/, async (page) => {
			await page.locator('.cm-content').click();
			await page.keyboard.press('Control+Backslash');
			await page
				.locator('.view-head', { has: page.getByRole('button', { name: /^(Close this side|이쪽 닫기)$/ }) })
				.first()
				.waitFor();
			await page.locator('.cm-content').last().waitFor();
			if (!(await page.locator('#pane-list').isVisible())) await page.keyboard.press('Control+KeyB');
			await page.getByRole('treeitem', { name: /Broken head|깨진 머리말/ }).click();
			await page.locator('main h1', { hasText: /Broken head|깨진 머리말/ }).waitFor();
		}),
	},
	{
		name: 'knowledge-edited',
		scene: 'edited',
		go: knowledge(/^\d{4}-\d\d-\d\d/, async (page) => {
			await page.getByRole('button', { name: /^(Show|보기)$/ }).click();
			await page.locator('.bars .diff .add').first().waitFor();
		}),
	},
	{
		name: 'knowledge-difference',
		scene: 'clash',
		go: knowledge(/Broken head|깨진 머리말/, async (page) => {
			await page.locator('.cm-content').click();
			await page.keyboard.press('Control+End');
			await page.keyboard.type('Mine.');
			await page.getByRole('button', { name: /^(Show the difference|차이 보기)$/ }).click();
			await page.locator('.bars .diff .add').first().waitFor();
		}),
	},
	{
		name: 'knowledge-menu',
		go: knowledge(/Broken head|깨진 머리말/, async (page) => {
			if (!(await page.locator('#pane-list').isVisible())) await page.keyboard.press('Control+KeyB');
			await page.getByRole('treeitem').first().focus();
			await page.keyboard.press('Shift+F10');
			await page.locator('.menu').waitFor();
		}),
	},
	{
		name: 'knowledge-move',
		go: knowledge(/^\d{4}-\d\d-\d\d/, async (page) => {
			await page.getByRole('button', { name: /^(Actions for this note|노트 동작)$/ }).click();
			await page.getByRole('menuitem', { name: /^(Move to…|이동…)$/ }).click();
			await page.locator('dialog input').fill('reading');
			await page.locator('dialog .says p').waitFor();
		}),
	},
	{
		name: 'knowledge-drag',
		go: knowledge(undefined, async (page) => {
			const line = (i) => page.getByRole('treeitem').nth(i).boundingBox();
			const [from, to] = [await line(4), await line(1)];
			await page.mouse.move(from.x + 40, from.y + 16);
			await page.mouse.down();
			await page.mouse.move(to.x + 60, to.y + 16, { steps: 4 });
			await page.locator('li.into').waitFor();
		}),
	},
	{ name: 'knowledge-empty', scene: 'empty', go: knowledge() },
	{
		name: 'knowledge-search',
		go: knowledge(undefined, async (page) => {
			await page.locator('#pane-list input[type=search]').fill('WAL');
			await page.locator('#pane-list mark').first().waitFor();
		}),
	},
	{ name: 'palette', go: palette('') },
	{ name: 'palette-found', go: palette('s') },
	{ name: 'palette-first-consonants', go: palette('ㅅㅈ') },
	{ name: 'palette-nothing', go: palette('zzzz') },
	{
		name: 'palette-model',
		go: async (page) => {
			await palette('model')(page);
			await page.keyboard.press('Enter');
			await page.waitForTimeout(300);
		},
	},
	{ name: 'quick', quick: true },
	{ name: 'quick-answered', quick: true, go: quick('Look around.', 'footer .num') },
	{ name: 'quick-waits', quick: true, go: quick('push', '.note.wait') },
	{ name: 'quick-failed', quick: true, go: quick('fail', '.note.fail') },
	{ name: 'offline', scene: 'offline', go: (page) => session(page, 1) },
	{ name: 'onboarding-1', scene: 'first' },
	{ name: 'onboarding-form', scene: 'first', go: provider({ kind: 'anthropic' }) },
	{
		name: 'onboarding-wrong-key',
		scene: 'first',
		go: provider({ kind: 'openai', key: 'wrong-key', until: '[aria-invalid=true]' }),
	},
	{
		name: 'onboarding-wrong-model',
		scene: 'first',
		go: provider({ kind: 'openai', key: 'right-key', model: 'none', until: '.offered' }),
	},
	{
		name: 'onboarding-untested',
		scene: 'first',
		go: async (page) => {
			await provider({ kind: 'custom', url: 'http://192.168.1.20:1/v1', until: '[aria-invalid=true]' })(page);
			await page.locator('dialog footer .quiet').first().click();
			await page.locator('dialog').waitFor({ state: 'detached' });
			await page.waitForTimeout(300);
		},
	},
	{ name: 'onboarding-bare', scene: 'bare' },
	{
		name: 'onboarding-2',
		scene: 'first',
		go: async (page) => {
			await page.locator('.item .primary').click();
			await page.waitForTimeout(500);
		},
	},
	{
		name: 'onboarding-3',
		scene: 'first',
		go: async (page) => {
			await page.locator('.item .primary').click();
			await page.locator('footer .primary').click();
			await page.waitForTimeout(500);
		},
	},
];

/** viewPage opens a page for views, which remembers nothing from one to the next. */
export async function viewPage(chrome, { lang, width, height }) {
	const context = await chrome.newContext({ viewport: { width, height }, reducedMotion: 'reduce', locale: lang });
	const page = await context.newPage();
	await page.addInitScript(() => localStorage.clear());
	return page;
}

/** openView shows a view and waits until it stands still. */
export async function openView(page, base, view, { theme, lang }) {
	const q = new URLSearchParams({ fake: '1', theme, lang, ...(view.scene ? { scene: view.scene } : {}) });
	if (view.quick) q.set('quick', '1');
	await page.goto(`${base}?${q}`);
	await page.waitForSelector('#app main');
	await page.waitForTimeout(view.scene === 'first' ? 1200 : 250);
	await view.go?.(page);
	await page.evaluate(() => document.fonts.ready);
	await page.waitForTimeout(150);
}
