/** The views that are photographed and checked: how to reach each from the page that has just opened. */
const settings = (name) => async (page) => {
	await page.keyboard.press('Control+Comma');
	await section(page, name);
};

async function section(page, index) {
	const list = page.locator('aside nav button');
	if (
		!(await list
			.first()
			.isVisible()
			.catch(() => false))
	)
		await page.locator('main .view-head button').first().click();
	await list.nth(index).click();
	await page.waitForTimeout(150);
}

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
		name: 'finished',
		go: async (page) => {
			await session(page, 3);
			await page.locator('.files .total button').click();
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
	{ name: 'failed', go: (page) => session(page, 4) },
	{ name: 'cut', go: (page) => session(page, 5) },
	{
		name: 'models-menu',
		go: async (page) => {
			await page.locator('.composer .chip-trigger').nth(2).click();
			await page.waitForTimeout(200);
		},
	},
	{
		name: 'folder-menu',
		go: async (page) => {
			await page.locator('.composer .chip-trigger').nth(0).click();
			await page.waitForTimeout(300);
		},
	},
	{
		name: 'mode-menu',
		go: async (page) => {
			await page.locator('.composer .chip-trigger').nth(1).click();
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
	{ name: 'many', scene: 'many' },
	{ name: 'trouble', scene: 'problem', go: (page) => settings(0)(page) },
	{ name: 'settings-models', go: settings(0) },
	{
		name: 'settings-add',
		go: async (page) => {
			await settings(0)(page);
			await page.locator('main .view-head button').last().click();
			await page.waitForTimeout(200);
		},
	},
	{ name: 'settings-permissions', go: settings(1) },
	{ name: 'settings-language', go: settings(2) },
	{ name: 'settings-appearance', go: settings(3) },
	{ name: 'settings-keyboard', go: settings(4) },
	{ name: 'settings-notifications', go: settings(5) },
	{ name: 'settings-about', go: settings(6) },
	{ name: 'onboarding-1', scene: 'first' },
	{
		name: 'onboarding-2',
		scene: 'first',
		go: async (page) => {
			await page.locator('.item .primary').click();
			await page.waitForTimeout(500);
		},
	},
];

/** openView shows a view and waits until it stands still. */
export async function openView(page, base, view, { theme, lang }) {
	const q = new URLSearchParams({ fake: '1', theme, lang, ...(view.scene ? { scene: view.scene } : {}) });
	await page.goto(`${base}?${q}`);
	await page.evaluate(() => localStorage.clear());
	await page.reload();
	await page.waitForSelector('#app main');
	await page.waitForTimeout(view.scene === 'first' ? 1200 : 250);
	await view.go?.(page);
	await page.evaluate(() => document.fonts.ready);
	await page.waitForTimeout(150);
}
