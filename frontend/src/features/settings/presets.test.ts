import { describe, expect, it } from 'vitest';
import { en } from '../../ui/i18n/en';
import { ko } from '../../ui/i18n/ko';
import { nameOf, presetOf, presets } from './presets';

describe('a preset', () => {
	it.each([
		['OpenAI', 'https://api.openai.com/v1'],
		['Anthropic', 'https://api.anthropic.com/v1'],
		['Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai'],
		['OpenRouter', 'https://openrouter.ai/api/v1'],
		['DeepSeek', 'https://api.deepseek.com/v1'],
		['Groq', 'https://api.groq.com/openai/v1'],
		['Mistral', 'https://api.mistral.ai/v1'],
		['xAI', 'https://api.x.ai/v1'],
		['Together', 'https://api.together.xyz/v1'],
		['Fireworks', 'https://api.fireworks.ai/inference/v1'],
	])('for %s has its address and the page for a key', (name, url) => {
		const preset = presets.find((p) => p.name === name)!;
		expect(preset.url).toBe(url);
		expect(preset.keys).toMatch(/^https:\/\//);
		expect(presetOf({ base_url: url })).toBe(preset);
	});

	it('that can do less at its compatible address says what is missing', () => {
		for (const [words, thinking, caching] of [
			[en, 'Thinking', 'prompt caching'],
			[ko, '생각', '프롬프트 캐싱'],
		] as const) {
			for (const p of presets.filter((p) => p.lacks)) {
				expect(words.provider.lacks[p.lacks!]).toContain(thinking);
				expect(words.provider.lacks[p.lacks!]).toContain(caching);
			}
		}
		expect(presets.filter((p) => p.lacks).map((p) => p.id)).toEqual(['anthropic', 'gemini']);
	});
});

it('a name is derived from the host', () => {
	expect(nameOf(' https://models.example.com/v1')).toBe('models.example.com');
	expect(nameOf('http://127.0.0.1:8000/v1')).toBe('127.0.0.1:8000');
	expect(nameOf('models')).toBe('');
});
