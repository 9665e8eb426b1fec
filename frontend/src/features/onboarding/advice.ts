/** Advice is a model that a machine can hold, as Ollama names it. */
export interface Advice {
	model: string;
	/** size is what is downloaded, in GB. */
	size: number;
}

/**
 * All of them use tools. The memory is the machine's, in MB: the model, its context of 32k tokens and what else runs
 * have to fit, and a model that just fits is slow without a graphics card.
 */
const models: (Advice & { memory: number })[] = [
	{ memory: 28_000, model: 'qwen3:14b', size: 9.3 },
	{ memory: 14_000, model: 'qwen3:8b', size: 5.2 },
	{ memory: 7_000, model: 'qwen3:4b', size: 2.5 },
	{ memory: 0, model: 'qwen3:1.7b', size: 1.4 },
];

/** adviceFor returns the largest model that fits; 0 is a memory that is not known. */
export function adviceFor(memoryMB: number): Advice {
	return models.find((m) => (memoryMB || 8_000) >= m.memory)!;
}

/** installLine is one line for the terminal that ends with the model in place. */
export function installLine(model: string, installed: boolean, platform = navigator.platform): string {
	const pull = `ollama pull ${model}`;
	if (installed) return pull;
	if (/Win/.test(platform)) return `winget install --exact --id Ollama.Ollama; ${pull}`;
	if (/Mac/.test(platform)) return `brew install ollama && brew services start ollama && ${pull}`;
	return `curl -fsSL https://ollama.com/install.sh | sh && ${pull}`;
}
