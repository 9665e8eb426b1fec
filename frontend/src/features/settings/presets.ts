import type { Provider } from '../../kernel/api.gen';

/** Preset fills the form for a kind of server that many people have. */
export interface Preset {
	id: string;
	name: string;
	kind: string;
	url: string;
	/** local servers need no key. */
	local: boolean;
}

export const presets: Preset[] = [
	{ id: 'openai', name: 'OpenAI', kind: 'openai', url: 'https://api.openai.com/v1', local: false },
	{ id: 'openrouter', name: 'OpenRouter', kind: 'openai', url: 'https://openrouter.ai/api/v1', local: false },
	{ id: 'ollama', name: 'Ollama', kind: 'ollama', url: 'http://127.0.0.1:11434/v1', local: true },
	{ id: 'lmstudio', name: 'LM Studio', kind: 'lmstudio', url: 'http://127.0.0.1:1234/v1', local: true },
	{ id: 'llamacpp', name: 'llama.cpp', kind: 'llamacpp', url: 'http://127.0.0.1:8080/v1', local: true },
	{ id: 'custom', name: '', kind: 'openai', url: '', local: false },
];

/** presetOf guesses what a provider was made from. */
export function presetOf(p: Pick<Provider, 'base_url'>): Preset {
	return presets.find((x) => x.url === p.base_url) ?? presets.at(-1)!;
}

/** host is the part of an address that a person recognises. */
export function host(url: string): string {
	return url.replace(/^https?:\/\//, '').replace(/\/+(v1\/?)?$/, '');
}
