import type { AgentCard, AgentMessage, Process, RunView, Sender, StepView } from '../../kernel/api.gen';
import { stepState } from '../../kernel/steps';
import { between, clock, count, duration, paid, shortPath, size, tokens, when } from '../../ui/format';
import { i18n } from '../../ui/i18n/index.svelte';
import type { Row } from './rows';

/** lower begins a sentence of the kernel in the middle of another one; names like API stay as they are. */
function lower(text: string): string {
	return /^\p{Lu}\p{Ll}/u.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
}

/** causeOf says in a few words why a run failed. */
export function causeOf(p: Pick<Process, 'error' | 'end_reason'>): string {
	const known = i18n.t.chat.problems[p.error?.code as 'auth'];
	return known ?? (p.error ? i18n.either(p.error.message, p.error.message_ko) : (p.end_reason ?? ''));
}

/** stateOf says in words what an agent is about. */
export function stateOf(r: Row, waitsFor = i18n.either(r.p.waiting_for, r.p.waiting_for_ko)): string {
	const t = i18n.t.agents.state;
	const { p } = r;
	switch (r.phase) {
		case 'waiting':
			return t.waiting(lower(waitsFor));
		case 'other':
			return t.other(r.awaits);
		case 'queued':
			return t.queued;
		case 'paused':
			return t.paused;
		case 'running':
			return i18n.either(p.doing, p.doing_ko) || (p.tool ? t.works : t.asks);
		case 'failed':
			return t.failed(lower(causeOf(p)));
		default:
			return t[r.phase];
	}
}

/** age is how long something took, in the largest unit that says it. */
export function age(ms: number): string {
	const u = i18n.t.units;
	const s = Math.max(0, Math.floor(ms / 1000));
	if (s < 60) return u.s(String(s));
	if (s < 3600) return i18n.t.agents.min(Math.floor(s / 60));
	if (s < 86_400) return u.hMin(Math.floor(s / 3600), Math.floor((s % 3600) / 60));
	return i18n.t.agents.days(Math.floor(s / 86_400));
}

/** ageOf is how long an agent has been there, or was. */
export function ageOf(p: Process, now: number): string {
	const ms = p.ended_at ? p.age_ms : now - Date.parse(p.created_at);
	return age(ms);
}

/** costOf is what an agent cost, or nothing as long as it asked no model. */
export function costOf(p: Pick<Process, 'cost'>): string {
	return p.cost.calls > 0 ? paid(p.cost) : '';
}

/** tokensOf is how many tokens went in and out. */
export function tokensOf(p: Pick<Process, 'cost'>): string {
	return p.cost.calls > 0 ? tokens(p.cost.input + p.cost.output) : '';
}

/** heard says what another agent wanted with a message. */
function heard(by: Sender): string {
	const { heard } = i18n.t.agents;
	const what = heard[by.made === 'end' ? by.kind : (by.made ?? by.kind)] ?? heard.status_update!;
	return what(by.name);
}

/** skillsOf says what an agent can be asked for, what it was started for first. */
export function skillsOf(card: AgentCard): string {
	return card.skills.map((s, i) => (i > 0 ? lower : String)(i18n.either(s.name, s.name_ko))).join(', ');
}

/** wordsOf says of a message who it went to or came from, and how it stands. */
export function wordsOf(m: AgentMessage, of: string): { who: string; what: string; state: string } {
	const t = i18n.t.agents;
	const sent = (m.from ?? '') === of;
	const name = sent ? (m.to ? m.to_name : t.you) : m.from ? m.from_name : t.you;
	return {
		who: sent ? t.sentTo(name) : t.gotFrom(name),
		what: t.kinds[m.kind] ?? m.kind,
		state: t.mail[m.state] ?? m.state,
	};
}

/** gigabytes says a size as people know it of memory and disks: whole from ten on. */
export function gigabytes(bytes: number): string {
	const gb = bytes / 1_000_000_000;
	if (gb < 1) return size(bytes);
	return gb < 10 ? `${gb.toFixed(1)} GB` : `${count(Math.round(gb))} GB`;
}

/** titleOf says what a step was, and what belongs to it. */
export function titleOf(s: StepView): { title: string; more: string } {
	const t = i18n.t.agents;
	const line = (text: string | undefined) => (text ?? '').trim().split('\n')[0]!.slice(0, 200);
	if (s.kind === 'message') return { title: s.agent?.from ? heard(s.agent) : t.told, more: line(s.text) };
	if (s.kind === 'model') return { title: s.state === 'closed' ? t.asked : t.asks, more: line(s.text) };
	return {
		title: i18n.either(s.title, s.title_ko) || s.name,
		more: line(s.room && s.state === 'closed' ? s.detail : ''),
	};
}

/** tookOf is how long a step took, or takes so far. */
export function tookOf(s: StepView, now: number): number | undefined {
	if (s.kind === 'message' || s.kind === 'note') return undefined;
	if (s.state === 'closed') return between(s.started_at ?? s.proposed_at, s.closed_at);
	const ms = now - Date.parse(s.started_at ?? s.proposed_at);
	return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

/** newestFirst puts the open steps on top, and the newest of the others below them. */
export function newestFirst(steps: StepView[]): StepView[] {
	const open = (s: StepView) => (s.state === 'closed' ? 1 : 0);
	return [...steps].sort((a, b) => open(a) - open(b) || b.seq - a.seq);
}

/** lastEffect is the last step that did something and ended well. */
export function lastEffect(steps: StepView[]): StepView | undefined {
	return steps.findLast((s) => s.kind === 'tool' && s.state === 'closed' && s.outcome === 'ok');
}

/** stepWord says how a step ended, where that is not simply well. */
export function stepWord(s: StepView): string {
	const c = i18n.t.chat;
	const words: Record<string, string> = {
		waiting: c.waitsForYou,
		running: i18n.t.state.running,
		denied: c.denied,
		failed: c.failedStep,
		stopped: c.canceled,
		partly: c.unknown,
	};
	return words[stepState(s)] ?? '';
}

/** reportOf is a run as text, for an issue or a letter. */
export function reportOf(row: Row, view: RunView, now: number): string {
	const t = i18n.t.agents;
	const { run, steps, changes } = view;
	const quoted = run.text.trim().replace(/^/gm, '> ');
	const fact = (name: string, value: string) => (value ? [`- ${name}: ${value}`] : []);
	const line = (s: StepView, i: number) => {
		const { title, more } = titleOf(s);
		const took = tookOf(s, now);
		const parts = [clock(s.started_at ?? s.proposed_at), more ? `${title}: ${more}` : title, stepWord(s)];
		if (took !== undefined) parts.push(duration(took));
		if (s.context) parts.push(t.contextOf(tokens(s.context)));
		if (s.cost) parts.push(paid(s.cost));
		if (s.audit_seq) parts.push(i18n.t.chat.auditNo(count(s.audit_seq)));
		return `${i + 1}. ${parts.filter(Boolean).join(' · ')}`;
	};
	const cause = run.error ? i18n.said(run.error) : run.state === 'done' ? '' : run.end_reason;
	return [
		`# ${run.name} (pid ${run.pid})`,
		'',
		quoted,
		'',
		...fact(t.columns.state, stateOf(row)),
		...fact(t.cause, cause),
		...fact(t.facts.folder, shortPath(run.folder)),
		...fact(t.facts.model, run.model),
		...fact(t.facts.began, when(run.started_at ?? run.created_at)),
		...fact(t.facts.ended, run.ended_at ? when(run.ended_at) : ''),
		...fact(t.facts.used, usedOf(row.p)),
		'',
		`## ${t.timeline}`,
		'',
		...(steps.length > 0 ? steps.map(line) : [t.noSteps]),
		...(changes.length > 0 ? ['', `## ${i18n.t.changes.title}`, ''] : []),
		...changes.map((c) => `- \`${c.path}\` +${c.added} −${c.removed}`),
		'',
	].join('\n');
}

/** usedOf is what an agent used, in one line. */
export function usedOf(p: Process): string {
	const t = i18n.t.agents;
	const sum = tokensOf(p);
	return [t.turns(p.turns), sum && t.tokens(sum), costOf(p)].filter(Boolean).join(', ');
}
