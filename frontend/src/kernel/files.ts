import type { AuditPart, BackupReport, KernelError, MemoryPart, RestoreReport } from './api.gen';
import { Failure, failureOf } from './transport';

/** Words are what a system's dialog says. */
export interface Words {
	title: string;
	/** name is proposed for the file. */
	name: string;
}

/** Picked is a backup that a person chose. */
export interface Picked {
	name: string;
	/** preview says what would be added, and changes nothing. */
	preview(): Promise<RestoreReport>;
	/** restore adds what is missing, and of what can act only what take names: ids of what the report asks about. */
	restore(take: string[]): Promise<RestoreReport>;
}

/**
 * Files carries whole files between the kernel and a place that the person chooses: with the system's dialogs
 * in the window, as downloads and uploads in a browser. undefined means that the person chose no place.
 */
export interface Files {
	backup(w: Words): Promise<BackupReport | undefined>;
	pick(title: string): Promise<Picked | undefined>;
	/** save writes a conversation and reports whether it did. */
	save(session: string, format: 'md' | 'json', w: Words): Promise<boolean>;
	/** skill writes a skill as a zip and reports whether it did. */
	skill(name: string, w: Words): Promise<boolean>;
	/** audit writes the audit record, whose parts the kernel gives one after the other, and reports whether it did. */
	audit(w: Words, part: (after: number) => Promise<AuditPart>): Promise<boolean>;
	/** memories writes what is remembered, in parts as well, and reports whether it did. */
	memories(w: Words, part: (after: string) => Promise<MemoryPart>): Promise<boolean>;
}

type Call = (method: string, args: unknown[]) => Promise<unknown>;

/** WindowFiles has the kernel read and write at the path that the system's dialog returned. */
export class WindowFiles implements Files {
	#call: Call;

	constructor(call: Call) {
		this.#call = call;
	}

	async backup(w: Words): Promise<BackupReport | undefined> {
		const path = await this.#place(w);
		return path ? ((await this.#call('infra.backup', [path])) as BackupReport) : undefined;
	}

	async pick(title: string): Promise<Picked | undefined> {
		const [path] = (await this.#call('window.pickFiles', [title])) as string[];
		if (!path) return undefined;
		return {
			name: path.split(/[\\/]/).pop() ?? path,
			preview: () => this.#call('infra.restore', [{ path, try: true }]) as Promise<RestoreReport>,
			restore: (take) => this.#call('infra.restore', [{ path, take }]) as Promise<RestoreReport>,
		};
	}

	async save(session: string, format: 'md' | 'json', w: Words): Promise<boolean> {
		const path = await this.#place(w);
		// The system's dialog has asked before it gave a name that is taken.
		if (path) await this.#call('state.saveSession', [session, format, path, true]);
		return path !== '';
	}

	async skill(name: string, w: Words): Promise<boolean> {
		const path = await this.#place(w);
		if (path) await this.#call('skills.export', [name, path, true]);
		return path !== '';
	}

	async audit(w: Words): Promise<boolean> {
		const path = await this.#place(w);
		if (path) await this.#call('security.saveAudit', [path, true]);
		return path !== '';
	}

	async memories(w: Words): Promise<boolean> {
		const path = await this.#place(w);
		if (path) await this.#call('memory.saveExport', [path, true]);
		return path !== '';
	}

	async #place(w: Words): Promise<string> {
		return ((await this.#call('window.saveFile', [w.title, w.name])) as string | undefined) ?? '';
	}
}

/** PageFiles sends and fetches files over HTTP: a WebSocket message would be too small for them. */
export class PageFiles implements Files {
	#secret: string;

	constructor(secret: string) {
		this.#secret = secret;
	}

	async backup(w: Words): Promise<BackupReport | undefined> {
		const answer = await this.#post('/files/backup');
		const report = JSON.parse(decodeURIComponent(answer.headers.get('Oxios-Report') ?? 'null')) as BackupReport;
		download(await answer.blob(), w.name);
		// The path is that of a copy that is gone by now.
		return { ...report, path: w.name };
	}

	async pick(): Promise<Picked | undefined> {
		const file = await choose('.gz,application/gzip');
		if (!file) return undefined;
		return {
			name: file.name,
			preview: () => this.#restore({ try: '1' }, file),
			restore: (take) =>
				this.#restore(
					take.map((id) => ['take', id]),
					file,
				),
		};
	}

	async #restore(query: Record<string, string> | string[][], file: Blob): Promise<RestoreReport> {
		return (await (await this.#post(`/files/restore?${new URLSearchParams(query)}`, file)).json()) as RestoreReport;
	}

	async save(session: string, format: 'md' | 'json', w: Words): Promise<boolean> {
		const q = new URLSearchParams({ session, format });
		download(await (await this.#post(`/files/export?${q}`)).blob(), w.name);
		return true;
	}

	async skill(name: string, w: Words): Promise<boolean> {
		download(await (await this.#post(`/files/skill?${new URLSearchParams({ name })}`)).blob(), w.name);
		return true;
	}

	async audit(w: Words, part: (after: number) => Promise<AuditPart>): Promise<boolean> {
		download(await whole(part, 0), w.name);
		return true;
	}

	async memories(w: Words, part: (after: string) => Promise<MemoryPart>): Promise<boolean> {
		download(await whole(part, ''), w.name);
		return true;
	}

	async #post(path: string, body?: Blob): Promise<Response> {
		let answer: Response;
		try {
			answer = await fetch(path, {
				method: 'POST',
				headers: { Authorization: `Bearer ${this.#secret}` },
				body,
				credentials: 'same-origin',
			});
		} catch {
			throw new Failure({
				code: 'network',
				message: 'The connection to Oxios was lost.',
				hint: 'Nothing was changed. Try again when it is back.',
			} as KernelError);
		}
		if (!answer.ok) throw failureOf(await answer.text());
		return answer;
	}
}

/** whole puts the parts together that the kernel gives one after the other. */
async function whole<T>(part: (after: T) => Promise<{ text: string; next: T; done: boolean }>, from: T): Promise<Blob> {
	const text: string[] = [];
	for (let after = from; ;) {
		const p = await part(after);
		text.push(p.text);
		if (p.done) break;
		after = p.next;
	}
	return new Blob(text, { type: 'application/jsonl' });
}

/** download has the browser save a file. */
export function download(file: Blob, name: string): void {
	const a = document.createElement('a');
	a.href = URL.createObjectURL(file);
	a.download = name;
	a.click();
	// The browser reads it after the click; a minute is long enough to have begun.
	setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}

/** choose shows the browser's dialog for one file. */
function choose(accept: string): Promise<File | undefined> {
	return new Promise((resolve) => {
		const input = document.createElement('input');
		input.type = 'file';
		input.accept = accept;
		input.onchange = () => resolve(input.files?.[0]);
		input.oncancel = () => resolve(undefined);
		input.click();
	});
}
