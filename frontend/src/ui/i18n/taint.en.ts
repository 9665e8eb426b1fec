/** taint holds the words of where what a run has read came from. */
export const taint = {
	taint: {
		read: 'Has read',
		outside: 'from outside',
		private: 'private',
		both: 'from outside, private',
		here: 'This step read something from outside or something private',
		trust: 'Trust this',
		trustOne: (what: string) => `Trust this as it is: ${what}`,
		trusted: 'You trust it as it is',
		takeBack: 'Take back',
		takeBackOne: (what: string) => `Do not trust this any more: ${what}`,
		more: (n: number) => `and ${n} more`,
	},
};
