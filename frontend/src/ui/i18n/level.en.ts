/** level holds the words of how far commands are held on this machine, from 0, not at all, to 3. */
export const level = {
	level: {
		words: ['Not contained', 'Limits only', 'Partly contained', 'Contained'],
		open: (level: number) => `Containment of commands, level ${level} of 3. Open the permissions`,
	},
};
