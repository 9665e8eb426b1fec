import type { Role } from '../../kernel/api.gen';

/** Draft is a role on its way through the editor: numbers and lists as they are typed. */
export interface Draft {
	name: string;
	profile: string;
	someTools: boolean;
	tools: string[];
	paths: string;
	notPaths: string;
	network: boolean;
	fork: boolean;
	seconds: string;
	memory: string;
	/** kept are the rules that the editor does not show. */
	kept: Pick<Role, 'denied_tools' | 'denied_actions'>;
}

const lines = (text: string) =>
	text
		.split('\n')
		.map((l) => l.trim())
		.filter((l) => l !== '');
const number = (n: number) => (n > 0 ? String(n) : '');

/** draftOf opens a role in the editor; without one a new one that takes nothing away. */
export function draftOf(r?: Role): Draft {
	return {
		name: r?.name ?? '',
		profile: r?.profile ?? 'standard',
		someTools: r?.allowed_tools !== undefined,
		tools: r?.allowed_tools ?? [],
		paths: r?.allowed_paths?.join('\n') ?? '',
		notPaths: r?.denied_paths?.join('\n') ?? '',
		network: r?.network_access ?? true,
		fork: r?.can_fork ?? true,
		seconds: number(r?.max_execution_time_secs ?? 0),
		memory: number(r?.max_memory_mb ?? 0),
		kept: {
			...(r?.denied_tools && { denied_tools: r.denied_tools }),
			...(r?.denied_actions && { denied_actions: r.denied_actions }),
		},
	};
}

/** wrong says which number of a draft is none. */
export const wrong = (text: string) => text.trim() !== '' && !/^\d{1,7}$/.test(text.trim());

/** roleOf is what a draft says. Lists without a line are rules that are not there. */
export function roleOf(d: Draft): Role {
	const role: Role = {
		...d.kept,
		name: d.name.trim(),
		profile: d.profile,
		network_access: d.network,
		can_fork: d.fork,
		max_execution_time_secs: Number(d.seconds.trim()),
		max_memory_mb: Number(d.memory.trim()),
	};
	if (d.someTools) role.allowed_tools = d.tools;
	const [paths, notPaths] = [lines(d.paths), lines(d.notPaths)];
	if (paths.length > 0) role.allowed_paths = paths;
	if (notPaths.length > 0) role.denied_paths = notPaths;
	return role;
}
