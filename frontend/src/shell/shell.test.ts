import { describe, expect, it } from 'vitest';
import { makeKernel } from '../kernel/api.gen';
import { FakeTransport } from '../kernel/fake/transport';
import { Kept } from '../kernel/kept.svelte';
import { fitted, Shell } from './shell.svelte';

const both = { list: true, side: true };

async function setup(kept: Record<string, string> = {}) {
	const kernel = makeKernel(new FakeTransport());
	for (const [k, v] of Object.entries(kept)) await kernel.infra.keep(k, v);
	const memory = new Kept(kernel);
	await memory.load();
	return { kernel, shell: new Shell(memory) };
}

describe('the panes', () => {
	it('have the widths that were set, where there is room', () => {
		expect(fitted(1280, { list: 300, side: 400 }, both)).toEqual({ list: 300, side: 400 });
		expect(fitted(1920, { list: 400, side: 560 }, both)).toEqual({ list: 400, side: 560 });
	});

	it('leave the content room to be read, and never get narrower than they may', () => {
		for (const width of [960, 1100, 1200, 1280]) {
			const s = fitted(width, { list: 400, side: 560 }, both);
			expect(s.list).toBeGreaterThanOrEqual(200);
			expect(s.side).toBeGreaterThanOrEqual(300);
			if (width >= 1100) expect(width - 80 - s.list - s.side).toBeGreaterThanOrEqual(380);
		}
		expect(fitted(1100, { list: 400, side: 300 }, { list: true, side: false }).list).toBe(400);
	});

	it('stay within their limits, and are there after the next start', async () => {
		const { kernel, shell } = await setup();
		shell.width = 1600;
		shell.resize('list', 1000, true);
		shell.resize('side', 10, true);
		expect(shell.sizes).toEqual({ list: 400, side: 300 });
		shell.togglePane();
		const memory = new Kept(kernel);
		await memory.load();
		const again = new Shell(memory);
		again.width = 1600;
		expect(again.sizes).toEqual({ list: 400, side: 300 });
		expect(again.pane).toBe(false);
	});

	it('remember a width once it stands, not at every move', async () => {
		const { kernel, shell } = await setup();
		shell.resize('list', 250, false);
		expect(await kernel.infra.kept()).toEqual({});
		shell.resize('list', 270, true);
		expect(await kernel.infra.kept()).toEqual({ 'pane.list.width': '270' });
	});

	it('take the usual width when what was kept makes no sense', async () => {
		const { shell } = await setup({ 'pane.list.width': 'wide', 'pane.side.width': '-3' });
		shell.width = 1600;
		expect(shell.sizes).toEqual({ list: 256, side: 300 });
	});

	it('are sheets in a small window, which open for the moment only', async () => {
		const { kernel, shell } = await setup();
		shell.width = 900;
		expect(shell.pane).toBe(false);
		shell.togglePane();
		expect(shell.pane).toBe(true);
		expect(await kernel.infra.kept()).toEqual({});
		shell.open('s-1');
		expect(shell.pane).toBe(false);
	});
});
