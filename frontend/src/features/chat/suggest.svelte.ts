import type { Component } from 'svelte';
import type { Kernel, MCPPrompt, MCPResource } from '../../kernel/api.gen';
import { failureOf, type Failure } from '../../kernel/transport';
import { fuzzy } from '../../ui/fuzzy';
import { i18n } from '../../ui/i18n/index.svelte';
import { tokenAt, type Token } from './mention';

/** Command is something that the palette can do, of which the composer offers a few. */
export interface Command {
	id: string;
	title: string;
	also?: string;
	hint?: string;
	icon: Component<{ size?: number; strokeWidth?: number }>;
	current?: boolean;
	within?: string;
	page?: string;
	run?: () => void;
}

/** Row is one line of the list: a path below the folder, something of a server, a command by its name, or a choice of one. */
export interface Row {
	id: string;
	/** text is what was searched, and at the ranges of it that fit. */
	text: string;
	at: [number, number][];
	command?: Command;
	resource?: MCPResource;
	prompt?: MCPPrompt;
}

type Name = keyof typeof i18n.t.suggest.names;

/** How long the person must have stopped typing before the kernel is asked again, in milliseconds. */
const REST = 60;
/** What the beginning of a file's own name is worth, beside the same letters in the folders above it. */
const NAME = 12;
/** How many resources of servers are offered at once. */
const MOST = 50;

/** Suggest is the list at the composer: what may be meant by the @ or the / at the caret. */
export class Suggest {
	token = $state.raw<Token>();
	at = $state(0);
	/** asking says that an answer of the kernel is awaited. */
	asking = $state(false);
	failure = $state.raw<Failure>();
	/** found is the last answer, and for which words it was given. */
	found = $state.raw<{ words: string; paths: string[]; more: boolean; cut: boolean }>();

	/** resources and prompts are what servers have, as it is known without starting one. */
	resources = $state.raw<MCPResource[]>([]);
	prompts = $state.raw<MCPPrompt[]>([]);

	rows = $derived.by<Row[]>(() => {
		if (!this.token) return [];
		return this.token.sign === '@' ? this.#files(this.token.words) : this.#commands(this.token.words);
	});
	chosen = $derived(this.rows[this.at]);
	/** nothing says that there is no file to mention at all. */
	nothing = $derived(this.token?.words === '' && this.found?.words === '' && this.rows.length === 0);
	open = $derived(this.rows.length > 0 || (!!this.token && (!!this.failure || this.nothing)));

	#kernel: Kernel;
	#folder: () => string;
	#offered: () => Command[];
	/** closed is where the token begins whose list the person closed. */
	#closed = -1;
	#turn = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#answered: Promise<void> = Promise.resolve();

	constructor(kernel: Kernel, folder: () => string, offered: () => Command[]) {
		this.#kernel = kernel;
		this.#folder = folder;
		this.#offered = offered;
	}

	/** look reads the text up to the caret; the best of what fits is chosen. */
	look(text: string, caret: number): void {
		const before = this.token;
		const token = tokenAt(text, caret);
		if (!token) this.#closed = -1;
		if (!token || token.from === this.#closed) return this.end();
		if (before?.sign === token.sign && before.from === token.from && before.words === token.words) return;
		this.token = token;
		this.at = 0;
		if (before?.sign !== token.sign || before.from !== token.from) void this.learn(token.sign);
		if (token.sign === '@') this.#ask(token.words, before?.sign !== '@' || before.from !== token.from);
		else if (token.words.endsWith(' '))
			this.at = Math.max(
				0,
				this.rows.findIndex((r) => r.command?.current),
			);
	}

	/** learn reads what servers have behind this sign. Without an answer the list has the rest. */
	async learn(sign: Token['sign']): Promise<void> {
		try {
			if (sign === '@') this.resources = (await this.#kernel.mcp.resources('')).items.filter((r) => !r.template);
			else this.prompts = await this.#kernel.mcp.prompts('');
		} catch {
			// what was known stays
		}
	}

	/** close puts the list away until another one begins. */
	close(): void {
		this.#closed = this.token?.from ?? -1;
		this.end();
	}

	/** move goes up or down, round the ends. */
	move(by: number): void {
		const n = this.rows.length;
		if (n > 0) this.at = (this.at + by + n) % n;
	}

	/** settled waits for what is being asked, so that a quick Enter takes what it was typed for. */
	async settled(): Promise<void> {
		await this.#answered;
	}

	/** end is when nothing is written any more that the list is for. */
	end(): void {
		clearTimeout(this.#timer);
		this.#turn++;
		this.token = this.found = this.failure = undefined;
		this.asking = false;
	}

	#ask(words: string, first: boolean): void {
		clearTimeout(this.#timer);
		const turn = ++this.#turn;
		if (first) this.found = this.failure = undefined;
		const known = this.found;
		this.asking = !known || known.more || !words.startsWith(known.words);
		if (!this.asking) return; // all that can fit is here
		const asked = async () => {
			await new Promise((done) => (this.#timer = setTimeout(done, first ? 0 : REST)));
			try {
				const m = await this.#kernel.exec.mentions({ folder: this.#folder(), words });
				if (turn !== this.#turn) return;
				this.found = { ...m, words };
				this.failure = undefined;
			} catch (e) {
				if (turn !== this.#turn) return;
				this.failure = failureOf(e);
			}
			this.asking = false;
		};
		this.#answered = asked();
	}

	#files(words: string): Row[] {
		const fits = fuzzy(words);
		const rows: (Row & { score: number })[] = (this.found?.paths ?? []).flatMap((path) => {
			const text = path.normalize('NFC');
			const from = text.replace(/\/$/, '').lastIndexOf('/') + 1;
			const whole = fits(text);
			const name = fits(text.slice(from));
			const best = Math.max(whole?.score ?? -Infinity, (name?.score ?? -Infinity) + NAME);
			if (best === -Infinity) return [];
			const at = name ? name.at.map(([a, b]): [number, number] => [a + from, b + from]) : whole!.at;
			return { id: path, text, at, score: best };
		});
		const all = [...rows, ...this.#resources(fits)];
		if (words.trim() !== '') all.sort((a, b) => b.score - a.score);
		return all;
	}

	#resources(fits: ReturnType<typeof fuzzy>): (Row & { score: number })[] {
		const rows = this.resources.flatMap((resource) => {
			const text = resource.title || resource.name;
			const name = fits(text);
			const score = Math.max(name?.score ?? -Infinity, fits(`${resource.server} ${resource.uri}`)?.score ?? -Infinity);
			const id = `${resource.server} ${resource.uri}`;
			return score === -Infinity ? [] : [{ id, text, at: name?.at ?? [], resource, score }];
		});
		return rows.sort((a, b) => b.score - a.score).slice(0, MOST);
	}

	#commands(words: string): Row[] {
		const offered = this.#offered();
		const named = Object.keys(i18n.t.suggest.names).flatMap((id) => offered.find((c) => c.id === id) ?? []);
		const names = (c: Command) => [i18n.t, i18n.other].map((t) => t.suggest.names[c.id as Name]);
		const [first = '', ...rest] = words.split(' ');
		if (rest.length > 0) {
			const page = named.find((c) => c.page && names(c).includes(first.toLowerCase()))?.page;
			const choices = page ? offered.filter((c) => c.within === page) : [];
			return ranked(choices, rest.join(' '), (c) => [c.title, c.also ?? '']);
		}
		const prompts = this.prompts.map((prompt) => ({ id: prompt.call, prompt }));
		return ranked<{ id: string; prompt?: MCPPrompt }>([...named, ...prompts], first, (c) =>
			c.prompt ? [c.prompt.call, c.prompt.title ?? ''] : names(c as Command),
		);
	}
}

/** ranked are the commands that fit, each shown under the first of its names. */
function ranked<T extends { id: string; prompt?: MCPPrompt }>(
	list: T[],
	words: string,
	names: (c: T) => string[],
): Row[] {
	const fits = fuzzy(words);
	const rows = list.flatMap((one) => {
		const [own = '', ...others] = names(one);
		const { id, prompt } = one;
		const hit = fits(own);
		const score = Math.max(...[hit, ...others.map(fits)].map((h) => h?.score ?? -Infinity));
		if (score === -Infinity) return [];
		const row = { id, text: own, at: hit?.at ?? [], score };
		return prompt ? { ...row, prompt } : { ...row, command: one as unknown as Command };
	});
	return words === '' ? rows : rows.sort((a, b) => b.score - a.score);
}
