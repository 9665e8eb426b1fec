import type { Kernel, Submit, Submitted } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { draft, keepDraft, rememberFolder } from './drafts';

/** The largest message that can be sent, in bytes. */
export const MOST = 10_000_000;

export type Mode = 'ask' | 'guarded' | 'autonomous';

/** Composer holds what a person writes and where it would work. A draft outlives the page. */
export class Composer {
	/** sessionID is "" on the home, where sending begins a conversation. */
	readonly sessionID: string;
	text = $state('');
	sending = $state(false);
	failure = $state.raw<Failure>();
	#folder = $state<string>();
	#mode = $state<Mode>();
	#model = $state.raw<{ provider: string; model: string }>();

	#live: Live;
	#kernel: Kernel;

	constructor(live: Live, sessionID: string) {
		this.#live = live;
		this.#kernel = live.kernel;
		this.sessionID = sessionID;
		this.text = draft(sessionID);
	}

	get session() {
		return this.sessionID ? this.#live.sessions.get(this.sessionID) : undefined;
	}

	get folder(): string {
		return this.#folder ?? (this.session?.folder || this.#live.setting('folder'));
	}

	get mode(): Mode {
		return this.#mode ?? ((this.session?.mode || this.#live.setting('mode') || 'guarded') as Mode);
	}

	get provider(): string {
		return this.#model?.provider ?? (this.session?.provider || this.#live.setting('provider'));
	}

	get model(): string {
		return this.#model?.model ?? (this.session?.model || this.#live.setting('model'));
	}

	/** bytes is the size of the message, asked only of long ones. */
	get bytes(): number {
		return this.text.length * 3 < MOST ? this.text.length : new TextEncoder().encode(this.text).length;
	}

	get tooLarge(): boolean {
		return this.bytes > MOST;
	}

	get empty(): boolean {
		return this.text.trim() === '';
	}

	write(text: string): void {
		this.text = text;
		keepDraft(this.sessionID, text);
	}

	async useFolder(path: string): Promise<void> {
		this.#folder = path;
		rememberFolder(path);
		await this.#patch({ folder: path });
	}

	async useMode(mode: Mode): Promise<void> {
		this.#mode = mode;
		await this.#patch({ mode });
	}

	async useModel(provider: string, model: string): Promise<void> {
		this.#model = { provider, model };
		await this.#patch({ provider, model });
	}

	async #patch(p: { folder?: string; mode?: string; provider?: string; model?: string }): Promise<void> {
		if (!this.sessionID) return;
		try {
			await this.#live.sessions.update(this.sessionID, p);
		} catch (e) {
			// The chip shows what is in force, not what was wished.
			this.#folder = this.#mode = this.#model = undefined;
			this.failure = failureOf(e);
		}
	}

	/** send hands the message over. It stays in the field until the kernel has it. */
	async send(): Promise<Submitted | undefined> {
		if (this.empty || this.sending || this.tooLarge) return undefined;
		const text = this.text;
		this.sending = true;
		this.failure = undefined;
		try {
			const m: Submit = { text };
			if (this.sessionID) m.session_id = this.sessionID;
			else Object.assign(m, { folder: this.folder, mode: this.mode, provider: this.provider, model: this.model });
			const sent = await this.#kernel.agents.submit(m);
			if (this.text === text) this.write('');
			if (this.folder) rememberFolder(this.folder);
			return sent;
		} catch (e) {
			this.failure = failureOf(e);
			return undefined;
		} finally {
			this.sending = false;
		}
	}
}
