const n = (count: number, one: string, other: string) => `${count.toLocaleString('en')} ${count === 1 ? one : other}`;

/** data holds the words of backup, restore, storage, deletion and export. */
export const data = {
	storage: {
		keeping: {
			title: 'How long things are kept',
			undo_days: 'Days to undo',
			undo_days_why: 'What a run did to files can be undone for so long.',
			journal_days: 'Days of journals',
			journal_days_why:
				'0 keeps them for ever. What was said and done stays; what tools gave goes, and with it replay.',
			audit_days: 'Days of the audit record',
			audit_days_why:
				'0 keeps it for ever. A signed line stands for what was older, so that the rest can still be verified.',
			audit_max_entries: 'Records of the audit record',
			audit_max_entries_why:
				'0 is no limit, otherwise at least 100. A signed line stands for the oldest ones, so that the rest can still be verified.',
			free: { undo: 'What can be undone', journal: 'Journals of runs' },
			freeWhy: {
				undo: 'Freeing it makes room. What runs did up to now cannot be undone then; files stay as they are.',
				journal: 'Freeing them makes room. Runs that have ended cannot be replayed then; conversations stay.',
			},
			freeName: { undo: 'Free now: Undo', journal: 'Free now: Journals' },
			freeNow: 'Free now…',
			freeYes: 'Free',
			freeTitle: { undo: 'Free what can be undone?', journal: 'Free the journals?' },
			freeUndo: (runs: number, files: number, bytes: string) =>
				`${n(runs, 'run', 'runs')} with ${n(files, 'file', 'files')} can no longer be undone; at most ${bytes} of content go. What agents at work need stays. This cannot be undone.`,
			freeJournal: (runs: number, steps: number, bytes: string) =>
				`${n(runs, 'run', 'runs')} can no longer be replayed; of ${n(steps, 'step', 'steps')} goes what they gave, about ${bytes}. What agents at work need, and runs that you can go on with, stays. This cannot be undone.`,
			freed: (bytes: string) => `${bytes} freed.`,
			nothing: 'There is nothing to free.',
			old: 'Records that are older',
			oldWhy: (records: string, since: string, until: string, bytes: string) =>
				`${records} records of ${since} to ${until}, about ${bytes}. They go by themselves within a day.`,
			prune: 'Take out now',
			pruning: 'Taking out',
			pruneTitle: (records: string) => `Take ${records} records out?`,
			pruneText: (left: string) =>
				`This cannot be undone. ${left} records stay. Export the record first if you may need what is older.`,
		},
		backup: 'Back up everything',
		backupWhy:
			'Conversations, settings, the audit record and files, in one file that is read back before it counts. Keys are never in it.',
		backupDo: 'Back up',
		backupTitle: 'Where should the backup go?',
		backingUp: 'Copying, then reading it back',
		backedUp: 'The backup is whole',
		backupHolds: (sessions: number, messages: number, files: number, records: number) =>
			`${n(sessions, 'conversation', 'conversations')}, ${n(messages, 'message', 'messages')}, ${n(files, 'file', 'files')}, ${n(records, 'audit record', 'audit records')}.`,
		restore: 'Restore a backup',
		asked: 'These can change what agents may do, or start programs. They stay out unless you choose them.',
		askedKind: { setting: 'Setting', provider: 'Provider', file: 'File' } as { [kind: string]: string },
		restoreWhy: 'Adds what is missing here. Nothing here is overwritten, and restoring twice adds nothing.',
		restoreDo: 'Choose a backup',
		restoreTitle: 'Which backup?',
		checking: 'Checking the whole backup',
		restoring: 'Adding what is missing',
		confirmTitle: 'Restore this backup?',
		confirmDo: 'Restore',
		madeAt: (when: string, version: string) => `Made ${when} by Oxios ${version}. It is whole.`,
		nothingNew: 'Everything in this backup is here already',
		nothingNewWhy: 'Nothing was changed.',
		restored: 'The backup was restored',
		kinds: { sessions: 'Conversations', files: 'Files', settings: 'Settings', memories: 'Memories', costs: 'Costs' },
		added: 'Added',
		toAdd: 'Missing here',
		present: 'Here already',
		kept: 'Different, kept as here',
		differ: (names: string) => `Different in the backup, kept as they are here: ${names}`,
		keys: (names: string) => `Keys are never in a backup. Enter again: ${names}`,
		archive: (count: string) => `Its audit record (${count} records) is kept apart, and the one here vouches for it.`,
		chainBad: 'The audit record was damaged before the backup was made. It was saved as it is.',
		failed: 'That did not work',
		size: 'What takes up room',
		total: (size: string, free: string) => `${size} in all. ${free} are free on this disk.`,
		reading: 'Measuring',
		files: (count: number) => n(count, 'file', 'files'),
		clean: 'Clean',
		cleaning: 'Cleaning',
		cleanName: (part: string) => `Clean: ${part}`,
		cleanTitle: (part: string, size: string) => `Remove ${part} (${size})?`,
		cleaned: (size: string) => `${size} were freed.`,
		again: 'Measure again',
		parts: {
			conversations: 'Conversations',
			journal: 'Journals of runs',
			changes: 'Changed files',
			audit: 'Audit record',
			spare: 'Spare room in the database',
			attachments: 'Attachments',
			workspace: 'Plans',
			undo: 'Undo',
			extensions: 'Extensions',
			files: 'Other files',
			settings: 'Settings',
			keys: 'Keys',
			copies: 'Older copies of the database',
			logs: 'Logs',
			cache: 'Caches',
		} as Record<string, string>,
		why: {
			conversations: 'Messages and the search index.',
			journal: 'The steps of runs and what they gave. They go after journal_days, or when you free them.',
			changes: 'Files as they were before and after a run. They go with their conversation.',
			audit: 'What agents did. What is older than you want goes behind a signed line.',
			spare: 'Used again by itself.',
			attachments: 'What you attached to messages. It goes with its conversation.',
			workspace: 'What was agreed on with agents, what came of it, and its history.',
			undo: 'What runs replaced, so that it can be undone. It goes by itself after a while (undo_days).',
			extensions: 'MCP servers: their tools, logs and files. They go with the server.',
			files: 'Everything else in the data folder.',
			settings: 'config.toml and the like.',
			keys: 'Encrypted. They are in no backup.',
			copies: 'From before an update or a repair. They may hold what you deleted since.',
			logs: 'What Oxios wrote about itself.',
			cache: 'What programs keep to be quicker the next time.',
		} as Record<string, string>,
		remains: {
			copies: 'You can no longer go back to the database from before an update. Conversations and settings stay.',
			logs: 'A report of a problem will know less. Conversations, settings and the audit record stay.',
			cache: 'Programs fetch it again when they need it. Conversations, settings and files stay.',
		} as Record<string, string>,
	},
	deletion: {
		what: (title: string, messages?: number) =>
			`“${title}”${messages ? ` with ${n(messages, 'message', 'messages')}` : ''} is removed. For ten seconds you can undo it; then its text is gone from the database.`,
		remains: 'What remains',
		filesStayAny: 'Files that it wrote stay where they are.',
		filesStay: (count: number) =>
			count === 0
				? 'It left no files.'
				: `${n(count, 'file', 'files')} that it wrote ${count === 1 ? 'stays' : 'stay'} where ${count === 1 ? 'it is' : 'they are'}.`,
		auditStaysAny: 'The audit record keeps what was done and decided, not the messages.',
		auditStays: (count: number) =>
			`The audit record keeps ${n(count, 'entry', 'entries')}: what was done and decided, not the messages.`,
		copiesStay: (count: number) =>
			`${n(count, 'older copy', 'older copies')} of the database may still hold it; Settings, Storage removes them. Backups that you made keep it.`,
		memoriesStay: (count: number) =>
			`${n(count, 'memory', 'memories')} from it ${count === 1 ? 'stays' : 'stay'} and ${count === 1 ? 'is' : 'are'} given to other conversations.`,
		memoriesToo: (count: number): string =>
			count === 1
				? 'Forget it too, at once; undo does not bring it back'
				: 'Forget them too, at once; undo does not bring them back',
		backupsStay: 'Backups that you made keep it.',
		deleted: (title: string) => `“${title}” was deleted.`,
		undo: 'Undo',
	},
	exporting: {
		md: 'Export as Markdown',
		json: 'Export as JSON',
		title: 'Where should the conversation go?',
	},
};
