import { expect, it } from 'vitest';
import { hoursOf, quietUntil, toSetting, tomorrow } from './quiet';

const at = (day: number, hour: number, minute = 0) => new Date(2026, 2, day, hour, minute);
const having = (values: Record<string, string>) => (key: string) => values[key] ?? '';

it('quiet hours go over midnight, and end in the minute that they name', () => {
	const night = having({ quiet_hours: '22:00-07:00' });
	expect(quietUntil(night, at(4, 21, 59))).toBeUndefined();
	expect(quietUntil(night, at(4, 22))).toEqual(at(5, 7));
	expect(quietUntil(night, at(5, 0))).toEqual(at(5, 7));
	expect(quietUntil(night, at(5, 6, 59))).toEqual(at(5, 7));
	expect(quietUntil(night, at(5, 7))).toBeUndefined();
	const noon = having({ quiet_hours: '12:00-13:30' });
	expect(quietUntil(noon, at(4, 13, 29))).toEqual(at(4, 13, 30));
	expect(quietUntil(noon, at(4, 23))).toBeUndefined();
});

it('what ends last counts: the hours, or what was chosen for now', () => {
	const both = having({ quiet_hours: '22:00-07:00', quiet_until: toSetting(at(5, 8)) });
	expect(quietUntil(both, at(4, 23))).toEqual(at(5, 8));
	expect(quietUntil(both, at(4, 12))).toEqual(at(5, 8));
	expect(quietUntil(both, at(5, 8))).toBeUndefined();
	const late = having({ quiet_hours: '22:00-07:00', quiet_until: toSetting(at(4, 23)) });
	expect(quietUntil(late, at(4, 21))).toEqual(at(5, 7));
	expect(quietUntil(both, at(5, 23))).toEqual(at(6, 7));
});

it('no hours, or hours that cannot be read, are no quiet', () => {
	for (const value of ['', '22-7', '22:00', '25:00-07:00'])
		expect(quietUntil(having({ quiet_hours: value, quiet_until: 'soon' }), at(4, 23))).toBeUndefined();
	expect(hoursOf('22:00-07:00')).toEqual({ from: '22:00', until: '07:00' });
});

it('until tomorrow is the next morning, also late and at the end of a month', () => {
	expect(tomorrow(at(31, 23, 59))).toEqual(new Date(2026, 3, 1, 8));
	expect(toSetting(new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678)))).toBe('2026-01-02T03:04:05Z');
});
