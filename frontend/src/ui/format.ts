import { i18n } from './i18n/index.svelte';

/** Money as a person reads it: small sums keep the digits that matter. */
export function money(usd: number): string {
	if (usd === 0) return '$0.00';
	if (usd < 0.0005) return '<$0.001';
	if (usd < 0.1) return `$${usd.toFixed(3)}`;
	return `$${usd.toFixed(2)}`;
}

/** paid says what calls cost; a part whose price nobody knows is named. */
export function paid(cost: { usd: number; free?: boolean; unknown?: boolean }): string {
	const t = i18n.t.chat;
	if (cost.free) return t.free;
	if (cost.unknown && cost.usd === 0) return t.priceUnknown;
	return money(cost.usd) + (cost.unknown ? ` + ${t.priceUnknown}` : '');
}

/** price of a million tokens. */
export function price(usd: number): string {
	return `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 3 : 2)}`;
}

/** tokens in thousands with one digit: 12.4k. */
export function tokens(count: number): string {
	if (count < 1000) return String(count);
	if (count < 1_000_000) return `${(count / 1000).toFixed(count < 100_000 ? 1 : 0)}k`;
	return `${(count / 1_000_000).toFixed(1)}M`;
}

/** contextSize of a model: 40k, 128k, 1M. */
export function contextSize(count: number): string {
	if (count >= 1_000_000) return `${Math.round(count / 100_000) / 10}M`;
	// 128000 and 131072 are both called 128k.
	return `${Math.round(count / (count % 1000 === 0 ? 1000 : 1024))}k`;
}

/** duration in the unit that a person would use. */
export function duration(ms: number): string {
	const u = i18n.t.units;
	if (ms < 950) return u.s((Math.max(ms, 100) / 1000).toFixed(1));
	if (ms < 9_950) return u.s((ms / 1000).toFixed(1));
	if (ms < 60_000) return u.s(String(Math.round(ms / 1000)));
	const total = Math.round(ms / 1000);
	if (total < 3600) return u.minS(Math.floor(total / 60), total % 60);
	return u.hMin(Math.floor(total / 3600), Math.floor((total % 3600) / 60));
}

/** span is a length that is a whole number of minutes, in the largest unit that is whole. */
export function span(secs: number): string {
	const u = i18n.t.units;
	return secs % 3600 === 0 ? u.h(secs / 3600) : u.min(secs / 60);
}

/** between two times, or undefined while one is missing. */
export function between(from: string | undefined, to: string | undefined): number | undefined {
	if (!from || !to) return undefined;
	const ms = Date.parse(to) - Date.parse(from);
	return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

/** clock is the time of day, 24 hours. */
export function clock(at: string): string {
	return new Date(at).toLocaleTimeString(i18n.language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
}

/** day counts calendar days from now: 0 today, -1 yesterday, 1 tomorrow. */
export function day(at: string, now = new Date()): number {
	const d = new Date(at);
	const midnight = (x: Date) => new Date(x.getFullYear(), x.getMonth(), x.getDate()).getTime();
	return Math.round((midnight(d) - midnight(now)) / 86_400_000);
}

/** when says a time with its day where that is not today. */
export function when(at: string): string {
	const t = i18n.t;
	const d = day(at);
	if (d === 0) return t.approval.atToday(clock(at));
	if (d === 1) return t.approval.atTomorrow(clock(at));
	const date = new Date(at).toLocaleDateString(i18n.language, { month: 'short', day: 'numeric' });
	return `${date}, ${clock(at)}`;
}

/** size in bytes, as people write it. */
export function size(bytes: number): string {
	if (bytes < 1000) return `${bytes} B`;
	if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} KB`;
	if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
	return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** count with separators. */
export function count(n: number): string {
	return n.toLocaleString(i18n.language);
}

/** baseName is the last part of a path. */
export function baseName(path: string): string {
	return path.split(/[\\/]/).filter(Boolean).pop() ?? path;
}

/** fileName makes a title the name of a file: without what no file system takes, and not hidden. */
export function fileName(title: string): string {
	const name = title.replace(/[\\/:*?"<>|\p{Cc}\s]+/gu, ' ').replace(/^[.\s]+/, '');
	return name.slice(0, 60).trim() || 'oxios';
}

/** shortPath writes the home of the person as ~. */
export function shortPath(path: string): string {
	return path.replace(/^\/(?:home|Users)\/[^/]+(?=\/|$)|^\/root(?=\/|$)/, '~');
}
