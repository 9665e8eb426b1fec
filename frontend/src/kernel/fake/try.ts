import type { Approval, Try, Tried, UndoFile } from '../api.gen';
import { Failure } from '../transport';

const file = (f: Partial<UndoFile> & { path: string; does: string }): UndoFile => ({
	status: 'ready',
	size: 120,
	added: 0,
	removed: 0,
	binary: false,
	by: [],
	...f,
});

const no = (message: string, hint = '') => new Failure({ code: 'conflict', message, hint });

/** FakeTries tries commands of the fake kernel: each edits one file, makes one and deletes one. */
export class FakeTries {
	#all: Record<string, Try> = {};

	try(a: Approval, hash: string): Try {
		if (hash !== a.request.hash) throw no('The request changed since it was shown. Nothing was decided.');
		const made: Try = {
			approval_id: a.id,
			hash: `try ${a.request.hash}`,
			at: a.created_at,
			bytes: 2048,
			conflicts: 0,
			impossible: 0,
			result: {
				exit_code: 0,
				output: '14 files\n',
				truncated: false,
				dropped: 0,
				duration_ms: 210,
				timed_out: false,
				wants_password: false,
				isolation: 3,
				asked: [{ host: 'example.org:443', allowed: false, times: 1 }],
			},
			files: [
				file({
					path: 'receipts.md',
					does: 'changes',
					added: 1,
					removed: 1,
					diff: '@@ -1,2 +1,2 @@\n # Receipts\n-none\n+14\n',
				}),
				file({ path: 'old.deb', does: 'deletes', binary: true }),
				file({ path: 'done.txt', does: 'creates', added: 1, diff: '@@ -0,0 +1 @@\n+done\n' }),
			],
		};
		this.#all[a.id] = made;
		return made;
	}

	tried(id: string): Tried {
		return { running: false, try: this.#all[id] };
	}

	apply(id: string, hash: string): void {
		if (this.#all[id]?.hash !== hash) throw no('This is not what was last tried. Nothing was changed.');
		delete this.#all[id];
	}

	drop(id: string): void {
		delete this.#all[id];
	}
}
