import type { Provider } from '../../kernel/api.gen';

/** Preset fills the form for a provider that many people have. */
export interface Preset {
	id: string;
	name: string;
	kind: string;
	url: string;
	/** local servers need no key. */
	local: boolean;
	/** keys is the page where the provider gives out keys; without one the key may be left out. */
	keys?: string;
	/** lacks is set where the OpenAI-compatible address of a provider can do less than its own protocol. */
	lacks?: 'anthropic' | 'gemini';
}

function hosted(id: string, name: string, url: string, keys: string, lacks?: Preset['lacks']): Preset {
	return { id, name, kind: 'openai', url, local: false, keys, ...(lacks && { lacks }) };
}

function local(id: string, name: string, url: string): Preset {
	return { id, name, kind: id, url, local: true };
}

export const presets: Preset[] = [
	hosted('openai', 'OpenAI', 'https://api.openai.com/v1', 'https://platform.openai.com/api-keys'),
	hosted(
		'anthropic',
		'Anthropic',
		'https://api.anthropic.com/v1',
		'https://console.anthropic.com/settings/keys',
		'anthropic',
	),
	hosted(
		'gemini',
		'Google Gemini',
		'https://generativelanguage.googleapis.com/v1beta/openai',
		'https://aistudio.google.com/apikey',
		'gemini',
	),
	hosted('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/settings/keys'),
	hosted('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1', 'https://platform.deepseek.com/api_keys'),
	hosted('groq', 'Groq', 'https://api.groq.com/openai/v1', 'https://console.groq.com/keys'),
	hosted('mistral', 'Mistral', 'https://api.mistral.ai/v1', 'https://console.mistral.ai/api-keys'),
	hosted('xai', 'xAI', 'https://api.x.ai/v1', 'https://console.x.ai'),
	hosted('together', 'Together', 'https://api.together.xyz/v1', 'https://api.together.ai/settings/api-keys'),
	hosted(
		'fireworks',
		'Fireworks',
		'https://api.fireworks.ai/inference/v1',
		'https://app.fireworks.ai/settings/users/api-keys',
	),
	local('ollama', 'Ollama', 'http://127.0.0.1:11434/v1'),
	local('lmstudio', 'LM Studio', 'http://127.0.0.1:1234/v1'),
	local('llamacpp', 'llama.cpp', 'http://127.0.0.1:8080/v1'),
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

/** nameOf is the name that a provider gets when none is entered, "" while the address has no host. */
export function nameOf(url: string): string {
	try {
		return new URL(url.trim()).host;
	} catch {
		return '';
	}
}
