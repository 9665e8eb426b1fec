import type { VaultDay, VaultState } from '../api.gen';
import { no, type Core } from './core';

const OWN = '~/.oxios/knowledge';
/** The folders that can be used, each with its notes. */
const folders: Record<string, Record<string, string>> = {
	'/home/minji/Documents': { 'Home.md': '# Home\n\nSparrows nest under the roof.\n', 'Work/Plan.md': '# Plan\n' },
};

/** FakePlace knows in which folder the notes lie, and how the journal is written. */
export class FakePlace {
	#core: Core;
	#left: Record<string, Record<string, string>> = { ...folders };

	constructor(core: Core) {
		this.#core = core;
		const kept = core.world.config.values;
		kept.vault_folder = '';
		kept.journal_folder = 'journal';
		kept.journal_format = 'YYYY-MM-DD';
		kept.journal_template = '# {{title}}\\n\\n';
	}

	get #folder(): string {
		return this.#core.world.config.values.vault_folder ?? '';
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'infra.setConfig': (key: string, value: string) => {
			const { config } = this.#core.world;
			if (key === 'vault_folder') this.#use(value);
			config.values[key] = value;
			this.#core.emit('config', config);
			if (key === 'vault_folder') this.#core.emit('vault.switched', undefined);
			return config;
		},
		'knowledge.state': (): VaultState => ({
			dir: this.#folder || OWN,
			notes: Object.keys(this.#core.world.notes).length,
			history: this.#folder === '',
		}),
		'knowledge.journalPreview': (folder: string, format: string, template: string): VaultDay => {
			const now = new Date();
			const two = (n: number) => String(n).padStart(2, '0');
			const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
			const [y, m, d] = date.split('-') as [string, string, string];
			const name = format.replace('YYYY', y).replace('MM', m).replace('DD', d);
			if (!name.trim() || name.includes('..'))
				throw no('invalid', `"${format}" is no format for the names of journal notes.`, 'Use YYYY, MM and DD.');
			const path = `${folder === '.' ? '' : `${folder || 'journal'}/`}${name}.md`;
			const text = (template || '# {{title}}\n\n')
				.replaceAll('{{title}}', name.split('/').at(-1)!)
				.replaceAll('\\n', '\n');
			return {
				path,
				text: text
					.replaceAll('{{date}}', date)
					.replaceAll('{{time}}', `${two(now.getHours())}:${two(now.getMinutes())}`),
				there: path in this.#core.world.notes,
			};
		},
	};

	#use(dir: string): void {
		if (dir === this.#folder) return;
		const next = this.#left[dir];
		if (!next) throw no('not_found', `There is no folder ${dir}.`, 'Make it first, or choose another one.');
		this.#left[this.#folder] = this.#core.world.notes;
		this.#core.world.notes = next;
	}
}
