/** suggest holds the words of the lists at the composer, of its keys, and of archived conversations. */
export const suggest = {
	suggest: {
		files: 'Files and folders',
		resources: 'Files, folders and resources of servers',
		fromServer: (server: string) => `from ${server}`,
		values: (prompt: string) => `Values for ${prompt}`,
		lacks: (names: string) => `Still needed: ${names}`,
		commands: 'Commands',
		/** names are what is typed behind the slash: one word, in small letters. */
		names: { new: 'new', model: 'model', mode: 'mode', export: 'export', shortcuts: 'help' },
		nothing: 'There is no file in this folder yet.',
		more: 'More fit. Type more of the name.',
		cut: 'This folder is very large, so not all of it was looked at. A file that is not here can be named by its path.',
		results: (count: number) => (count === 1 ? '1 suggestion' : `${count} suggestions`),
		keyMention: 'Name a file, a folder or a resource',
		keyCommand: 'Command, at the beginning',
		keyRecall: 'What was sent before, in the empty field',
	},
	archive: {
		title: 'Archived',
		archive: 'Archive',
		unarchive: 'Put back in the list',
		archived: (title: string) => `“${title}” was archived.`,
		undo: 'Undo',
	},
};
