import type { AnswerInput, Approval, ServerField, ServerForm } from '../../kernel/api.gen';
import type { Approvals } from '../../kernel/approvals.svelte';
import { failureOf, type Failure } from '../../kernel/transport';
import { i18n } from '../../ui/i18n/index.svelte';
import { Still } from '../../ui/still.svelte';

/** Value is what stands in a field: a text, a yes, or what was chosen of several. */
export type Value = string | boolean | string[];

/** Form is what a server asks on the screen, and what was filled in so far. */
export class Form {
	approval = $state.raw<Approval>() as Approval;
	values = $state<Record<string, Value>>({});
	sending = $state(false);
	failure = $state.raw<Failure>();

	/** still decides whether it can be answered. */
	readonly still = new Still();
	#approvals: Approvals;

	constructor(approvals: Approvals, approval: Approval) {
		this.#approvals = approvals;
		this.approval = approval;
		for (const f of this.fields) this.values[f.name] = initial(f);
	}

	get asked(): ServerForm {
		return this.approval.request.form!;
	}

	get fields(): ServerField[] {
		return this.asked.fields ?? [];
	}

	/** lacks says that something is needed and not there. */
	lacks = $derived.by(() => this.fields.some((f) => f.required && empty(this.values[f.name])));

	/** toggle takes an option of several, or takes it back. */
	toggle(name: string, option: string): void {
		const now = this.values[name] as string[];
		this.values[name] = now.includes(option) ? now.filter((o) => o !== option) : [...now, option];
	}

	/** send gives the server what was filled in. */
	send(): Promise<void> {
		const values = Object.fromEntries(Object.entries(this.values).map(([k, v]) => [k, v === '' ? null : v]));
		return this.#answer({ values });
	}

	/** refuse says no, or leaves it. */
	refuse(action: 'decline' | 'cancel'): Promise<void> {
		return this.#answer({ action });
	}

	async #answer(a: Partial<AnswerInput>): Promise<void> {
		if (this.sending) return;
		this.sending = true;
		this.failure = undefined;
		try {
			await this.#approvals.answer({
				run_id: this.approval.request.run_id ?? '',
				approval_id: this.approval.id,
				...a,
			});
		} catch (e) {
			this.failure = failureOf(e);
			await this.#approvals.load().catch(() => {});
		} finally {
			this.sending = false;
		}
	}
}

function empty(v: Value | undefined): boolean {
	return v === undefined || (typeof v === 'string' && v.trim() === '');
}

/** initial is what stands in a field at first: its default. */
function initial(f: ServerField): Value {
	const d = f.default as unknown;
	if (f.kind === 'boolean') return d === true;
	if (f.kind === 'choices') return Array.isArray(d) ? d.map(String) : [];
	return d === undefined || d === null ? '' : String(d);
}

/** limitsOf says what fits a field. */
export function limitsOf(f: ServerField): string {
	const t = i18n.t.form;
	const words = [t.formats[f.format ?? '']];
	const { min, max } = f;
	if (f.kind === 'text') {
		if (min && max) words.push(t.letters(min, max));
		else if (min) words.push(t.lettersLeast(min));
		else if (max) words.push(t.lettersMost(max));
	} else if (f.kind !== 'boolean') {
		if (min !== undefined && max !== undefined) words.push(t.between(min, max));
		else if (min !== undefined) words.push(t.least(min));
		else if (max !== undefined) words.push(t.most(max));
	}
	return words.filter(Boolean).join(' · ');
}
