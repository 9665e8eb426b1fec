import { clock, day } from '../../ui/format';
import { i18n } from '../../ui/i18n/index.svelte';

/** lately is when a space was used: of today the clock, else the day; of this year without the year. */
export function lately(at: string, now = new Date()): string {
	if (day(at, now) === 0) return clock(at);
	const d = new Date(at);
	const year = d.getFullYear() === now.getFullYear() ? {} : ({ year: 'numeric' } as const);
	return d.toLocaleDateString(i18n.language, { day: 'numeric', month: 'short', ...year });
}
