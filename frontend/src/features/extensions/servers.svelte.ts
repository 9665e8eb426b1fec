import type { MCPImport, MCPPackage, MCPPage, MCPServer, MCPTool, MCPView } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { once } from '../../kernel/turns';
import { visible } from '../../ui/visible';
import type { Pasted } from './command';
import { installsOf } from './install';

/** Servers is what the view of extensions shows: the MCP servers, and the one that is open. */
export class Servers {
	list = $state.raw<MCPView[]>([]);
	loaded = $state(false);
	failure = $state.raw<Failure>();
	/** chosen is the name of the server that is open. */
	chosen = $state<string>();
	adding = $state(false);
	/** offered are servers that a text installs, which waits for the person; added is called once they are there. */
	offered = $state.raw<{ found: Pasted[]; added: () => void }>();
	importing = $state(false);
	/** importFrom is the file that is to be imported, where it is known. */
	importFrom = $state('');
	/** connecting are the servers that are being started for the person. */
	connecting = $state.raw<string[]>([]);
	/** pages are where the person signs in, by the name of the server, while that is waited for. */
	pages = $state.raw<Record<string, MCPPage>>({});
	/** newer are the newest versions of packages, by the name of the server, once they were asked for. */
	newer = $state.raw<Record<string, string>>({});
	/** refused says why the last order for a server failed, by its name. */
	refused = $state.raw<Record<string, Failure>>({});

	readonly current = $derived.by(() => this.list.find((v) => v.name === this.chosen) ?? this.list[0]);

	#live: Live;

	constructor(live: Live) {
		this.#live = live;
	}

	readonly load = once(async () => {
		try {
			this.list = await this.#live.kernel.mcp.servers();
			this.failure = undefined;
		} catch (e) {
			this.failure = failureOf(e);
		}
		this.loaded = true;
	});

	/** follow reads the servers, and again when something of them changed, until the returned function is called. */
	follow(): () => void {
		void this.load();
		const offs = [
			this.#live.onevent((e) => {
				if (e.kind === 'mcp' || e.kind === 'config') void this.load();
			}),
			this.#live.onreload(() => void this.load()),
		];
		return () => offs.forEach((off) => off());
	}

	/** offer shows the servers that a text installs, if it is nothing but that, and reports whether it is. */
	offer(text: string, added: () => void): boolean {
		const found = installsOf(text);
		if (found) this.offered = { found, added };
		return !!found;
	}

	/** step chooses the next server, or the one before. */
	step(by: number): void {
		const at = this.list.findIndex((v) => v.name === this.current?.name);
		this.chosen = this.list[Math.max(0, Math.min(this.list.length - 1, at + by))]?.name;
	}

	/** add writes a server into the settings and connects it. That it could not be connected is told beside the server.
	 * The values of its headers are keys: they go to no settings. */
	async add(name: string, def: MCPServer, keys: Record<string, string> = {}): Promise<void> {
		await this.#live.kernel.mcp.set(name, def);
		for (const [header, value] of Object.entries(keys)) await this.#live.kernel.mcp.setKey(name, header, value);
		this.chosen = name;
		await this.load();
		void this.connect(name);
	}

	/** preview says what would be imported from the settings of another program. */
	preview(from: string): Promise<MCPImport> {
		return this.#live.kernel.mcp.importPreview(from);
	}

	/** import adds servers of another program. It rejects when the kernel refuses; it starts none of them. */
	async import(from: string, names: string[]): Promise<void> {
		const done = await this.#live.kernel.mcp.import(from, names);
		await this.load();
		this.chosen = done.added?.[0] ?? this.chosen;
	}

	/** set changes what a server may do. */
	async set(name: string, def: MCPServer): Promise<void> {
		await this.#try(name, () => this.#live.kernel.mcp.set(name, def));
	}

	/** connect starts a server; what its command downloads is installed before, where it was not. */
	async connect(name: string): Promise<void> {
		if (this.connecting.includes(name)) return;
		this.connecting = [...this.connecting, name];
		await this.#try(name, async () => {
			const p = this.list.find((v) => v.name === name)?.package;
			if (p && !p.installed) await this.#live.kernel.mcp.install(name, '');
			await this.#live.kernel.mcp.connect(name);
		});
		this.connecting = this.connecting.filter((n) => n !== name);
	}

	/** packageOf says what a command would download; undefined where that is nothing, or nothing that can be installed. */
	async packageOf(def: MCPServer): Promise<MCPPackage | undefined> {
		const p = await this.#live.kernel.mcp.packageOf(def);
		return p.name ? p : undefined;
	}

	/** install downloads the package of a server again, as it was, or in another version, and connects the server. */
	async install(name: string, version = ''): Promise<void> {
		const { [name]: _, ...others } = this.newer;
		this.newer = others;
		await this.#try(name, () => this.#live.kernel.mcp.install(name, version));
		if (!this.refused[name]) await this.connect(name);
	}

	/** lookForNewer asks the registry for the newest version of a server's package. */
	async lookForNewer(name: string): Promise<void> {
		await this.#try(name, async () => {
			this.newer = { ...this.newer, [name]: await this.#live.kernel.mcp.newest(name) };
		});
	}

	/** signIn asks for the page on which the person signs in. When they have, the server is connected. */
	async signIn(name: string): Promise<void> {
		await this.#try(name, async () => {
			const page = await this.#live.kernel.mcp.signIn(name);
			this.pages = { ...this.pages, [name]: page };
			void this.#await(name, page);
		});
	}

	async #await(name: string, page: MCPPage): Promise<void> {
		let done = false;
		await this.#try(name, async () => {
			try {
				await this.#live.kernel.mcp.signedIn(name);
				done = true;
			} catch (e) {
				if (this.pages[name] === page) throw e; // otherwise the person began anew
			} finally {
				if (this.pages[name] === page) {
					const { [name]: _, ...others } = this.pages;
					this.pages = others;
				}
			}
		});
		if (done) await this.connect(name);
	}

	async signOut(name: string): Promise<void> {
		await this.#try(name, () => this.#live.kernel.mcp.signOut(name));
	}

	async enable(name: string, on: boolean): Promise<void> {
		await this.#try(name, () => this.#live.kernel.mcp.enable(name, on));
	}

	async accept(name: string, hash: string): Promise<void> {
		await this.#try(name, () => this.#live.kernel.mcp.accept(name, hash));
	}

	async remove(name: string): Promise<void> {
		await this.#try(name, () => this.#live.kernel.mcp.remove(name));
	}

	log(name: string): Promise<string> {
		return this.#live.kernel.mcp.log(name);
	}

	async #try(name: string, order: () => Promise<unknown>): Promise<void> {
		const { [name]: _, ...others } = this.refused;
		this.refused = others;
		try {
			await order();
		} catch (e) {
			this.refused = { ...this.refused, [name]: failureOf(e) };
		}
		await this.load();
	}
}

/** differenceOf shows two lists of tools, and how a server wants to be used, as a diff: what was with "-", what is with "+". */
export function differenceOf(before: MCPTool[], after: MCPTool[], told = '', tells = ''): string {
	const text = (t: MCPTool | undefined) =>
		t
			? [t.call, t.title, t.description, JSON.stringify(t.schema), JSON.stringify(t.output)].map((line) =>
					visible(line ?? ''),
				)
			: [];
	const names = [...new Set([...before, ...after].map((t) => t.name))].sort();
	const lines = names.flatMap((name) => {
		const was = text(before.find((t) => t.name === name));
		const is = text(after.find((t) => t.name === name));
		if (was.join('\n') === is.join('\n')) return [];
		return [0, 1, 2, 3, 4].flatMap((i) => {
			if (was[i] === is[i]) return was[i] ? [` ${was[i]}`] : [];
			return [was[i] && `-${was[i]}`, is[i] && `+${is[i]}`].filter((l): l is string => !!l);
		});
	});
	if (told !== tells) {
		const marked = (sign: string, text: string) => (text ? text.split('\n').map((line) => sign + visible(line)) : []);
		lines.unshift(...marked('-', told), ...marked('+', tells));
	}
	return `@@ -1,1 +1,1 @@\n${lines.join('\n')}\n`;
}
