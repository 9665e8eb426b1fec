/** vault holds the words about where keys are kept: their passphrase, and those that older programs left in files. */
export const vault = {
	title: 'Keys',
	kept: (ring: number, file: number) =>
		ring + file === 0 ? 'No key is stored.' : `${ring} in the keyring, ${file} in the encrypted file.`,
	keptLocked: (ring: number) => `${ring} in the keyring; those in the encrypted file are locked.`,
	passphrase: 'Passphrase',
	none: 'Without one, the encrypted file protects copies of itself, not your account: what opens it lies beside it.',
	protected: 'The encrypted file opens only with it, once after each start of Oxios.',
	set: 'Set',
	change: 'Change',
	remove: 'Remove',
	locked: 'Your keys are locked',
	lockedWhy: 'What needs one of them fails until you give your passphrase. It is asked for once after each start.',
	unlock: 'Unlock',
	setTitle: 'Set a passphrase',
	changeTitle: 'Change the passphrase',
	removeTitle: 'Remove the passphrase',
	honest:
		'Nobody can recover it, neither you nor Oxios. If you forget it, the keys of the encrypted file are lost and have to be entered again. Copies of the folder that were made before still open without it. Keys in the keyring are not part of it.',
	current: 'Passphrase now',
	next: 'New passphrase',
	nextHint: 'At least 8 characters. Several words are easier to remember than signs.',
	again: 'Once more',
	differ: 'The two are not the same.',
	loose: (files: string) => `Unencrypted keys in ${files}`,
	looseWhy:
		'Taken over, a key goes to the keyring or the encrypted file, is used for its host alone, and leaves its file, which otherwise stays as it is. Other programs that read the file then ask for it.',
	looseOpen: 'Other users of this computer can read it. Have your provider give you new keys.',
	take: 'Take over',
	leave: 'Leave there',
	taken: (n: number) => (n === 1 ? 'One key was taken over.' : `${n} keys were taken over.`),
	refused: (file: string) => `Nothing is taken from ${file}`,
};
