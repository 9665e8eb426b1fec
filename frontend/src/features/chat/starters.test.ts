import { describe, expect, it } from 'vitest';
import type { Folder } from '../../kernel/api.gen';
import { en } from '../../ui/i18n/en';
import { ko } from '../../ui/i18n/ko';
import { startersFor } from './starters';

const folder = (f: Partial<Folder>): Folder => ({
	path: '/home/minji/Oxios',
	display: '~/Oxios',
	exists: true,
	refused: false,
	reason: '',
	entries: [],
	files: 0,
	git: false,
	parent: '/home/minji',
	trust: 'trusted',
	...f,
});
const model = { chat_only: false, demo: false };

describe('the starters', () => {
	const cases = {
		repository: startersFor(model, folder({ git: true, files: 200 })),
		full: startersFor(model, folder({ files: 214 })),
		some: startersFor(model, folder({ files: 3 })),
		empty: startersFor(model, folder({})),
		missing: startersFor(model, folder({ exists: false })),
		unknown: startersFor(undefined, undefined),
		'chat only': startersFor({ chat_only: true, demo: false }, folder({ git: true })),
		demo: startersFor({ chat_only: false, demo: true }, folder({ git: true })),
	};

	it.each(Object.entries(cases))('are four different ones: %s', (_, names) => {
		expect(new Set(names).size).toBe(4);
	});

	it('fit the folder', () => {
		expect(cases.repository[0]).toBe('changed');
		expect(cases.full[0]).toBe('sort');
		expect(cases.some).toContain('look');
		for (const names of [cases.empty, cases.missing]) {
			expect(names).not.toContain('look');
			expect(names).not.toContain('sort');
		}
	});

	it('ask a model without tools for nothing that needs one', () => {
		for (const name of cases['chat only']) expect(en.starters[name].prompt).not.toMatch(/folder|file|tools/);
	});

	it.each([en, ko])('play what the demo knows, in both languages', (t) => {
		// The words that the scenarios of kernel/demo/bundled.toml look for.
		const known = {
			folder: /show me the folder|폴더를 보여/i,
			hello: /\bwrite\b.*\bhello\b|파일.*만들/i,
			date: /\bdate\b/i,
			push: /\bpush\b|푸시/i,
		};
		for (const [name, words] of Object.entries(known)) expect(t.starters[name as 'date'].prompt).toMatch(words);
	});
});
