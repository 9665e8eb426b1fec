const n = (count: number, one: string, other: string) => `${count.toLocaleString('en')} ${count === 1 ? one : other}`;

/** care holds the words of keeping the memories: finding them, putting them in order, and what was done. */
export const care = {
	tidied: {
		/** said is one line of what was done; it ends as a sentence. */
		said: (when: string, parts: string[]) =>
			parts.length === 0 ? `${when}: nothing had to be put in order.` : `${when}: ${parts.join(', ')}.`,
		lastNight: 'Last night',
		merged: (count: number) => n(count, 'duplicate merged', 'duplicates merged'),
		dated: (count: number) => n(count, 'date made exact', 'dates made exact'),
		replaced: (count: number) => n(count, 'fact replaced', 'facts replaced'),
		pruned: (count: number) => n(count, 'old memory set aside', 'old memories set aside'),
		cleared: (count: number) => n(count, 'old version deleted', 'old versions deleted'),
		show: 'Show',
		showWhy: 'Show what was done to the memories',
		title: 'What was put in order',
		why: 'No model was asked. What you pinned stays as it is, and what you wrote is never set aside.',
		kinds: {
			merged: 'Merged',
			dated: 'Date made exact',
			replaced: 'Replaced',
			pruned: 'Set aside',
			cleared: 'History deleted',
		} as { [kind: string]: string },
		clearedWhy: (count: number) =>
			`${n(count, 'version', 'versions')} of the history ${count === 1 ? 'was' : 'were'} deleted, beyond what is kept.`,
		before: 'Before',
		after: 'Now',
		prunedNow: 'Not given any more; deleted in 30 days',
		gone: 'It was forgotten since then.',
		undo: 'Undo',
		undoOf: (text: string) => `Undo: ${text}`,
		undone: 'Undone',
		notUndone: 'It was not undone',
		error: 'The report could not be read',
	},
	caring: {
		give: 'Memory',
		giveWhy:
			'Agents are given what fits a message. When this is off, nothing new is looked for either; nothing is deleted.',
		extract: 'Remember from conversations',
		extractWhy: (minutes: string) =>
			`When a conversation has rested for ${minutes} minutes, its own model is asked once what of it to remember. It is sent to no other.`,
		tokens: 'Tokens a day for it',
		tokensWhy:
			'When they are used up, conversations wait for the next day. Empty is no limit of its own; those of Limits and cost hold too.',
		curate: 'Put in order at night',
		curateWhy:
			'Merges what is said twice, makes dates exact and lets the newest hold. No model is asked, and each change can be undone.',
		hour: 'At',
		now: 'Put in order now',
		nowWhy: 'What it did is shown at once.',
		working: 'Putting in order',
	},
};
