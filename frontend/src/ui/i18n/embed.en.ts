const f = (n: number) => n.toLocaleString('en');
const memories = (n: number) => `${f(n)} ${n === 1 ? 'memory' : 'memories'}`;

export const embed = {
	embed: {
		title: 'How memories are found',
		why: 'By their words always. An embedding model turns texts into numbers, so that they are also found by what they mean.',
		who: 'Provider',
		builtIn: 'Built in',
		here: 'on this computer',
		model: 'Model',
		modelHint: (example: string) => `Its name at the provider, like ${example}`,
		whyBuiltIn: 'Finds words, also in other forms. It needs no model, and nothing leaves this computer.',
		whyHere: (name: string) => `${name} runs on this computer: no text leaves it.`,
		whyAway: (name: string) => `The texts of all memories, and everything that is looked for, go to ${name}.`,
		whyMessages: 'That includes the beginning of each message, to find what matters to it.',
		test: 'Test',
		testing: 'Testing',
		tested: (numbers: number, ms: number) => `It works: ${f(numbers)} numbers for a sentence, in ${f(ms)} ms.`,
		use: 'Use it',
		used: 'In use',
		askTitle: (name: string) => `Send the memories to ${name}?`,
		ask: (name: string, count: number) =>
			`The texts of ${memories(count)} go to ${name} now, and each new one later, with everything that is looked for. What it costs stands in Limits and cost.`,
		askYes: 'Send them',
		progress: (done: number, total: number) => `${f(done)} of ${memories(total)} embedded`,
		all: (total: number, numbers: number) => `${memories(total)} embedded, ${f(numbers)} numbers each`,
		starting: 'Asking the model for its first vector',
		cut: (n: number) => `Of ${memories(n)} not all is embedded: passages are too long for the model.`,
		damaged: (n: number) =>
			n === 1
				? 'A vector could not be read, and is made anew.'
				: `${f(n)} vectors could not be read, and are made anew.`,
		failed: 'The memories cannot be embedded',
		failedWhy: 'They are found by their words meanwhile. It is tried again by itself.',
		again: 'Try again',
		words: 'Searches go by words for now',
		anew: 'Make anew',
		anewTitle: 'Make all vectors anew?',
		anewWhy: (total: number) =>
			`The vectors of ${memories(total)} are deleted and made again. Meanwhile they are found by their words.`,
		error: 'How the vectors stand could not be read',
	},
};
