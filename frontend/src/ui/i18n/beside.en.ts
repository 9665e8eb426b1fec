const n = (count: number, one: string, other: string) => `${count.toLocaleString('en')} ${count === 1 ? one : other}`;

/** beside holds the words of two notes side by side, of what agents do to an open note, of asking about it, and of moving it. */
export const beside = {
	beside: {
		split: 'Put a second note beside',
		close: 'Close this side',
		other: (name: string) => `Show the other side: ${name}`,
		next: 'Go to the other side',
		open: 'Open beside',
		width: 'Width of the first side',
		alsoSplit: 'split two panes columns side by side',

		changed: (agents: number) =>
			agents === 1 ? 'An agent changed this note' : `${agents.toLocaleString('en')} agents changed this note`,
		changedSaid: (agents: number, added: number, removed: number) =>
			`${agents === 1 ? 'An agent' : n(agents, 'agent', 'agents')} changed this note: ${n(added, 'line', 'lines')} added, ${removed.toLocaleString('en')} removed.`,
		lines: (added: number, removed: number) =>
			`+${added.toLocaleString('en')} −${removed.toLocaleString('en')} ${added + removed === 1 ? 'line' : 'lines'}`,
		quoted: (title: string) => `In “${title}”`,
		since: 'you have written since, so an older version brings it back',
		show: 'Show',
		hide: 'Hide',
		difference: 'Show the difference',
		agents: 'What the agent changed',
		theirs: 'From yours to theirs',
		dismiss: 'Dismiss',
		undone: (name: string) => `${name} is again as it was before the agent.`,

		ask: 'Ask about this note',
		askMenu: 'Ask about this note…',
		askSaveFirst: 'What you wrote is not saved yet, so nothing was asked. Your question is kept.',

		moveTo: 'Move to…',
		move: 'Move',
		moveOf: (name: string) => `Move ${name}`,
		renameOf: (name: string) => `Rename ${name}`,
		renameItem: 'Rename…',
		newNote: 'New note here…',
		newFolder: 'New folder…',
		folderName: 'Name of the folder',
		inFolder: (folder: string) => (folder ? `It lies in ${folder}.` : 'It lies at the top.'),
		deleteItem: 'Delete…',
		deleteFolder: 'Delete this folder?',
		deleteFolderWhy: (notes: number) =>
			notes === 0
				? 'No note lies in it.'
				: `${n(notes, 'note', 'notes')} in it ${notes === 1 ? 'goes' : 'go'} into the trash. Links to them stay and lead nowhere.`,
		actions: (name: string) => `Actions for ${name}`,
		keys: {
			split: 'Second note beside, or close it',
			next: 'To the other side',
			beside: 'Open beside',
			rename: 'Rename in the list',
			delete: 'Delete in the list',
			menu: 'Actions in the list',
		},
	},
};
