import type { Folder, Instructions, Kernel, Session, Span, Submit, Submitted } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { shortPath } from '../../ui/format';
import { Attachments } from './attach.svelte';
import { draft, draftPasted, keepDraft } from './drafts';
import { follow } from './pasted';
import { Placing } from './placing.svelte';

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
	/** placing finds the space that a new conversation would begin in. */
	readonly placing: Placing;
	/** refused is the size of a paste that was not taken, in bytes; 0 without one. */
	refused = $state(0);
	/** place is the folder as the kernel sees it; null when it could not be looked at. */
	place = $state.raw<Folder | null>();
	/** wanted says that a message waits for what the person says of its folder. */
	wanted = $state(false);
	/** pasted are the parts of the text that the person did not type. */
	#pasted: Span[] = [];
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
		this.#pasted = draftPasted(sessionID);
		this.attachments = new Attachments(live.kernel, live.kept, sessionID);
		this.placing = new Placing(live);
	}

	get session() {
		return this.sessionID ? (this.#live.sessions.get(this.sessionID) ?? this.#session()) : undefined;
	}

	get folder(): string {
		return this.#folder ?? (this.session?.folder || this.placing.folder || this.#live.setting('folder'));
	}

	/** own says that this folder is that of a space, in the home of Oxios: its path says nothing to a person. */
	get own(): boolean {
		const home = this.#live.status?.home;
		return (
			!!home && /\/workspace$/.test(this.folder) && shortPath(this.folder).startsWith(`${shortPath(home)}/spaces/`)
		);
	}

	get mode(): Mode {
		return this.#mode ?? ((this.session?.mode || this.placing.mode || this.#live.setting('mode') || 'guarded') as Mode);
	}

	/** named is the model that the person chose; its parts are "" where they chose none. */
	get named(): { provider: string; model: string } {
		return {
			provider:
				this.#model?.provider ??
				(this.session?.provider || this.placing.with?.provider || this.#live.setting('provider')),
			model: this.#model?.model ?? (this.session?.model || this.placing.with?.model || this.#live.setting('model')),
		};
	}

	/** answering is the model that answers: the one that was chosen, or else the one that the environment names. */
	get answering(): { provider: string; model: string } {
		const { named } = this;
		if (named.provider || named.model) return named;
		const { provider = '', model = '' } = this.#live.status ?? {};
		return { provider, model };
	}

	get provider(): string {
		return this.answering.provider;
	}

	get model(): string {
		return this.answering.model;
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

	/** write takes an edit of the text; pasted says that what came in was not typed, and end is the caret behind it. */
	write(text: string, pasted = false, end = -1): void {
		this.refused = 0;
		this.#pasted = follow(this.#pasted, this.text, text, pasted, end);
		this.text = text;
		keepDraft(this.sessionID, text, this.#pasted);
	}

	/** look learns how it stands with the folder: whether it is trusted, and what it tells agents. */
	async look(): Promise<void> {
		const turn = ++this.#looks;
		const place = await this.#kernel.exec.folder(this.folder).catch(() => null);
		if (turn === this.#looks) this.place = place;
	}

	/** asks says that the person was not asked yet whether they trust the folder. Of one that Oxios made, only what stands in it is a question. */
	get asks(): boolean {
		const at = this.place;
		if (!at?.exists || at.refused || at.trust !== '') return false;
		return !this.own || !!at.instructions;
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

	/** followInstructions says that the person has seen the instructions of the folder as they are now, and wants them followed. */
	async followInstructions(seen: Instructions): Promise<void> {
		await this.#kernel.security.followInstructions(this.folder, seen.hash);
		await this.look();
	}

	/** follow finds out again where the conversation would begin, once what is written rests. One that exists stays where it is. */
	follow(): void {
		if (!this.sessionID) this.placing.follow(this.text, this.#folder ?? '');
	}

	/** space is the id of the one that the conversation is in, or would begin in; "" is the default one. */
	get space(): string {
		return this.session?.space ?? this.placing.space;
	}

	/** useSpace moves the conversation, or says where a new one begins; null has that found out. */
	async useSpace(id: string | null): Promise<boolean> {
		if (!this.sessionID || id === null) {
			this.placing.chosen = id;
			return true;
		}
		try {
			await this.#live.spaces.move([this.sessionID], id);
			return true;
		} catch (e) {
			this.#live.tell(failureOf(e));
			return false;
		}
	}

	async useFolder(path: string): Promise<void> {
		this.#folder = path;
		this.#live.kept.usedFolder(path);
		await this.#patch({ folder: path });
	}

	/** role is what the agent may do at most, by the name of a role. */
	get role(): string {
		return this.#role ?? (this.session?.role || this.placing.with?.role || this.#live.setting('role') || 'operator');
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

	/** begin says how a new conversation begins. What the person did not choose is left out where a space may have its own. */
	#begin(): Partial<Submit> {
		if (!this.#live.spaces.any) return { folder: this.folder, mode: this.mode, ...this.named };
		const m: Partial<Submit> = {};
		const { wanted } = this.placing;
		if (wanted !== null) m.space = wanted;
		if (this.#folder) m.folder = this.#folder;
		if (this.#mode) m.mode = this.#mode;
		return Object.assign(m, this.#model);
	}

	/**
	 * ask begins a conversation about a note of the vault. What is written here stays. Where the person has to answer for the
	 * folder first, the question is written here too, and waits for that.
	 */
	async ask(note: string, question: string): Promise<Submitted | undefined> {
		this.failure = undefined;
		try {
			const got = await this.#kernel.state.attach({ note });
			await this.look();
			if (!this.asks) {
				const m = { text: question, attachments: [got.id], ...this.#begin() };
				return await this.#kernel.agents.submit(this.#role ? { ...m, role: this.#role } : m);
			}
			this.attachments.add(got);
			this.write([this.text.trim(), question].filter(Boolean).join('\n\n'));
			this.wanted = true;
		} catch (e) {
			this.failure = failureOf(e);
		}
		return undefined;
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
			if (this.#pasted.length > 0) m.pasted = this.#pasted;
			if (attached.length > 0) m.attachments = attached;
			if (this.sessionID) m.session_id = this.sessionID;
			else Object.assign(m, this.#begin());
			if (!this.sessionID && this.#role) m.role = this.#role;
			const sent = await this.#kernel.agents.submit(m);
			if (this.text === text) this.write('');
			this.attachments.sent(attached);
			if (this.folder && !this.own) this.#live.kept.usedFolder(this.folder);
			return sent;
		} catch (e) {
			this.failure = failureOf(e);
			return undefined;
		} finally {
			this.sending = false;
		}
	}
}
