const n = (count: number, one: string, other: string) => `${count.toLocaleString('en')} ${count === 1 ? one : other}`;

/** tryOut holds the words of trying a command on a copy of its folder. */
export const tryOut = {
	tryOut: {
		open: 'Try on a copy',
		running: 'Running on a copy of the folder, without a network',
		stop: 'Stop',
		title: 'Tried on a copy; nothing has changed yet',
		ended: (code: number, time: string) =>
			code === 0 ? `finished in ${time}` : `failed with exit code ${code} after ${time}`,
		output: 'Output',
		silent: 'It said nothing.',
		network: 'Network',
		asked: (hosts: string) => `asked for ${hosts}; the network was shut`,
		files: (count: number, size: string) =>
			count === 0 ? 'It changed no file.' : `${n(count, 'change', 'changes')}, ${size} to write`,
		does: { creates: 'makes', changes: 'changes', deletes: 'deletes', mode: 'permissions' } as Record<string, string>,
		show: (path: string) => `Show the difference of ${path}`,
		more: (count: number) => `and ${n(count, 'more', 'more')}`,
		conflict: 'Files were changed since this was tried, so it cannot be applied. Try it again.',
		impossible: 'Part of this cannot be applied. It can be approved without the copy.',
		apply: 'Apply',
		applyNote: 'does exactly this, and does not run it again',
		again: 'Try again',
		discard: 'Discard',
	},
};
