import { Conversation } from '../../features/chat/conversation.svelte';
import { follow, trimmed } from '../../features/chat/pasted';
import type { Span } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Event, type Failure } from '../../kernel/transport';

/** Prompt is one question after the other, in a conversation that begins with the first. */
export class Prompt {
	text = $state('');
	conversation = $state.raw<Conversation>();
	failure = $state.raw<Failure>();
	sending = $state(false);
	/** pending says that the text goes out as soon as there is a kernel. */
	pending = $state(false);
	/** gone says that the kernel has ended. */
	gone = $state(false);
	shown = $state(true);

	#live: Live;
	/** pasted are the parts of the text that the person did not type. */
	#pasted: Span[] = [];

	constructor(live: Live) {
		this.#live = live;
	}

	/** follow keeps the conversation in step with the kernel until the returned function is called. */
	follow(): () => void {
		const offs = [
			this.#live.onevent((e) => this.#receive(e)),
			this.#live.onreload(() => void this.conversation?.load()),
		];
		return () => offs.forEach((off) => off());
	}

	#receive(e: Event): void {
		if (e.kind === 'lost') {
			this.gone = true;
			this.pending = false;
			void this.#live.load(); // which says why
		} else this.conversation?.receive(e);
	}

	/** write takes an edit of the text; pasted says that what came in was not typed, and end is the caret behind it. */
	write(text: string, pasted = false, end = -1): void {
		this.#pasted = follow(this.#pasted, this.text, text, pasted, end);
		this.text = text;
	}

	/** send hands the question over, and reports whether the kernel has it. Until then it stays in the field. */
	async send(): Promise<boolean> {
		const { text, spans } = trimmed(this.text, this.#pasted);
		if (!text || this.sending) return false;
		if (!this.#live.ready && !this.gone) {
			this.pending = true;
			return false;
		}
		this.pending = false;
		this.sending = true;
		this.failure = undefined;
		try {
			const on = this.conversation ? { session_id: this.conversation.id } : {};
			const sent = await this.#live.kernel.agents.submit({
				...on,
				text,
				...(spans.length > 0 && { pasted: spans }),
				via: 'quick',
			});
			this.write('');
			if (!this.conversation) {
				this.conversation = new Conversation(this.#live.kernel, sent.session_id);
				void this.conversation.load();
			}
			return true;
		} catch (e) {
			this.failure = failureOf(e);
			return false;
		} finally {
			this.sending = false;
		}
	}

	/** stop ends the run that is open. */
	async stop(): Promise<void> {
		try {
			await this.conversation?.stop();
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	/** over says that nothing is left to wait for, nor to send. */
	get over(): boolean {
		const c = this.conversation;
		return c !== undefined && c.loaded && !c.active && c.queued.length === 0 && this.text.trim() === '';
	}

	/** renew makes room for another question. The conversation stays in the window. */
	renew(): void {
		this.conversation?.close();
		this.conversation = undefined;
		this.failure = undefined;
	}
}
