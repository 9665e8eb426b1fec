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
