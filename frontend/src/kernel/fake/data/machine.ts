import type { Model, Provider, Status } from '../../api.gen';
import type { World } from './world';
import { HOUR, iso, paid } from './make';

/** limits are the settings that are numbers, with what they are at first. */
export const limits: [string, string][] = [
	['max_tool_calls', '25'],
	['max_tool_concurrency', '10'],
	['max_concurrent', '5'],
	['requests_per_minute', '0'],
	['window_secs', '0'],
	['exec_timeout_s', '120'],
	['zombie_timeout_secs', '300'],
	['max_memory_mb', '4096'],
	['max_disk_mb', '10000'],
	['cache_mb', '5000'],
	['undo_days', '30'],
	['journal_days', '0'],
	['audit_days', '90'],
	['audit_max_entries', '0'],
];

/** emptyStatus is a kernel at rest. */
export function emptyStatus(): Status {
	return {
		version: '0.1.0',
		home: '/home/minji/.oxios',
		owner: 'serve',
		pid: 4711,
		running: 0,
		waiting: 0,
		paused: false,
		audit_ok: true,
		audit: { en: '', ko: '' },
		audit_entries: 1219,
		today: { ...paid, usd: 0.42 },
		limits: { usd: 5 },
		isolation: 3,
		onboarded: true,
		has_model: true,
		demo: false,
		memory_mb: 15_872,
	};
}

/** catalogue are the providers of the day and their models. */
export function catalogue(w: World): void {
	const model = (m: Partial<Model> & { id: string; provider: string; provider_name: string }): Model => ({
		chat_only: false,
		free: false,
		favourite: false,
		default: false,
		demo: false,
		...m,
	});
	w.models.push(
		model({
			id: 'qwen3:14b',
			provider: 'ollama',
			provider_name: 'Ollama',
			context_length: 40_960,
			tools: true,
			images: false,
			reasoning: true,
			free: true,
			favourite: true,
			default: true,
		}),
		model({
			id: 'gemma3:4b',
			provider: 'ollama',
			provider_name: 'Ollama',
			context_length: 131_072,
			tools: false,
			images: true,
			chat_only: true,
			free: true,
		}),
		model({
			id: 'gpt-5-mini',
			provider: 'openai',
			provider_name: 'OpenAI',
			context_length: 400_000,
			tools: true,
			images: true,
			reasoning: true,
			price: { input: 0.25, cached_input: 0.025, output: 2 },
		}),
		model({ id: 'house-large', provider: 'work', provider_name: 'Work proxy', context_length: 0 }),
	);
	const provider = (p: Partial<Provider> & { id: string; name: string }): Provider => ({
		kind: 'openai',
		base_url: '',
		local: false,
		enabled: true,
		source: 'window',
		running: true,
		demo: false,
		...p,
	});
	w.providers.push(
		provider({
			id: 'ollama',
			name: 'Ollama',
			kind: 'ollama',
			base_url: 'http://127.0.0.1:11434/v1',
			local: true,
			source: 'discovered',
			where: '127.0.0.1:11434',
		}),
		provider({
			id: 'openai',
			name: 'OpenAI',
			base_url: 'https://api.openai.com/v1',
			key_tail: '4f2A',
			key_where: 'keyring',
			test: {
				model: 'gpt-5-mini',
				answers: true,
				latency_ms: 700,
				first_token_ms: 300,
				tools: true,
				images: true,
				context_length: 400_000,
				chat_only: false,
				at: iso(HOUR),
			},
		}),
		provider({
			id: 'work',
			name: 'Work proxy',
			base_url: 'https://llm.example.org/v1',
			enabled: false,
			key_tail: '77x0',
			key_where: 'keyring',
			test: {
				model: 'house-large',
				answers: false,
				latency_ms: 0,
				first_token_ms: 0,
				context_length: 0,
				chat_only: false,
				error: { code: 'auth', message: 'The key was refused.', hint: 'The server says “invalid_api_key”.' },
				at: iso(HOUR),
			},
		}),
	);
}
