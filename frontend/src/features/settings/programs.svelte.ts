import type { Client, ClientAdded, ClientScope } from '../../kernel/api.gen';
import type { Live } from '../../kernel/live.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { turns } from '../../kernel/turns';

/** Programs are the programs that use Oxios from outside. */
export class Programs {
	list = $state.raw<Client[]>();
	scopes = $state.raw<ClientScope[]>([]);
	failure = $state.raw<Failure>();

	#live: Live;
	#turn = turns();

	constructor(live: Live) {
		this.#live = live;
	}

	async load(): Promise<void> {
		const newest = this.#turn();
		try {
			const { clients } = this.#live.kernel;
			const [list, scopes] = await Promise.all([clients.list(), clients.scopes()]);
			if (!newest()) return;
			this.list = list;
			this.scopes = scopes;
			this.failure = undefined;
		} catch (e) {
			if (newest()) this.failure = failureOf(e);
		}
	}

	/** follow reads the programs, and again when one was added or revoked, until the returned function is called. */
	follow(): () => void {
		void this.load();
		const offs = [
			this.#live.onevent((e) => {
				if (e.kind === 'clients') void this.load();
			}),
			this.#live.onreload(() => void this.load()),
		];
		return () => offs.forEach((off) => off());
	}

	/** add adds a program and returns its token, which nobody is shown again. It rejects when the kernel refuses. */
	async add(name: string, scopes: string[]): Promise<ClientAdded> {
		const made = await this.#live.kernel.clients.add(name, scopes);
		await this.load();
		return made;
	}

	async revoke(id: string): Promise<void> {
		try {
			await this.#live.kernel.clients.revoke(id);
		} catch (e) {
			this.#live.tell(failureOf(e));
		}
		await this.load();
	}
}

/** snippetFor is what other programs take in their settings to start Oxios as a server of theirs. */
export function snippetFor(name: string): string {
	return JSON.stringify(
		{ mcpServers: { oxios: { command: 'oxios', args: ['mcp', 'serve', '--client', name] } } },
		null,
		2,
	);
}
