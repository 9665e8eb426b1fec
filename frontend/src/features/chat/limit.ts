import type { BudgetChange, BudgetLine, Kernel, Reached } from '../../kernel/api.gen';

/** proposed is a limit that leaves room for a while: twice as much, and at least what the next call may take. */
export function proposed(r: Reached): string {
	const most = Math.max(2 * r.limit, r.used + 2 * r.needs);
	if (r.kind !== 'usd') return String(Math.ceil(most));
	return most < 0.1 ? String(Math.ceil(most * 1000 - 1e-6) / 1000) : (Math.ceil(most * 100 - 1e-6) / 100).toFixed(2);
}

/** larger reads what a person wrote as a limit; undefined when it raises nothing. */
export function larger(r: Reached, text: string): number | undefined {
	const n = Number(text.trim().replace(/^\$/, '').replaceAll(/[,_ ]/g, '') || 'none');
	const whole = r.kind === 'usd' || Number.isInteger(n);
	return Number.isFinite(n) && whole && n > r.limit ? n : undefined;
}

/** raise sets the limit that is reached, or lifts it without a number, and leaves the others of its scope as they are. */
export async function raise(kernel: Kernel, r: Reached, to?: number): Promise<void> {
	const view = await kernel.infra.budget();
	const line: BudgetLine | undefined = r.scope === 'day' ? view.day : view.runs.find((l) => l.run_id === r.of);
	const change: BudgetChange = { scope: r.scope, run_id: r.of, ...line?.limits };
	change[r.kind as 'usd'] = to;
	await kernel.infra.setBudget(change);
}
