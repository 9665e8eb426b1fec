import type { Entry } from '../features/palette/palette.svelte';
import type { Live } from '../kernel/live.svelte';
import { failureOf } from '../kernel/transport';
import { i18n } from '../ui/i18n/index.svelte';

export const entry = (group: Entry['group'], id: string, e: Omit<Entry, 'group' | 'id'>): Entry => ({
	group,
	id,
	...e,
});

/** also are the further words, in both languages, that an entry is found by. */
export function also(name: keyof typeof i18n.t.palette.also): string {
	return `${i18n.t.palette.also[name]} ${i18n.other.palette.also[name]}`;
}

/** attempt does what an entry stands for, and tells when it fails. */
export function attempt(live: Live, work: Promise<unknown>): void {
	work.catch((e: unknown) => live.tell(failureOf(e)));
}
