import type { Folder, Model } from '../../kernel/api.gen';

/** Starter is the name of a first message that is offered on the home. */
export type Starter =
	| 'changed'
	| 'project'
	| 'sort'
	| 'look'
	| 'note'
	| 'plan'
	| 'check'
	| 'disk'
	| 'write'
	| 'explain'
	| 'ideas'
	| 'translate'
	| 'hello'
	| 'folder'
	| 'date'
	| 'push';

/** From how many files on sorting them is worth an offer. */
const MANY = 20;

/**
 * startersFor returns four that work here: with this model, in this folder. Nothing is looked for on the disk: the
 * chosen folder is known anyway, since runs work in it.
 */
export function startersFor(model?: Pick<Model, 'chat_only' | 'demo'>, folder?: Folder): Starter[] {
	if (model?.demo) return ['folder', 'hello', 'date', 'push'];
	if (model?.chat_only) return ['explain', 'write', 'ideas', 'translate'];
	if (folder?.git) return ['changed', 'project', 'disk', 'check'];
	const entries = folder?.exists ? folder.files + (folder.entries?.length ?? 0) : 0;
	if (entries === 0) return ['note', 'plan', 'check', 'explain'];
	return folder!.files >= MANY ? ['sort', 'look', 'disk', 'check'] : ['look', 'note', 'disk', 'check'];
}
