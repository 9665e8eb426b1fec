import type { Held, InboxRun } from '../../kernel/api.gen';
import { clock, day } from '../../ui/format';
import { i18n } from '../../ui/i18n/index.svelte';

/** How much of an answer is shown before the conversation is opened, in characters. */
const BEGINNING = 1500;

/** plainLine is the first line of an answer that says something, without the marks of Markdown. */
export function plainLine(answer: string): string {
	for (const line of answer.split('\n')) {
		const text = line
			.replace(/^\s*(#+|>|[-*+]|\d+\.)\s+/, '')
			.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
			.replace(/[*`~|]+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '')
			.trim();
		if (/[\p{L}\p{N}]/u.test(text)) return text;
	}
	return '';
}

/** waits says in a few words which runs something holds up. */
export function waits(h: Held): string {
	return h.count === 1 ? (h.runs[0]?.name ?? '') : i18n.t.inbox.agents(h.count);
}

/** happened says in a few words what came of a run. */
export function happened(r: InboxRun): string {
	if (r.run.state === 'failed' && r.run.error) return i18n.either(r.run.error.message, r.run.error.message_ko);
	if (r.run.state !== 'done') return i18n.t.state[r.run.state as 'failed'] ?? r.run.state;
	if (r.run.not_met) return i18n.t.state.not_met;
	const files = r.files > 0 ? i18n.t.inbox.files(r.files) : '';
	return [files, plainLine(r.answer)].filter(Boolean).join(' · ') || i18n.t.state.done;
}

/** beginning is the first part of an answer, whole paragraphs if possible, and whether more follows. */
export function beginning(answer: string): { text: string; more: boolean } {
	if (answer.length <= BEGINNING) return { text: answer, more: false };
	const part = answer.slice(0, BEGINNING);
	const end = part.lastIndexOf('\n\n');
	const text = end > BEGINNING / 3 ? part.slice(0, end) : part.slice(0, part.lastIndexOf(' ') + 1 || BEGINNING);
	// A fence that was left open would make code of everything.
	return { text: (text.match(/^```/gm) ?? []).length % 2 === 1 ? `${text}\n\`\`\`` : text, more: true };
}

/** stamp is a time in a list: of today the clock, of this week the day, else the date. */
export function stamp(at: string, now = new Date()): string {
	const ago = -day(at, now);
	if (ago <= 0) return clock(at);
	const how: Intl.DateTimeFormatOptions = ago < 7 ? { weekday: 'short' } : { month: 'short', day: 'numeric' };
	return new Date(at).toLocaleDateString(i18n.language, how);
}
