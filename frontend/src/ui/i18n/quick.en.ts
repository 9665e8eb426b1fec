/** quick holds the words of the quick prompt and of the keys that open it. */
export const quick = {
	quick: {
		title: 'Quick prompt',
		ask: 'Ask Oxios',
		askOn: 'Ask on',
		open: 'open in the window',
		starting: 'Oxios is starting. Your question goes out as soon as it runs.',
		waits: (title: string) => `Waits for you: ${title}`,
		inWindow: 'It is decided in the window, where all of it can be seen.',
		also: 'ask small window spotlight hotkey',
		hotkey: 'Open by keys, wherever you are',
		states: {
			off: 'Off. The tray and the palette open it.',
			asking: 'Your desktop is being asked for these keys.',
			works: (keys: string) => `${keys} works.`,
			taken: (keys: string) =>
				`${keys} belongs to another program, so it does not reach Oxios. Choose other keys, or bind the command below.`,
			bind: 'This desktop gives keys to no program. Bind the command below in its own settings.',
			none: 'On this system Oxios cannot hold keys yet. The tray and the palette open it.',
			browser: 'Only the program with the window holds keys. This page belongs to oxios serve.',
		},
		keys: 'Keys',
		keysWhy: 'Ctrl, Alt or Super, and Space, a letter, a digit, or F1 to F12.',
		command: 'Command to bind',
		commandWhy: 'For the keyboard settings of your desktop.',
		inPrompt: 'In the quick prompt',
		clear: 'Clear, then close',
		openKeys: 'Open in the window',
	},
};
