import type { Folder, Kernel, Session, Submit, Submitted } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { Attachments } from './attach.svelte';
import { draft, keepDraft } from './drafts';

/** The largest message that can be sent, in bytes: what the kernel takes. */
export const MOST = 1 << 20;

/** sizeOf is the size of a text in bytes, counted exactly only where it matters. */
export function sizeOf(text: string): number {
	return text.length * 3 < MOST ? text.length : new TextEncoder().encode(text).length;
}

export type Mode = 'ask' | 'guarded' | 'autonomous';

/** Composer holds what a person writes and where it would work. A draft outlives the page. */
export class Composer {
	/** sessionID is "" on the home, where sending begins a conversation. */
	readonly sessionID: string;
	text = $state('');
	sending = $state(false);
	failure = $state.raw<Failure>();
	readonly attachments: Attachments;
	/** refused is the size of a paste that was not taken, in bytes; 0 without one. */
	refused = $state(0);
	/** place is the folder as the kernel sees it; null when it could not be looked at. */
	place = $state.raw<Folder | null>();
	/** wanted says that a message waits for what the person says of its folder. */
	wanted = $state(false);
	#looks = 0;
	#folder = $state<string>();
	#mode = $state<Mode>();
	#role = $state<string>();
	#model = $state.raw<{ provider: string; model: string }>();

	#live: Live;
	#kernel: Kernel;
	#session: () => Session | undefined;

	/** session is the conversation where it is not in the list, as one that is archived. */
	constructor(live: Live, sessionID: string, session: () => Session | undefined = () => undefined) {
		this.#live = live;
		this.#kernel = live.kernel;
		this.#session = session;
		this.sessionID = sessionID;
		this.text = draft(sessionID);
		this.attachments = new Attachments(live.kernel, live.kept, sessionID);
	}

	get session() {
		return this.sessionID ? (this.#live.sessions.get(this.sessionID) ?? this.#session()) : undefined;
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

	/** bytes is the size of the message. */
	readonly bytes = $derived(sizeOf(this.text));

	get tooLarge(): boolean {
		return this.bytes > MOST;
	}

	/** takes reports whether a paste goes into the field. What is too large to send would only freeze the page there. */
	takes(pasted: string): boolean {
		const size = sizeOf(pasted);
		this.refused = this.bytes + size > MOST ? size : 0;
		return this.refused === 0;
	}

	get empty(): boolean {
		return this.text.trim() === '' && this.attachments.empty;
	}

	get #chosen() {
		return this.#live.models.get(this.provider, this.model);
	}

	/** blind are the pictures that the chosen model is known not to see. */
	get blind() {
		return this.#chosen?.images === false ? this.attachments.pictures : [];
	}

	/** seeing are three models that are known to see, those that the person likes first. */
	get seeing() {
		const off = new Set(this.#live.models.providers.filter((p) => !p.enabled).map((p) => p.id));
		const list = this.#live.models.list.filter((m) => m.images && !off.has(m.provider));
		return list.sort((a, b) => Number(b.favourite) - Number(a.favourite)).slice(0, 3);
	}

	/** room is how many tokens the chosen model holds at once, 0 while that is not known. */
	get room(): number {
		return this.#chosen?.window || this.#chosen?.context_length || 0;
	}

	get overflows(): boolean {
		return this.room > 0 && this.attachments.tokens > this.room;
	}

	/** sendable says that there is something to send, and that all of it can be sent. */
	get sendable(): boolean {
		const a = this.attachments;
		return !this.empty && !this.tooLarge && !a.busy && a.failed.length === 0 && this.blind.length === 0;
	}

	write(text: string): void {
		this.refused = 0;
		this.text = text;
		keepDraft(this.sessionID, text);
	}

	/** look learns how it stands with the folder: whether it is trusted, and what it tells agents. */
	async look(): Promise<void> {
		const turn = ++this.#looks;
		const place = await this.#kernel.exec.folder(this.folder).catch(() => null);
		if (turn === this.#looks) this.place = place;
	}

	/** asks says that the person was not asked yet whether they trust the folder. */
	get asks(): boolean {
		return !!this.place?.exists && !this.place.refused && this.place.trust === '';
	}

	async trust(what: 'trusted' | 'declined'): Promise<void> {
		this.wanted = false;
		this.#looks++;
		try {
			this.place = await this.#kernel.security.trustFolder(this.folder, what);
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	async useFolder(path: string): Promise<void> {
		this.#folder = path;
		this.#live.kept.usedFolder(path);
		await this.#patch({ folder: path });
	}

	/** role is what the agent may do at most, by the name of a role. */
	get role(): string {
		return this.#role ?? (this.session?.role || this.#live.setting('role') || 'operator');
	}

	async useRole(role: string): Promise<void> {
		this.#role = role;
		await this.#patch({ role });
	}

	async useMode(mode: Mode): Promise<void> {
		this.#mode = mode;
		await this.#patch({ mode });
	}

	async useModel(provider: string, model: string): Promise<void> {
		this.#model = { provider, model };
		await this.#patch({ provider, model });
	}

	async #patch(p: { folder?: string; mode?: string; role?: string; provider?: string; model?: string }): Promise<void> {
		if (!this.sessionID) return;
		try {
			await this.#live.sessions.update(this.sessionID, p);
		} catch (e) {
			this.failure = failureOf(e);
		}
		// The chip shows what is in force, which may be changed elsewhere too, not what was wished.
		this.#folder = this.#mode = this.#role = this.#model = undefined;
	}

	/** send hands the message over. It stays in the field until the kernel has it. */
	async send(): Promise<Submitted | undefined> {
		if (!this.sendable || this.sending) return undefined;
		this.wanted = this.asks;
		if (this.wanted) return undefined;
		const text = this.text;
		const attached = this.attachments.ready.map((a) => a.id);
		this.sending = true;
		this.failure = undefined;
		try {
			const m: Submit = { text };
			if (attached.length > 0) m.attachments = attached;
			if (this.sessionID) m.session_id = this.sessionID;
			else Object.assign(m, { folder: this.folder, mode: this.mode, provider: this.provider, model: this.model });
			if (!this.sessionID && this.#role) m.role = this.#role;
			const sent = await this.#kernel.agents.submit(m);
			if (this.text === text) this.write('');
			this.attachments.sent(attached);
			if (this.folder) this.#live.kept.usedFolder(this.folder);
			return sent;
		} catch (e) {
			this.failure = failureOf(e);
			return undefined;
		} finally {
			this.sending = false;
		}
	}
}
