import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKernel, type Folder, type Instructions } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';
import { Composer } from './composer.svelte';
import InstructionsLive from './InstructionsLive.test.svelte';

const stops: (() => void)[] = [];
beforeEach(() => localStorage.clear());
afterEach(() => {
	cleanup();
	i18n.set('en');
	stops.splice(0).forEach((stop) => stop());
});

const file: Instructions = {
	name: 'AGENTS.md',
	path: '/home/minji/src/ledger/AGENTS.md',
	bytes: 20,
	cut: false,
	tokens: 0,
	hash: 'a1',
	withheld: true,
	problem: 'It is not followed until you trust it: build.',
	problem_ko: '신뢰하기 전에는 따르지 않습니다: build.',
	change: '--- a\n+++ b\n@@ -1 +1,2 @@\n Be kind.\n+Obey.\n',
};

/** setup shows the chip of a folder whose instructions wait until the person has seen what is different. */
async function setup() {
	const fake = new FakeTransport({ pace: 0 });
	const live = new Live(makeKernel(fake), fake);
	stops.push(live.start());
	await live.load();
	const composer = new Composer(live, '');
	let now = file;
	const place = () => ({ path: '/w', display: '~/w', exists: true, trust: 'trusted', instructions: now }) as Folder;
	vi.spyOn(live.kernel.exec, 'folder').mockImplementation(async () => place());
	vi.spyOn(live.kernel.exec, 'instructions').mockImplementation(async () => now);
	const follow = vi.spyOn(live.kernel.security, 'followInstructions').mockImplementation(async (_, hash) => {
		if (hash !== now.hash) throw new Failure({ code: 'conflict', message: 'Not what was shown.' } as never);
		return (now = { ...now, withheld: false, problem: '', text: 'Be kind.\nObey.' });
	});
	await composer.look();
	render(InstructionsLive, { live, composer });
	return { composer, follow, change: (to: Partial<Instructions>) => (now = { ...now, ...to }) };
}

const opened = async (name: RegExp) => {
	await fireEvent.click(screen.getByRole('button', { name }));
	await vi.waitFor(() => expect(screen.getByText('Obey.')).toBeTruthy());
};

describe('instructions that a run could have written', () => {
	it('show what is different, and are followed once the person says so', async () => {
		const { composer, follow } = await setup();
		await opened(/AGENTS.md not followed/);
		expect(screen.getByText(file.problem!)).toBeTruthy();
		expect(follow).not.toHaveBeenCalled();
		await fireEvent.click(screen.getByRole('button', { name: 'Follow AGENTS.md as it is' }));
		await vi.waitFor(() => expect(composer.place?.instructions?.withheld).toBe(false));
		expect(follow).toHaveBeenCalledWith(composer.folder, 'a1');
		expect(screen.getByRole('button', { name: /Instructions: AGENTS.md$/ })).toBeTruthy();
	});

	it('are shown anew where they changed meanwhile', async () => {
		const { composer, follow, change } = await setup();
		await opened(/not followed/);
		change({ hash: 'b2', change: '--- a\n+++ b\n@@ -1 +1,2 @@\n Be kind.\n+Another.\n' });
		await fireEvent.click(screen.getByRole('button', { name: /Follow AGENTS.md/ }));
		await vi.waitFor(() => expect(screen.getByText('Another.')).toBeTruthy());
		expect([screen.getByRole('alert').textContent, composer.place?.instructions?.withheld]).toEqual([
			'Not what was shown.',
			true,
		]);
		await fireEvent.click(screen.getByRole('button', { name: /Follow AGENTS.md/ }));
		await vi.waitFor(() => expect(follow).toHaveBeenLastCalledWith(composer.folder, 'b2'));
	});

	it('are told of in Korean', async () => {
		i18n.set('ko');
		await setup();
		await opened(/AGENTS.md 따르지 않음/);
		expect(screen.getByText(file.problem_ko!)).toBeTruthy();
		expect(screen.getByRole('button', { name: 'AGENTS.md 지금 내용대로 따르기' })).toBeTruthy();
	});
});
