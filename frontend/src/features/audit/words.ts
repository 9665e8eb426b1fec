import type { AuditEntry, AuditReport, AuditState } from '../../kernel/api.gen';
import { count, shortPath, when } from '../../ui/format';
import { i18n } from '../../ui/i18n/index.svelte';

/** Meta is what the kernel notes beside an entry. Any of it may be missing. */
export interface Meta {
	syscall?: string;
	phase?: string;
	ok?: boolean;
	error?: string;
	reason?: string;
	run_id?: string;
	session_id?: string;
	state?: string;
	title?: string;
	message?: string;
}

/** metaOf is the metadata of an entry; nothing where somebody has broken it. */
export function metaOf(e: AuditEntry): Meta {
	return e.metadata !== null && typeof e.metadata === 'object' ? (e.metadata as Meta) : {};
}

/** State is how an entry is drawn: what begins, what was done, what failed, what was refused. */
export type State = 'queued' | 'done' | 'failed' | 'denied';

export function stateOf(e: AuditEntry): State {
	const m = metaOf(e);
	if (e.action === 'AccessDenied') return 'denied';
	if (m.phase === 'intent') return 'queued';
	return m.ok === false || e.resource.startsWith('guardian:') ? 'failed' : 'done';
}

/** whoOf says who did it. An agent goes by its name where that is known. */
export function whoOf(e: AuditEntry, names: ReadonlyMap<string, string>): string {
	const t = i18n.t.audit;
	if (e.actor.startsWith('person')) return t.you;
	if (e.actor === 'kernel') return 'Oxios';
	if (e.actor === 'guardian') return t.guardian;
	if (e.actor === 'memory') return t.memory;
	const id = e.actor.replace(/^agent:/, '');
	return names.get(id) ?? t.agent(id.slice(0, 8));
}

/** whatOf says what was done, in words; one that has none yet goes by its action. */
export function whatOf(e: AuditEntry): string {
	const t = i18n.t.audit;
	const m = metaOf(e);
	if (e.resource.startsWith('guardian:')) return m.state === 'mended' ? t.mended : t.found;
	if (e.resource.startsWith('approval:')) return t.decided[m.state ?? ''] ?? t.actions.Other!;
	if (e.resource.startsWith('seed:') && t.seeds[m.state ?? '']) return t.seeds[m.state!]!;
	return t.calls[m.syscall ?? ''] ?? t.resources[e.resource] ?? t.actions[e.action] ?? e.action;
}

/** onOf is what it was done to, without the word of the kernel for its kind. */
export function onOf(e: AuditEntry): string {
	const m = metaOf(e);
	if (m.title && e.resource.startsWith('approval:')) return m.title;
	if (e.resource.startsWith('guardian:')) return m.message ?? '';
	// A memory has no name of its own, only a number.
	if (/^memory(:|$)/.test(e.resource)) return '';
	const [, kind, name] = /^(file|model|session|run|agent|tool|provider|approval|seed):(.*)$/s.exec(e.resource) ?? [];
	if (kind === 'file') return shortPath(name!);
	return name ?? e.resource;
}

/** standing says how the chain stands, in two sentences: whether it is whole, and how far it is vouched for. */
export function standing(s: AuditState): { title: string; text: string; bad: boolean } {
	const t = i18n.t.audit;
	const r = s.checked;
	if (r && !r.ok) {
		return {
			title: r.first_bad ? t.damaged(count(r.first_bad)) : r.verdict ? i18n.either(r.verdict, r.verdict_ko) : t.apart,
			text: [
				i18n.either(r.problem, r.problem_ko),
				r.lacks ? t.renew : '',
				...vouched(r),
				r.first_bad && r.first_bad > 1 ? t.whole(count(r.first_bad - 1)) : '',
				t.exportFirst,
			]
				.filter(Boolean)
				.join(' '),
			bad: true,
		};
	}
	const parts = [t.records(count(s.first ? s.last - s.first + 1 : 0), s.since ? when(s.since) : '')];
	if (s.first > 1) parts.push(t.pruned(count(s.first - 1)));
	if (r && s.checked_at) parts.push(t.checked(count(r.last), when(s.checked_at)));
	if (s.signed) parts.push(t.signed(count(s.signed)));
	if (s.witnessed) parts.push(t.witnessed(count(s.witnessed)));
	else if (!s.witness) parts.push(t.noWitness);
	if (r) parts.push(...vouched(r));
	const title =
		r?.found?.length || r?.renewals?.length ? i18n.either(r.verdict, r.verdict_ko) : r ? t.intact : t.unchecked;
	return { title, text: parts.join(' '), bad: false };
}

/** vouched says which records were only found, and where the evidence was begun anew. */
function vouched(r: AuditReport): string[] {
	const t = i18n.t.audit;
	return [
		...(r.found ?? []).map((s) => t.foundUnsigned(count(s.from), count(s.to))),
		...(r.renewals ?? []).map((n) => t.renewed(count(n.after), when(n.at))),
	];
}
