import type { Approval, GrantInput, GrantProposal, Try } from '../../kernel/api.gen';
import type { Approvals } from '../../kernel/approvals.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { Still } from '../../ui/still.svelte';

/** Above this many lines a command scrolls, and has to be read to its end. */
export const LINES = 12;

/** For how long a kind of step can be approved. */
export const LENGTHS = {
	run: { scope: 'run' },
	session: { scope: 'session' },
	hour: { scope: 'folder', minutes: 60 },
	hours: { scope: 'folder', minutes: 8 * 60 },
	month: { scope: 'folder', minutes: 30 * 24 * 60 },
} satisfies Record<string, Omit<GrantInput, 'hash'>>;
export type Length = keyof typeof LENGTHS;

/** Card is one request on the screen: what was shown, and whether it may be decided yet. */
export class Card {
	approval = $state.raw<Approval>() as Approval;
	/** changed says that the request is not the one that was shown at first. */
	changed = $state(false);
	/** read says that the end of a long command was on the screen. */
	read = $state(false);
	deciding = $state(false);
	denying = $state(false);
	comment = $state('');
	failure = $state.raw<Failure>();

	/** proposing says that the preview of the kind of step is open; the proposal follows. */
	proposing = $state(false);
	proposal = $state.raw<GrantProposal>();
	length = $state<Length>('hours');

	/** trying says that the command runs on a copy; tried is what it did there. */
	trying = $state(false);
	tried = $state.raw<Try>();

	lines = $derived((this.approval.request.command ?? '').split('\n').length);
	long = $derived(this.lines > LINES);
	mayApprove = $derived(!this.deciding && (!this.long || this.read));
	/** outside says that the run has read something that is not the person's own, and that matters for this request. */
	outside = $derived((this.approval.request.labels ?? []).some((l) => l.untrusted === true));
	/**
	 * What leaves the machine cannot be called back, and what came from outside may be somebody else's idea: Deny is then
	 * the primary answer, and a yes is asked for twice.
	 */
	denyFirst = $derived(this.approval.request.network || this.outside);

	/** still decides whether the card can be answered. */
	readonly still: Still;

	#approvals: Approvals;

	constructor(approvals: Approvals, approval: Approval, still = new Still()) {
		this.#approvals = approvals;
		this.approval = approval;
		this.still = still;
	}

	/** show takes the newest form of the request over. Another hash asks again from the start. */
	show(a: Approval): void {
		if (a.request.hash !== this.approval.request.hash) {
			this.changed = true;
			this.read = false;
			this.denying = false;
			this.unpropose();
			this.tried = undefined;
			this.still.moved();
		}
		this.approval = a;
	}

	async approve(scope: 'once' | 'run'): Promise<void> {
		if (!this.mayApprove) return;
		const { id, request } = this.approval;
		await this.#decide(() => this.#approvals.approve(id, request.hash, scope));
	}

	/** open says yes once, and opens the addresses of the own network that the request names to all agents. */
	async open(): Promise<void> {
		if (!this.mayApprove) return;
		const { id, request } = this.approval;
		await this.#decide(() => this.#approvals.open(id, request.hash, request.own ?? []));
	}

	/** propose opens the preview of the kind of step, or closes it. */
	async propose(): Promise<void> {
		if (this.proposing) return this.unpropose();
		this.proposing = true;
		this.failure = undefined;
		const { hash } = this.approval.request;
		try {
			const proposal = await this.#approvals.propose(this.approval.id);
			if (this.proposing && proposal.hash === hash && this.approval.request.hash === hash) this.proposal = proposal;
		} catch (e) {
			this.unpropose();
			this.failure = failureOf(e);
		}
	}

	unpropose(): void {
		this.proposing = false;
		this.proposal = undefined;
	}

	/** mayGrant reports whether the kind of step can be approved: its preview is on the screen, and the command was read. */
	get mayGrant(): boolean {
		return this.mayApprove && this.proposal?.can === true;
	}

	async grant(): Promise<void> {
		if (!this.mayGrant || !this.proposal) return;
		const { id } = this.approval;
		const { hash } = this.proposal;
		await this.#decide(() => this.#approvals.grant(id, { hash, ...LENGTHS[this.length] }));
	}

	/** recall shows again what was tried before the page was loaded. */
	async recall(): Promise<void> {
		const { try: tried } = await this.#approvals.tried(this.approval.id).catch(() => ({ try: undefined }));
		if (!this.trying) this.tried ??= tried;
	}

	/** try runs the command on a copy of its folder. Nothing is decided. */
	async try(): Promise<void> {
		if (this.trying || this.deciding || !this.approval.request.try) return;
		this.unpropose();
		this.trying = true;
		this.tried = undefined;
		this.failure = undefined;
		const { id, request } = this.approval;
		try {
			const tried = await this.#approvals.try(id, request.hash);
			if (this.approval.request.hash === request.hash) this.tried = tried;
		} catch (e) {
			const failure = failureOf(e);
			if (failure.code !== 'canceled') this.failure = failure;
		} finally {
			this.trying = false;
			this.still.moved();
		}
	}

	/** mayApply reports whether what was tried can be applied as it is shown. */
	get mayApply(): boolean {
		return !this.deciding && this.tried !== undefined && this.tried.conflicts + this.tried.impossible === 0;
	}

	/** apply does exactly what is shown of the try. */
	async apply(): Promise<void> {
		if (!this.mayApply || !this.tried) return;
		const { id } = this.approval;
		const { hash } = this.tried;
		await this.#decide(() => this.#approvals.applyTry(id, hash));
		if (this.failure?.code !== 'conflict') return;
		const now = await this.#approvals.tried(id).catch(() => undefined); // it is shown as it is now
		this.tried = now?.try;
	}

	/** discard ends the try and forgets what it did: the request waits as before. */
	async discard(): Promise<void> {
		this.failure = undefined;
		try {
			await this.#approvals.dropTry(this.approval.id);
			this.tried = undefined;
			this.still.moved();
		} catch (e) {
			this.failure = failureOf(e);
		}
	}

	async deny(): Promise<void> {
		await this.#decide(() => this.#approvals.deny(this.approval.id, this.comment.trim()));
	}

	async #decide(work: () => Promise<void>): Promise<void> {
		if (this.deciding) return;
		this.deciding = true;
		this.failure = undefined;
		try {
			await work();
		} catch (e) {
			this.failure = failureOf(e);
			await this.#approvals.load().catch(() => {});
		} finally {
			this.deciding = false;
		}
	}
}
