/**
 * turns tells of readings that overlap which one is the newest: only that one may be shown. It returns what begins a
 * reading, which returns whether the reading is still the newest.
 */
export function turns(): () => () => boolean {
	let last = 0;
	return () => {
		const mine = ++last;
		return () => mine === last;
	};
}

/** once has a reading go on once at a time: whoever asks meanwhile shares the one reading that follows. */
export function once(read: () => Promise<void>): () => Promise<void> {
	let now: Promise<void> | undefined;
	let next: Promise<void> | undefined;
	const ask = (): Promise<void> => {
		if (now) return (next ??= now.then(ask));
		next = undefined;
		return (now = read().finally(() => (now = undefined)));
	};
	return ask;
}
