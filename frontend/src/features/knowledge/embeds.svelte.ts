import type { Kernel, VaultEmbed, VaultEntry } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';
import { LARGEST, read } from './files';

/** Embed is what one link in a note shows there. */
export class Embed {
	/** got is what the kernel found; nothing while it looks. */
	got = $state.raw<VaultEmbed>();
	failure = $state.raw<Failure>();
	/** url is where the page finds the picture. */
	url = $state('');
	/** height is how high it was drawn last, so that the text does not jump. */
	height = -1;
}

/** sizeIn is the size that the source of a link wishes for, in pixels: ![[a.png|300]], ![[a.png|300x200]], ![a|300](a.png). */
export function sizeIn(source: string): { width?: number; height?: number } {
	const m = /\|(\d{1,4})(?:x(\d{1,4}))?\]/.exec(source);
	if (!m) return {};
	return { width: Number(m[1]), ...(m[2] ? { height: Number(m[2]) } : {}) };
}

/** altIn is what the source of a link calls a picture. */
export function altIn(source: string): string {
	const said = /^!\[(?!\[)([^\]]*)\]/.exec(source)?.[1] ?? /\|([^\]]*)\]\]$/.exec(source)?.[1] ?? '';
	return said.replace(/\|?\d+(x\d+)?$/, '').trim();
}

/** Embeds are what the notes on the screen show of each other, each read once until it changes. */
export class Embeds {
	#kernel: Kernel;
	#all = new Map<string, Embed>();
	#pictures = new Map<string, Promise<string>>();
	#closed = false;

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	/** of is what a link shows in the note at from. */
	of(from: string, source: string): Embed {
		const key = `${from}\n${source}`;
		let e = this.#all.get(key);
		if (!e) this.#all.set(key, (e = new Embed()));
		if (!e.got && !e.failure) void this.#load(from, source, e);
		return e;
	}

	/** look asks where a link leads. */
	look(from: string, source: string): Promise<VaultEmbed> {
		return this.#kernel.knowledge.embed(from, source);
	}

	/** refresh reads anew what the files say that there are by now: what changed, and what was missing. */
	refresh(entries: VaultEntry[]): void {
		const now = new Map(entries.map((e) => [e.path, e]));
		for (const [key, e] of this.#all) {
			const [from = '', source = ''] = key.split('\n');
			const entry = now.get(e.got?.path ?? '');
			const same = e.got && entry && entry.size === e.got.size && moment(entry.modified) === moment(e.got.modified);
			if (!same || e.got?.missing) void this.#load(from, source, e);
		}
	}

	async #load(from: string, source: string, e: Embed): Promise<void> {
		try {
			const got = await this.look(from, source);
			const url = got.kind === 'image' && got.size <= LARGEST ? await this.#picture(got) : '';
			if (this.#closed) return;
			e.got = got;
			e.url = url;
			e.failure = undefined;
		} catch (err) {
			e.failure = failureOf(err);
		}
	}

	#picture(got: VaultEmbed): Promise<string> {
		const key = `${got.path}\n${got.size}\n${got.modified}`;
		let url = this.#pictures.get(key);
		if (!url) {
			url = read(this.#kernel, got.path).then((blob) => URL.createObjectURL(blob));
			this.#pictures.set(key, url);
			url.catch(() => this.#pictures.delete(key));
		}
		return url;
	}

	/** close forgets the pictures. */
	close(): void {
		this.#closed = true;
		for (const url of this.#pictures.values()) url.then(URL.revokeObjectURL, () => {});
	}
}

const moment = (iso: string | undefined) => Date.parse(iso ?? '');
