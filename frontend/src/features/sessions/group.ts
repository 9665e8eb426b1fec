import type { Session } from '../../kernel/api.gen';
import { day } from '../../ui/format';

export type GroupName = 'pinned' | 'today' | 'yesterday' | 'earlier';

/** grouped sorts conversations under the day on which they last changed. Groups without one are left out. */
export function grouped(list: Session[], now = new Date()): { name: GroupName; sessions: Session[] }[] {
	const of: Record<GroupName, Session[]> = { pinned: [], today: [], yesterday: [], earlier: [] };
	for (const s of list) {
		const d = day(s.updated_at, now);
		of[s.pinned ? 'pinned' : d >= 0 ? 'today' : d === -1 ? 'yesterday' : 'earlier'].push(s);
	}
	return (Object.keys(of) as GroupName[])
		.map((name) => ({ name, sessions: of[name] }))
		.filter((g) => g.sessions.length > 0);
}
