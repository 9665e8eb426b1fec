import CirclePlay from '@lucide/svelte/icons/circle-play';
import Copy from '@lucide/svelte/icons/copy';
import Download from '@lucide/svelte/icons/download';
import FileDiff from '@lucide/svelte/icons/file-diff';
import Hand from '@lucide/svelte/icons/hand';
import Pin from '@lucide/svelte/icons/pin';
import RotateCw from '@lucide/svelte/icons/rotate-cw';
import Square from '@lucide/svelte/icons/square';
import { open, type Conversation } from '../features/chat/conversation.svelte';
import type { Entry } from '../features/palette/palette.svelte';
import type { Session } from '../kernel/api.gen';
import type { Live } from '../kernel/live.svelte';
import { copyText } from '../ui/clipboard';
import { fileName } from '../ui/format';
import { i18n } from '../ui/i18n/index.svelte';
import { keysOf, shortcuts } from '../ui/keys';
import { also, attempt, entry } from './commands-entry';
import type { Shell } from './shell.svelte';

/** hereEntries are what can be done with the conversation on the screen. */
export function hereEntries(
	live: Live,
	shell: Shell,
	c: Conversation,
	session: Session | undefined,
	toCard: (sessionID: string) => void,
): Entry[] {
	const t = i18n.t.palette;
	const out: Entry[] = [];
	const last = c.runs.at(-1)?.run;
	if (live.approvals.of(c.id).length > 0) {
		out.push(
			entry('here', 'card', {
				title: t.card,
				also: also('waiting'),
				icon: Hand,
				keys: keysOf(shortcuts.card[0]),
				run: () => toCard(c.id),
			}),
		);
	}
	if (c.active) {
		const run = () => attempt(live, c.stop());
		out.push(entry('here', 'stop', { title: t.stop, also: also('stop'), icon: Square, keys: 'Esc', run }));
	} else if (last && !open(last)) {
		if (last.state !== 'done') {
			const run = () => attempt(live, c.continue(last.id));
			out.push(entry('here', 'continue', { title: t.continue, also: also('continue'), icon: CirclePlay, run }));
		}
		out.push(
			entry('here', 'again', {
				title: t.again,
				also: i18n.other.palette.again,
				icon: RotateCw,
				run: () => attempt(live, c.again(last.id)),
			}),
		);
	}
	if (c.changes.length > 0) {
		const title = shell.side ? t.hideChanges : t.changes;
		out.push(
			entry('here', 'changes', {
				title,
				also: `${i18n.other.palette.changes} diff`,
				icon: FileDiff,
				hint: String(c.changes.length),
				keys: keysOf(shortcuts.side[0]),
				run: () => shell.toggleSide(),
			}),
		);
	}
	if (session) {
		const pin = () => attempt(live, live.sessions.update(c.id, { pinned: !session.pinned }));
		const title = session.pinned ? t.unpin : t.pin;
		out.push(entry('here', 'pin', { title, also: i18n.other.palette.pin, icon: Pin, run: pin }));
	}
	out.push(
		entry('here', 'export', {
			title: t.export,
			also: `${also('export')} ${i18n.other.palette.export}`,
			icon: Download,
			page: 'export',
		}),
		entry('export', 'export:md', {
			title: t.markdown,
			within: 'export',
			icon: Download,
			run: () => save(live, c.id, 'md'),
		}),
		entry('export', 'export:json', {
			title: t.json,
			within: 'export',
			icon: Download,
			run: () => save(live, c.id, 'json'),
		}),
		entry('export', 'export:copy', { title: t.copyAll, within: 'export', icon: Copy, run: () => copy(live, c.id) }),
	);
	return out;
}

function save(live: Live, id: string, format: 'md' | 'json'): void {
	const title = live.sessions.get(id)?.title || i18n.t.sessions.untitled;
	const name = `${fileName(title)}.${format}`;
	const saved = live.files.save(id, format, { title: i18n.t.exporting.title, name });
	attempt(
		live,
		saved.then((ok) => ok && live.say('exported')),
	);
}

function copy(live: Live, id: string): void {
	const text = live.kernel.state.exportSession(id, 'md');
	attempt(
		live,
		text.then(copyText).then((ok) => live.say(ok ? 'chat_copied' : 'not_copied')),
	);
}
