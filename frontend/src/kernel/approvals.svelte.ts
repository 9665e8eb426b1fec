import type { AnswerInput, Approval, GrantInput, GrantProposal, Kernel, Tried, Try } from './api.gen';
import { earlier } from './times';
import type { Event } from './transport';
import { turns } from './turns';

const lasts = (a: Approval) => a.state === 'approved' || a.state === 'used';
const forRun = (a: Approval) => a.state === 'approved' && a.scope === 'run';

/** Approvals are the requests that wait for a person, the oldest first. */
export class Approvals {
	pending = $state.raw<Approval[]>([]);
	/** granted are the yeses for a whole run, which can be taken back while it lasts. */
	granted = $state.raw<Approval[]>([]);
	/** decided are the yeses for one step that were given in this window, until their runs end: a wrong one can be mended. */
	decided = $state.raw<Approval[]>([]);
	/** arrived is the newest request that came while the page was open; it is announced politely. */
	arrived = $state.raw<Approval>();

	#kernel: Kernel;
	#turn = turns();
	/** late is what is told of requests while they are read: the answer may be older. */
	#late: Approval[] | undefined;
	/** used and ended are the yeses that were used up and the runs that ended while the page was open. */
	#used = new Set<string>();
	#ended = new Set<string>();

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	async load(): Promise<void> {
		const newest = this.#turn();
		const late: Approval[] = (this.#late = []);
		try {
			const [pending, approved] = await Promise.all([
				this.#kernel.security.approvals({ state: 'pending' }),
				this.#kernel.security.approvals({ state: 'approved' }),
			]);
			if (!newest()) return;
			this.pending = [...pending].sort((a, b) => earlier(a.created_at, b.created_at));
			this.granted = approved.filter(forRun);
			for (const a of late) this.put(a);
		} finally {
			if (newest()) this.#late = undefined;
		}
	}

	of(sessionID: string): Approval[] {
		return this.pending.filter((a) => a.request.session_id === sessionID);
	}

	/** nextSession is the conversation after this one that waits; it goes round. */
	nextSession(current: string | undefined): string | undefined {
		const ids = [...new Set(this.pending.map((a) => a.request.session_id ?? ''))].filter(Boolean);
		if (ids.length === 0) return undefined;
		return ids[(ids.indexOf(current ?? '') + 1) % ids.length];
	}

	/** approve says yes to the request as it was shown: hash binds the yes to it. */
	async approve(id: string, hash: string, scope: 'once' | 'run', comment = ''): Promise<void> {
		this.#decide(await this.#kernel.security.approve(id, { hash, scope, comment }));
	}

	/** open opens addresses of the own network to all agents, and says yes once to the request as it was shown. */
	async open(id: string, hash: string, addresses: string[]): Promise<void> {
		for (const address of addresses) await this.#kernel.security.grantAddress(address);
		await this.approve(id, hash, 'once');
	}

	/** propose says how a request could be approved as a kind of step. */
	propose(id: string): Promise<GrantProposal> {
		return this.#kernel.security.proposeGrant(id);
	}

	/** grant says yes to the request as it was shown, and to the kind of step that it is. */
	async grant(id: string, grant: GrantInput): Promise<void> {
		this.#decide((await this.#kernel.security.grant(id, grant)).approval);
	}

	/** try runs the command of a request on a copy of its folder. The request goes on waiting. */
	try(id: string, hash: string): Promise<Try> {
		return this.#kernel.security.try(id, { hash });
	}

	/** tried says what came of it. */
	tried(id: string): Promise<Tried> {
		return this.#kernel.security.tried(id);
	}

	/** applyTry does what was shown of a try: hash binds it to that. */
	async applyTry(id: string, hash: string): Promise<void> {
		this.#decide(await this.#kernel.security.applyTry(id, { hash }));
	}

	/** dropTry ends a try and forgets what came of it. */
	dropTry(id: string): Promise<void> {
		return this.#kernel.security.dropTry(id);
	}

	async deny(id: string, comment: string): Promise<void> {
		this.put(await this.#kernel.security.deny(id, comment));
	}

	/** answer says what a run asks before it begins. */
	async answer(a: AnswerInput): Promise<void> {
		this.put(await this.#kernel.agents.answer(a));
	}

	/** revoke takes a yes back that was not used up: the same call asks again. */
	async revoke(id: string): Promise<void> {
		await this.#kernel.security.revoke(id);
		this.granted = this.granted.filter((g) => g.id !== id);
		this.decided = this.decided.filter((d) => d.id !== id);
	}

	#decide(a: Approval): void {
		// The news of its use may have been faster than the answer.
		const used = this.#used.has(a.id);
		if (a.scope === 'once' && !this.#ended.has(a.request.run_id ?? ''))
			this.decided = [...this.decided.filter((d) => d.id !== a.id), used ? { ...a, state: 'used' } : a];
		this.put(a);
	}

	put(a: Approval): void {
		if (a.state === 'used') this.#used.add(a.id);
		if (this.decided.some((d) => d.id === a.id))
			this.decided = this.decided.flatMap((d) => (d.id !== a.id || d.state === 'used' ? d : lasts(a) ? a : []));
		const others = this.granted.filter((g) => g.id !== a.id);
		if (forRun(a) || others.length < this.granted.length) this.granted = forRun(a) ? [...others, a] : others;
		const known = this.pending.some((p) => p.id === a.id);
		if (a.state !== 'pending') {
			if (known) this.pending = this.pending.filter((p) => p.id !== a.id);
			return;
		}
		if (known) {
			this.pending = this.pending.map((p) => (p.id === a.id ? a : p));
		} else {
			this.pending = [...this.pending, a];
			this.arrived = a;
		}
	}

	receive(e: Event): void {
		if (e.kind === 'approval') {
			this.#late?.push(e.data as Approval);
			this.put(e.data as Approval);
		}
		if (e.kind !== 'run.ended') return;
		this.#ended.add(e.run_id ?? '');
		this.decided = this.decided.filter((d) => d.request.run_id !== e.run_id);
	}
}
