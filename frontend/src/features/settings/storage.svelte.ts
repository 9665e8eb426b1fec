import type { BackupReport, RestoreReport, Storage, StoragePart } from '../../kernel/api.gen';
import type { Picked } from '../../kernel/files';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';

/** Busy is what is under way: one thing at a time. */
export type Busy = '' | 'backup' | 'check' | 'restore' | 'clean';

/** StoragePage knows how large the home is, and carries backups out and in. */
export class StoragePage {
	storage = $state.raw<Storage>();
	failure = $state.raw<Failure>();
	busy = $state<Busy>('');
	/** cleaning is the part that is being emptied. */
	cleaning = $state('');
	freed = $state<number>();

	backup = $state.raw<BackupReport>();
	/** preview says what a backup would add; it waits for the person's yes. */
	preview = $state.raw<RestoreReport>();
	restored = $state.raw<RestoreReport>();

	#live: Live;
	#picked: Picked | undefined;

	constructor(live: Live) {
		this.#live = live;
	}

	async measure(): Promise<void> {
		try {
			this.storage = await this.#live.kernel.infra.storage();
			this.failure = undefined;
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	async makeBackup(title: string): Promise<void> {
		await this.#do('backup', async () => {
			const stamp = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000)
				.toISOString()
				.slice(0, 19)
				.replace(/[-:]/g, '')
				.replace('T', '-');
			this.backup = await this.#live.files.backup({ title, name: `oxios-backup-${stamp}.tar.gz` });
		});
	}

	/** choose has the person pick a backup, checks all of it, and shows what it would add. */
	async choose(title: string): Promise<void> {
		await this.#do('check', async () => {
			this.#picked = await this.#live.files.pick(title);
			this.preview = await this.#picked?.preview();
		});
	}

	/** restore adds what is missing, and of what can act what the person chose. */
	async restore(take: string[]): Promise<void> {
		this.preview = undefined;
		await this.#do('restore', async () => {
			this.restored = await this.#picked?.restore(take);
		});
		await this.measure();
	}

	async clean(part: StoragePart): Promise<void> {
		this.cleaning = part.id;
		await this.#do('clean', async () => {
			const done = await this.#live.kernel.infra.clean(part.id);
			this.storage = done.storage;
			this.freed = done.freed;
		});
		this.cleaning = '';
	}

	async #do(what: Busy, work: () => Promise<void>): Promise<void> {
		if (this.busy) return;
		this.busy = what;
		this.backup = this.restored = this.failure = this.freed = undefined;
		try {
			await work();
		} catch (e) {
			this.failure = failureOf(e);
		} finally {
			this.busy = '';
		}
	}
}

/** adds reports whether a backup has something that is missing here. */
export function adds(r: RestoreReport): boolean {
	return r.sessions.added + r.files.added + r.settings.added + r.memories.added + r.costs.added > 0;
}
