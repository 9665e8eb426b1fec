import type { EmbedderTest, MemoryEmbedding } from '../api.gen';
import { no, type Core } from './core';
import { iso, type World } from './data';

/** Scripted providers embed at once, unless a scene says otherwise. */
const DIM: Record<string, number> = { 'nomic-embed-text': 768, 'text-embedding-3-small': 1536 };

/** embeddingScene has the memories embedded by a model of this machine, which is at it. */
export function embeddingScene(w: World): void {
	w.config.values.embedder = 'ollama/nomic-embed-text';
	w.embedding = { total: 1204, done: 312, running: true, since: iso(20_000), cut: 2 };
}

/** embeddingFails has no such model there. */
export function embeddingFails(w: World): void {
	embeddingScene(w);
	w.embedding = {
		...w.embedding,
		running: false,
		error: {
			code: 'unknown_model',
			message: 'Ollama does not know the model nomic-embed-text.',
			message_ko: 'Ollama에 nomic-embed-text 모델이 없습니다.',
			hint: 'Fetch it with `ollama pull nomic-embed-text`.',
			hint_ko: '`ollama pull nomic-embed-text`로 받으세요.',
		},
	};
}

/** embedderCalls are the calls about the vectors of memories. */
export function embedderCalls(fake: Core) {
	const view = (): MemoryEmbedding => {
		const embedder = fake.world.config.values.embedder ?? '';
		const total = fake.world.memories.filter((m) => !m.replaced_by).length;
		const [id, model] = embedder.split('/');
		const provider = fake.world.providers.find((p) => p.id === id);
		return {
			embedder,
			provider_name: provider?.name,
			local: provider?.local ?? true,
			dim: embedder ? (DIM[model ?? ''] ?? 1024) : 256,
			total,
			done: total,
			cut: 0,
			damaged: 0,
			running: false,
			since: null,
			error: null,
			query_error: null,
			query_until: null,
			...(embedder ? fake.world.embedding : {}),
		};
	};
	return {
		'memory.embedding': view,
		'memory.reembed': (): MemoryEmbedding => {
			if (!view().embedder)
				throw no('conflict', 'The built-in embedder keeps no vectors, so there is nothing to make anew.');
			const all = view();
			fake.world.embedding = { done: 0, running: true, since: iso() };
			void fake.rest(20).then(() => {
				fake.world.embedding = undefined;
				fake.emit('embedding', view());
			});
			return { ...all, done: 0, running: true };
		},
		'memory.tryEmbedder': async (embedder: string): Promise<EmbedderTest> => {
			await fake.rest(5);
			const [id, model] = embedder.split('/');
			const provider = fake.world.providers.find((p) => p.id === id);
			const found = { embedder, local: provider?.local ?? true, dim: DIM[model ?? ''] ?? 0, millis: 41 };
			if (found.dim) return found;
			const message = `${provider?.name ?? id} does not know the model ${model}.`;
			return { ...found, error: { code: 'unknown_model', message, hint: 'Choose another one.' } };
		},
	};
}
