import type { Attachment, AttachInput, Kernel, MCPResource } from '../../kernel/api.gen';
import { inParts } from '../../kernel/handed';
import type { Kept } from '../../kernel/kept.svelte';
import { failureOf, type Failure } from '../../kernel/transport';

/** From how many characters on pasted text becomes an attachment. */
export const LONG = 2000;

/** The largest attached text that can become part of the message, in bytes: in a field with more, a browser takes long for each key. */
export const MOST_TYPED = 1 << 16;

/** The largest text that can be attached, in bytes: what the kernel takes. */
export const MOST_TEXT = 1 << 20;

/** Chip is one thing beside the message that is written, from the moment on that it was chosen. */
export interface Chip {
	key: number;
	name: string;
	/** size in bytes; 0 while it is not known. */
	size: number;
	/** sent is how much of it the kernel has; it reads the file once it has all. */
	sent: number;
	/** got is what the kernel made of it. */
	got?: Attachment;
	/** why it was not attached: what the kernel said, or a word for what the page knows itself. */
	why?: Failure | 'gone' | 'unreadable';
}

type Draft = Pick<Attachment, 'id' | 'name'>;

/** Attachments are what goes out with the message that is written. They outlive the page, as the draft does. */
export class Attachments {
	chips = $state.raw<Chip[]>([]);
	/** ready are those that can be sent. */
	ready = $derived(this.chips.flatMap((c) => (c.got ? [c.got] : [])));
	/** busy says that some are on their way. */
	busy = $derived(this.chips.some((c) => !c.got && !c.why));
	failed = $derived(this.chips.filter((c) => c.why));
	pictures = $derived(this.ready.filter((a) => a.kind === 'image'));
	tokens = $derived(this.ready.reduce((n, a) => n + a.tokens, 0));

	#kernel: Kernel;
	#kept: Kept;
	#session: string;
	#key = 0;

	constructor(kernel: Kernel, kept: Kept, sessionID: string) {
		this.#kernel = kernel;
		this.#kept = kept;
		this.#session = sessionID;
		void this.#restore();
	}

	get empty(): boolean {
		return this.chips.length === 0;
	}

	addFiles(files: Iterable<File>): void {
		for (const f of files) void this.#send(f);
	}

	/** addPaths takes files and folders of this machine. */
	addPaths(paths: string[]): void {
		for (const path of paths) void this.#attach({ path }, path.split(/[\\/]/).pop() || path);
	}

	/** addNote takes a note of the vault, by its path. */
	async addNote(note: string): Promise<void> {
		await this.#attach({ note }, note.split('/').pop()!.replace(/\.md$/i, ''));
	}

	/** addResource takes something that a server has to read. The kernel reads it when the message is sent. */
	addResource({ server, uri, title, name }: MCPResource): void {
		void this.#attach({ resource: { server, uri }, name: title || name }, title || name);
	}

	/** add takes what the kernel has already. */
	add(got: Attachment): void {
		this.#arrive(this.#add(got.name, got.size).key, got);
	}

	/** addText takes what was pasted. */
	addText(text: string): void {
		const size = new TextEncoder().encode(text).length;
		void this.#attach({ text }, text.trim().split('\n', 1)[0]!.slice(0, 60), size);
	}

	/** textOf is the text of a pasted one. */
	async textOf(c: Chip): Promise<string> {
		return (await this.#kernel.state.attachmentContent(c.got!.id)).text;
	}

	remove(key: number): void {
		const chip = this.chips.find((c) => c.key === key);
		this.chips = this.chips.filter((c) => c.key !== key);
		this.#keep();
		// One that is on its way is dropped by its sender.
		if (chip?.got) void this.#drop(chip.got.id);
	}

	/** sent forgets those that a message took along. */
	sent(ids: string[]): void {
		this.chips = this.chips.filter((c) => !c.got || !ids.includes(c.got.id));
		this.#keep();
	}

	#add(name: string, size: number): Chip {
		const chip: Chip = { key: ++this.#key, name, size, sent: 0 };
		this.chips = [...this.chips, chip];
		return chip;
	}

	/** change returns false when the person has removed the chip meanwhile. */
	#change(key: number, change: Partial<Chip>): boolean {
		if (!this.chips.some((c) => c.key === key)) return false;
		this.chips = this.chips.map((c) => (c.key === key ? { ...c, ...change } : c));
		if (change.got) this.#keep();
		return true;
	}

	async #attach(input: AttachInput, name: string, size = 0): Promise<void> {
		const { key } = this.#add(name, size);
		try {
			const got = await this.#kernel.state.attach(input);
			this.#arrive(key, got);
		} catch (e) {
			this.#change(key, { why: failureOf(e) });
		}
	}

	#arrive(key: number, got: Attachment): void {
		if (!this.#change(key, { got, name: got.name, size: got.size })) void this.#drop(got.id);
	}

	/** send hands a file over in parts. */
	async #send(f: File): Promise<void> {
		const { key } = this.#add(f.name, f.size);
		let id = '';
		try {
			let got = await this.#kernel.state.attach({ name: f.name, size: f.size });
			id = got.id;
			await inParts(f, async (at, data, size) => {
				got = await this.#kernel.state.attachPart(got.id, at, data);
				return this.#change(key, { sent: at + size });
			});
			this.#arrive(key, got);
		} catch (e) {
			if (id) void this.#drop(id);
			this.#change(key, { why: e instanceof DOMException ? 'unreadable' : failureOf(e) });
		}
	}

	async #drop(id: string): Promise<void> {
		try {
			await this.#kernel.state.detach(id);
		} catch {
			// The kernel removes it after a week.
		}
	}

	/** restore shows what was attached and not sent before the page was closed. */
	async #restore(): Promise<void> {
		const drafts = this.#drafts()[this.#session] ?? [];
		if (drafts.length === 0) return;
		const chips = drafts.map((d) => this.#add(d.name, 0));
		try {
			const found = await this.#kernel.state.attachments(drafts.map((d) => d.id));
			drafts.forEach((d, i) => {
				const got = found.find((a) => a.id === d.id);
				this.#change(chips[i]!.key, got ? { got, name: got.name, size: got.size } : { why: 'gone' });
			});
		} catch (e) {
			for (const c of chips) this.#change(c.key, { why: failureOf(e) });
		}
	}

	#drafts(): Record<string, Draft[]> {
		try {
			return JSON.parse(this.#kept.get('attached') || '{}') as Record<string, Draft[]>;
		} catch {
			return {};
		}
	}

	#keep(): void {
		const { [this.#session]: _, ...others } = this.#drafts();
		const mine = this.ready.map((a) => ({ id: a.id, name: a.name.slice(0, 60) }));
		const all = mine.length > 0 ? { ...others, [this.#session]: mine } : others;
		this.#kept.set('attached', Object.keys(all).length > 0 ? JSON.stringify(all) : '');
	}
}
