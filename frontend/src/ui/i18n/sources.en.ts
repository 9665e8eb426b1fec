const n = (count: number, one: string, other: string) => `${count.toLocaleString('en')} ${count === 1 ? one : other}`;

/** sources holds the words of where notes lie, and of what comes from the web. */
export const sources = {
	notesPlace: {
		title: 'Folder of your notes',
		ownWhy:
			'The folder of Oxios itself. Every change is kept in its history (git), and backups hold it. A folder of yours, as one of Obsidian, can be used in its place.',
		theirsWhy:
			'A folder of yours. Oxios writes notes into it and nothing else: no history is kept there, and backups of Oxios leave it out. What agents changed can be undone as ever.',
		notes: (count: number) => n(count, 'note', 'notes'),
		history: 'every change kept in its history',
		noHistory: 'no history in git',
		show: 'Show the notes',
		choose: 'Choose another…',
		back: 'Back to Oxios’s own',
		error: 'The state of your notes could not be read',
		journal: 'Journal',
		journalWhy: 'The note of a day, which is made when you or an agent first writes in it.',
		folder: 'Folder in the notes',
		folderWhy: 'A dot puts it beside the others.',
		format: 'Name of a day',
		formatWhy: 'YYYY, MM, DD, ddd and the like, as in Obsidian; text in [brackets] stands as it is.',
		template: 'What a new one begins with',
		templateWhy: '{{title}}, {{date}} and {{time}} are filled in.',
		day: 'Today’s note would be',
		dayThere: 'Today’s note is there already and stays as it is; another day’s begins so',
		emptyDay: 'It begins empty.',
		discard: 'Discard',
		import: 'Import…',
		check: 'Check…',
		checkWhy: 'Looks for links that lead nowhere, files that cannot be read and names that another system forbids.',
	},
	pages: {
		web: 'From the web',
		searched: 'Searched the web',
		outside: 'Open in your browser',
		save: 'Save to vault',
		saveNow: 'Read it again and save',
		saving: 'Saving…',
		gone: 'The journal of this run does not hold what the page said any more.',
		saved: (path: string) => `Saved as ${path}`,
		open: 'Open',
		undo: 'Undo',
	},
};
