/** provider holds the words of the form for a provider, and of the first start around it. */
export const provider = {
	provider: {
		nothingSaved: 'Nothing was saved.',
		saveUntested: 'Save without testing',
		saveAndTest: 'Save and test',
		saveUntestedWhy: 'You can save it anyway and test it later.',
		untested: 'Not tested',
		untestedWhy: 'Saved without testing. It has not answered yet. Test it when the server is running.',
		needsAddress: 'Enter the address of the server, for example https://models.example.com/v1.',
		badAddress: 'An address begins with http:// or https://, for example https://models.example.com/v1.',
		needsKey: (name: string) => `Enter a key. ${name} does not answer without one.`,
		getKey: 'Get a key',
		nameWhy: 'Leave empty to use the host of the address.',
		model: 'Model',
		modelWhy: 'Leave empty to use the first suitable model of the provider.',
		modelKeep: 'Leave empty to keep the model',
		offers: 'Available there:',
		testing: 'Testing…',
		testingWhy: (name: string) => `Waiting for an answer from ${name}.`,
		lacks: {
			anthropic:
				'Uses Anthropic’s OpenAI-compatible address. Thinking is not shown, and prompt caching is not available, so long conversations cost more.',
			gemini:
				'Uses Google’s OpenAI-compatible address. Thinking is not shown, and explicit prompt caching is not available.',
		},
		savedWhy: (address: string) => `Added by you: ${address}.`,
		savedAnswered: (model: string) => `${model} answered when you added it.`,
		connecting: (model: string) => `Connecting to ${model}`,
		connectingWhy: (host: string) => `Your environment names this model at ${host}. Oxios tests it once.`,
		chooseAnother: 'Choose another model',
		fromEnvironment: (model: string, host: string) => `Using ${model} at ${host}, as your environment says.`,
		fromEnvironmentFailed: (host: string) => `Your environment names ${host}.`,
	},
};
