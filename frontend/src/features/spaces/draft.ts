import type { SpaceInfo, SpaceInput, SpacePatch } from '../../kernel/api.gen';

/** Draft is a space as a person writes it: each field one text. */
export interface Draft {
	name: string;
	emoji: string;
	/** folder is "" for one of its own. */
	folder: string;
	/** words are divided by commas, paths by lines. */
	words: string;
	paths: string;
	instructions: string;
	/** model is "provider/model", "" as the settings say. */
	model: string;
	mode: string;
	role: string;
	shared: boolean;
}

export function draftOf(s?: SpaceInfo): Draft {
	return {
		name: s?.name ?? '',
		emoji: s?.emoji ?? '',
		folder: s?.folder ?? '',
		words: s?.words.join(', ') ?? '',
		paths: s?.paths.join('\n') ?? '',
		instructions: s?.instructions ?? '',
		model: s?.model ? `${s.provider}/${s.model}` : '',
		mode: s?.mode ?? '',
		role: s?.role ?? '',
		shared: s?.shared ?? false,
	};
}

const parts = (text: string, by: RegExp) =>
	text
		.split(by)
		.map((p) => p.trim())
		.filter(Boolean);

/** inputOf is the whole of what was written, as the kernel takes it. */
export function inputOf(d: Draft): Required<SpaceInput> {
	const at = d.model.indexOf('/'); // a model's id may have more of them, that of a provider has none
	return {
		name: d.name.trim(),
		emoji: d.emoji.trim(),
		folder: d.folder.trim(),
		words: parts(d.words, /[,\n]/),
		paths: parts(d.paths, /\n/),
		instructions: d.instructions.trim(),
		provider: at < 0 ? '' : d.model.slice(0, at),
		model: at < 0 ? '' : d.model.slice(at + 1),
		mode: d.mode,
		role: d.role,
		shared: d.shared,
	};
}

/** patchOf is what is other than in the space. */
export function patchOf(d: Draft, s: SpaceInfo): SpacePatch {
	const now = inputOf(d);
	const was = inputOf(draftOf(s));
	const patch: Record<string, unknown> = {};
	for (const key of Object.keys(now) as (keyof typeof now)[])
		if (JSON.stringify(now[key]) !== JSON.stringify(was[key])) patch[key] = now[key];
	return patch;
}
