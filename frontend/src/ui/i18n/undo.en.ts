const n = (count: number, one: string, other: string) => `${count.toLocaleString('en')} ${count === 1 ? one : other}`;
const files = (count: number) => n(count, 'file', 'files');

/** undo holds the words of undoing what a run did to files. */
export const undo = {
	undoOpen: (count: number) => `Undo ${files(count)}…`,
	redoOpen: (count: number) => `Redo ${files(count)}…`,
	undone: (count: number) => `${files(count)} undone`,
	file: (name: string) => `Undo ${name}`,
	title: 'Undo what this run did?',
	titleRedo: 'Do again what was undone?',
	about: (ready: number, all: number) =>
		`${ready} of ${files(all)} ${ready === 1 ? 'goes' : 'go'} back to how ${ready === 1 ? 'it was' : 'they were'} before the run. What the run did not write stays untouched. This can be redone.`,
	aboutRedo: (ready: number, all: number) =>
		`${ready} of ${files(all)} ${ready === 1 ? 'becomes' : 'become'} again what ${ready === 1 ? 'it was' : 'they were'} before the undo. This can be undone.`,
	whose: 'Whose changes',
	family: 'With its agents',
	alone: 'This run alone',
	agents: (count: number, names: string) => `${n(count, 'agent is', 'agents are')} in it: ${names}.`,
	nothing: 'There is nothing to undo.',
	nothingRedo: 'There is nothing to redo.',
	loading: 'Looking at the files',
	working: 'An agent is still at work',
	stop: 'Stop it and look',
	error: 'It could not be looked at',
	does: { restores: 'goes back', returns: 'comes back', removes: 'is removed' } as Record<string, string>,
	conflicts: 'Not as the run left them',
	impossible: 'Cannot be put back',
	already: 'Stays as it is',
	left: 'Was not put back',
	differs: 'differs',
	keep: 'Keep mine',
	restore: 'Restore',
	choice: (path: string) => `What happens to ${path}`,
	kept: 'What is there now is kept first, and comes back with Redo.',
	show: (path: string) => `Show the difference of ${path}`,
	noText: 'Not text; no difference to show.',
	yes: (count: number) => `Undo ${files(count)}`,
	yesRedo: (count: number) => `Redo ${files(count)}`,
	done: (count: number) => `${files(count)} put back.`,
	doneRedo: (count: number) => `${files(count)} done again.`,
};
