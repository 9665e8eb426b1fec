import type { MemoryImport, MemoryImported, MemoryImportPlan, MemoryPart } from '../api.gen';
import { no, type Core } from './core';
import { id, iso } from './data';

/** memoryFileCalls bring memories in from a file, and out to one. */
export function memoryFileCalls(core: Core) {
	const w = core.world;
	const known = (m: MemoryImport) => w.memories.find((x) => x.id === m.id);
	const space = (name = '') => w.spaces.find((s) => s.name === name)?.id ?? '';
	const plan = (all: MemoryImport[]): MemoryImportPlan => {
		const right = all.filter((m) => m.text?.trim());
		const there = right.filter((m) => known(m));
		const same = there.filter((m) => known(m)!.text === m.text).length;
		return {
			added: right.length - there.length,
			changed: there.length - same,
			same,
			spaces: [...new Set(right.map((m) => m.space ?? '').filter((s) => s && !space(s)))],
			wrong: all.flatMap((m, i) =>
				m.text?.trim()
					? []
					: [
							{
								at: i + 1,
								text: {
									en: 'There is nothing to remember: the text is empty.',
									ko: '기억할 것이 없습니다. 글이 비어 있습니다.',
								},
							},
						],
			),
		};
	};
	return {
		'memory.importPreview': plan,
		'memory.import': (all: MemoryImport[]): MemoryImported => {
			const p = plan(all);
			if (p.wrong.length > 0) throw no('invalid', 'There is nothing to remember: the text is empty.');
			for (const m of all) {
				const old = known(m);
				if (old) old.text = m.text!;
				else
					w.memories.push({
						...w.memories[0]!,
						id: m.id || id('memory'),
						text: m.text!,
						kind: m.type || 'fact',
						space: space(m.space),
						source: 'import',
						said_at: m.time || iso(),
						uses: 0,
						pinned: false,
						thread: undefined,
						replaced_by: undefined,
						labels: [],
					});
			}
			core.emit('memory', undefined);
			return { added: p.added, changed: p.changed + p.same, spaces: p.spaces };
		},
		'memory.export': (): MemoryPart => ({
			text: w.memories.map((m) => `${JSON.stringify({ id: m.id, text: m.text, type: m.kind })}\n`).join(''),
			next: '',
			done: true,
		}),
	};
}
