/** hours are two times of the clock on the wall, as config.toml has them. */
const hours = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/;

/** hoursOf reads quiet_hours; undefined when there are none. */
export function hoursOf(setting: string): { from: string; until: string } | undefined {
	const [, from, until] = hours.exec(setting) ?? [];
	return from && until ? { from, until } : undefined;
}

/** overAt is when the quiet hours end in which a time falls, or undefined outside of them. */
function overAt(setting: string, time: Date): Date | undefined {
	const h = hoursOf(setting);
	if (!h) return undefined;
	const at = `${String(time.getHours()).padStart(2, '0')}:${String(time.getMinutes()).padStart(2, '0')}`;
	const inside = h.from < h.until ? h.from <= at && at < h.until : h.from <= at || at < h.until;
	if (!inside) return undefined;
	const [hour = 0, minute = 0] = h.until.split(':').map(Number);
	return new Date(time.getFullYear(), time.getMonth(), time.getDate() + (h.until <= at ? 1 : 0), hour, minute);
}

/** quietUntil is when the notices come again, or undefined while they come. It reads the settings as the kernel does. */
export function quietUntil(setting: (key: string) => string, now: Date): Date | undefined {
	const chosen = new Date(setting('quiet_until'));
	const asked = chosen > now ? chosen : undefined;
	return overAt(setting('quiet_hours'), asked ?? now) ?? asked;
}

/** tomorrow is 08:00 of the next day. */
export function tomorrow(now: Date): Date {
	return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 8);
}

/** toSetting writes a time as quiet_until wants it, to the second. */
export function toSetting(at: Date): string {
	return at.toISOString().replace(/\.\d+Z$/, 'Z');
}
