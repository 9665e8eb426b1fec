import type { AuditPart, MemoryPart, BackupReport, FreeCut, RestoreReport, Storage } from '../api.gen';
import { download, type Files } from '../files';
import { Failure } from '../transport';
import { iso } from './data';

const MB = 1_000_000;

/** makeStorage is a home that has been lived in for a while. */
export function makeStorage(): Storage {
	const parts = [
		{ id: 'conversations', bytes: 22.7 * MB, files: 0 },
		{ id: 'journal', bytes: 18.5 * MB, files: 0, keeps: 'journal_days', days: 0 },
		{ id: 'changes', bytes: 12.6 * MB, files: 0 },
		{ id: 'audit', bytes: 3.1 * MB, files: 1 },
		{ id: 'spare', bytes: 4.4 * MB, files: 0 },
		{ id: 'attachments', bytes: 6.3 * MB, files: 14 },
		{ id: 'extensions', bytes: 0.2 * MB, files: 9 },
		{ id: 'workspace', bytes: 0.4 * MB, files: 38 },
		{ id: 'undo', bytes: 8.2 * MB, files: 460 },
		{ id: 'files', bytes: 0, files: 0 },
		{ id: 'settings', bytes: 2_300, files: 4 },
		{ id: 'keys', bytes: 900, files: 2 },
		{ id: 'copies', bytes: 38.9 * MB, files: 1 },
		{ id: 'logs', bytes: 1.2 * MB, files: 3 },
		{ id: 'cache', bytes: 210.5 * MB, files: 4_120 },
	].map((p) => ({ ...p, clean: ['copies', 'logs', 'cache'].includes(p.id) ? p.bytes : 0 }));
	return { home: '~/.oxios', bytes: parts.reduce((sum, p) => sum + p.bytes, 0), free: 74_200 * MB, parts };
}

/** emptyPart is what cleaning does. */
export function emptyPart(s: Storage, id: string): Storage {
	const parts = s.parts.map((p) => (p.id === id ? { ...p, bytes: 0, files: 0, clean: 0 } : p));
	return { ...s, bytes: parts.reduce((sum, p) => sum + p.bytes, 0), parts };
}

/** freeable is what freeing a part takes with it: all that is in it, once. */
export function freeable(s: Storage, part: string): FreeCut {
	const bytes = s.parts.find((p) => p.id === part)?.bytes ?? 0;
	const runs = bytes > 0 ? 37 : 0;
	const of = { runs, files: part === 'undo' ? runs * 4 : 0, steps: part === 'journal' ? runs * 9 : 0, bytes };
	return { part, before: iso(), ...of, since: iso(40 * 86_400_000), until: iso(3_600_000) };
}

const report: BackupReport = {
	path: '',
	bytes: 9.8 * MB,
	made_at: iso(26 * 3_600_000),
	version: '0.1.0',
	sessions: 84,
	messages: 2_140,
	files: 3,
	audit: { entries: 9_120, ok: true, head: '3f9c', last: 9_120 },
	keys: [{ name: 'work', host: 'llm.example.org' }],
	emptied: [],
	skipped: [],
	took_ms: 640,
};

/** FakeFiles has one backup, of yesterday, and saves what it is given. */
export class FakeFiles implements Files {
	/** text is what an exported conversation holds. */
	text: (session: string, format: string) => string = () => '';
	/** damaged has the next backup that is chosen be refused. */
	damaged = false;
	#restored = false;

	backup(w: { name: string }): Promise<BackupReport> {
		download(new Blob(['a backup']), w.name);
		return Promise.resolve({ ...report, path: w.name, made_at: iso() });
	}

	pick() {
		const name = 'oxios-backup-20261120-101500.tar.gz';
		return Promise.resolve({
			name,
			preview: () => this.#restore(name),
			restore: (take: string[]) => this.#restore(name, take),
		});
	}

	save(session: string, format: 'md' | 'json', w: { name: string }): Promise<boolean> {
		download(new Blob([this.text(session, format)]), w.name);
		return Promise.resolve(true);
	}

	skill(_name: string, w: { name: string }): Promise<boolean> {
		download(new Blob(['a skill']), w.name);
		return Promise.resolve(true);
	}

	async audit(w: { name: string }, part: (after: number) => Promise<AuditPart>): Promise<boolean> {
		download(new Blob([(await part(0)).text]), w.name);
		return true;
	}

	async memories(w: { name: string }, part: (after: string) => Promise<MemoryPart>): Promise<boolean> {
		download(new Blob([(await part('')).text]), w.name);
		return true;
	}

	#restore(name: string, take?: string[]): Promise<RestoreReport> {
		if (this.damaged) {
			return Promise.reject(
				new Failure({
					code: 'invalid',
					message: `The backup ${name} is damaged: oxios.db is not what was saved. Nothing was changed.`,
					hint: 'Copy it again from where it was made, or use another backup.',
				}),
			);
		}
		const part = (added: number, present: number, kept = 0) =>
			this.#restored ? { added: 0, present: present + added, kept } : { added, present, kept };
		const r: RestoreReport = {
			backup: { ...report, path: name },
			tried: !take,
			sessions: part(12, 71, 1),
			messages: 240,
			runs: 96,
			files: part(1, 2),
			settings: part(2, 9),
			memories: part(6, 4),
			costs: part(4, 310),
			differ: ['Fix the flaky parser test'],
			asked: [
				{
					id: 'setting:mode',
					kind: 'setting',
					name: 'mode',
					value: 'autonomous',
					taken: !!take?.includes('setting:mode'),
				},
			],
			archive: 'audit/0199c0de-9120-3f9c.jsonl',
			keys: report.keys,
			took_ms: 820,
		};
		if (take) this.#restored = true;
		return Promise.resolve(r);
	}
}
