import type { Span } from '../../kernel/api.gen';

/** pastedInput says that an edit of a field brought text that nobody typed there: pasted, dropped, or brought back by an undo. */
export function pastedInput(e: Event): boolean {
	const kind = e instanceof InputEvent ? e.inputType : '';
	return kind.startsWith('insertFrom') || kind.startsWith('history');
}

/**
 * follow carries over which parts of a text were pasted when it is edited. end is where the caret is behind what came in,
 * where that is known; with pasted that is pasted too.
 */
export function follow(spans: readonly Span[], was: string, is: string, pasted: boolean, end = -1): Span[] {
	let tail = end < 0 ? 0 : Math.min(is.length - end, was.length);
	if (end < 0) while (tail < was.length && tail < is.length && was.at(-1 - tail) === is.at(-1 - tail)) tail++;
	let head = 0;
	const most = Math.min(was.length, is.length) - tail;
	while (head < most && was[head] === is[head]) head++;
	const moved = is.length - was.length;
	const behind = was.length - tail;
	const out = spans
		.map(({ from, to }) => ({
			from: from <= head ? from : from >= behind ? from + moved : head,
			to: to <= head ? to : to >= behind ? to + moved : is.length - tail,
		}))
		.filter((s) => s.from < s.to);
	if (pasted && head < is.length - tail) out.push({ from: head, to: is.length - tail });
	return out.sort((a, b) => a.from - b.from);
}

/** trimmed is a text without the room around it, and the same parts of it. */
export function trimmed(text: string, spans: readonly Span[]): { text: string; spans: Span[] } {
	const begun = text.trimStart();
	const is = begun.trimEnd();
	return { text: is, spans: follow(follow(spans, text, begun, false, 0), begun, is, false) };
}
