import type { Approval } from '../../kernel/api.gen';
import type { Approvals } from '../../kernel/approvals.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { Still } from '../../ui/still.svelte';

/** Questions is a request on the screen that asks what only the person can say, and what they have answered so far. */
export class Questions {
	approval = $state.raw<Approval>() as Approval;
	/** answers are one for each question; "" leaves it open. */
	answers = $state<string[]>([]);
	sending = $state(false);
	failure = $state.raw<Failure>();

	list = $derived(this.approval.request.questions ?? []);
	open = $derived(this.answers.filter((a) => a.trim() === '').length);
	/** some says that there is something to send. */
	some = $derived(this.open < this.list.length);

	/** still decides whether they can be answered. */
	readonly still = new Still();
	#approvals: Approvals;

	constructor(approvals: Approvals, approval: Approval) {
		this.#approvals = approvals;
		this.approval = approval;
		this.answers = (approval.request.questions ?? []).map(() => '');
	}

	/** choose takes one of the offered answers, or takes it back. */
	choose(at: number, option: string): void {
		this.answers[at] = this.answers[at] === option ? '' : option;
	}

	/** send gives the answers; with assume what is left open may be assumed. */
	async send(assume: boolean): Promise<void> {
		if (this.sending || (!assume && !this.some)) return;
		this.sending = true;
		this.failure = undefined;
		try {
			await this.#approvals.answer({
				run_id: this.approval.request.run_id,
				approval_id: this.approval.id,
				answers: this.answers.map((a) => a.trim()),
				assume,
			});
		} catch (e) {
			this.failure = failureOf(e);
			await this.#approvals.load().catch(() => {});
		} finally {
			this.sending = false;
		}
	}
}
