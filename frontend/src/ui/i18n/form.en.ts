/** form holds the words about what a server asks in the middle of a call. */
export const form = {
	form: {
		stranger: 'Words of the server',
		says: 'The server says',
		warn: 'The server gets what you send. Never enter a password or key.',
		warnOpen: 'The page opens in your browser. What you enter there stays between you and that site.',
		required: 'required',
		none: 'No answer',
		send: 'Send to server',
		sending: 'Sending…',
		decline: 'Decline',
		cancel: 'Cancel',
		host: 'Host',
		address: 'Address',
		open: (host: string) => `Open ${host}`,
		between: (min: number, max: number) => `From ${min} to ${max}`,
		least: (min: number) => `At least ${min}`,
		most: (max: number) => `At most ${max}`,
		letters: (min: number, max: number) => `${min} to ${max} characters`,
		lettersLeast: (min: number) => `At least ${min} characters`,
		lettersMost: (max: number) => `At most ${max} characters`,
		formats: { email: 'Email address', uri: 'Web address', date: 'Date', 'date-time': 'Date and time' } as Record<
			string,
			string
		>,
	},
};
