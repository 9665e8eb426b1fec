import ArrowRightLeft from '@lucide/svelte/icons/arrow-right-left';
import Layers from '@lucide/svelte/icons/layers';
import Plus from '@lucide/svelte/icons/plus';
import SlidersHorizontal from '@lucide/svelte/icons/sliders-horizontal';
import type { Entry } from '../features/palette/palette.svelte';
import type { Session } from '../kernel/api.gen';
import type { Live } from '../kernel/live.svelte';
import { failureOf } from '../kernel/transport';
import { i18n } from '../ui/i18n/index.svelte';
import { hintOf, labelOf } from '../ui/space';

/** SpaceStage is what the entries about spaces can do on the screen. */
export interface SpaceStage {
	/** onScreen is the conversation on the screen. */
	onScreen: () => Session | undefined;
	/** look shows the conversations of a space, null of all. */
	look: (id: string | null) => void;
	create: () => void;
	manage: () => void;
}

/** spaceEntries are what the palette can do with the contexts of work. */
export function spaceEntries(live: Live, stage: SpaceStage): Entry[] {
	const t = i18n.t.spaces;
	const o = i18n.other.spaces;
	const { spaces } = live;
	const also = (words: string) => `${words} ${t.also} ${o.also}`;
	const out: Entry[] = [
		{ id: 'space:new', group: 'actions', title: t.create, also: also(o.create), icon: Plus, run: stage.create },
		{ id: 'spaces', group: 'goto', title: t.manage, also: also(o.manage), icon: SlidersHorizontal, run: stage.manage },
	];
	if (!spaces.any) return out;

	const switchTo = (id: string | null, name: string, other: string, hint: string): Entry => ({
		id: `space:${id === null ? '*' : id}`,
		group: 'space',
		title: t.palette.switchTo(name),
		also: o.palette.switchTo(other),
		within: 'space',
		icon: Layers,
		hint,
		current: spaces.chosen === id,
		run: () => stage.look(id),
	});
	out.push(
		{
			id: 'space',
			group: 'actions',
			title: t.palette.switch,
			also: also(o.palette.switch),
			icon: Layers,
			page: 'space',
		},
		switchTo(null, t.all, o.all, ''),
		...spaces.open.map((s) => switchTo(s.id, labelOf(s), labelOf(s), hintOf(s))),
		switchTo('', t.default, o.default, t.defaultWhy),
	);

	const session = stage.onScreen();
	if (!session) return out;
	out.push({
		id: 'move',
		group: 'here',
		title: t.palette.move,
		also: `${o.palette.move} ${t.palette.alsoMove} ${o.palette.alsoMove}`,
		icon: ArrowRightLeft,
		hint: labelOf(spaces.get(session.space)),
		page: 'move',
	});
	for (const s of [...spaces.open, undefined]) {
		const to = s?.id ?? '';
		const name = labelOf(s);
		out.push({
			id: `move:${to}`,
			group: 'move',
			title: t.palette.moveTo(name),
			also: o.palette.moveTo(s ? name : o.default),
			within: 'move',
			icon: ArrowRightLeft,
			hint: s ? hintOf(s) : t.defaultWhy,
			current: session.space === to,
			run: () => {
				if (session.space === to) return;
				spaces.move([session.id], to).then(
					() => live.note(t.moved(name)),
					(e: unknown) => live.tell(failureOf(e)),
				);
			},
		});
	}
	return out;
}
