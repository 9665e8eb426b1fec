import type { Fallbacks } from '../api.gen';
import type { World } from './data';

/** setFallbacks keeps which models answer for one, as the kernel does. */
export function setFallbacks(world: World, provider: string, model: string, then: string[]): Fallbacks[] {
	const name = (id: string) => world.providers.find((p) => p.id === id);
	const rest = world.fallbacks.filter((f) => f.provider !== provider || f.model !== model);
	const line: Fallbacks = {
		provider,
		provider_name: name(provider)?.name ?? provider,
		model,
		local: name(provider)?.local ?? false,
		source: 'window',
		then: then.map((full) => {
			const [id = '', ...words] = full.split('/');
			const local = name(id)?.local ?? false;
			return {
				provider: id,
				provider_name: name(id)?.name ?? id,
				model: words.join('/'),
				local,
				crosses: !local && id !== provider,
			};
		}),
	};
	world.fallbacks = then.length > 0 ? [...rest, line] : rest;
	return world.fallbacks;
}
