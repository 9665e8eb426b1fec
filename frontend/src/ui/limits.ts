import { i18n } from './i18n/index.svelte';

/** Limits are what a role takes from its profile. */
export interface Limits {
	allowed_tools?: string[];
	denied_tools?: string[];
	allowed_paths?: string[];
	denied_paths?: string[];
	network_access: boolean;
	can_fork: boolean;
	denied_actions?: string[];
	max_execution_time_secs: number;
	max_memory_mb: number;
}

/** limitsOf tells what a role takes from its profile, one thing a text. */
export function limitsOf(r: Limits): string[] {
	const t = i18n.t.access.sums;
	const list = (of: string[]) => (of.length > 0 ? of.join(', ') : t.none);
	const out: string[] = [];
	if (r.allowed_tools) out.push(t.tools(list(r.allowed_tools)));
	if (r.denied_tools?.length) out.push(t.notTools(list(r.denied_tools)));
	if (r.allowed_paths) out.push(t.paths(list(r.allowed_paths)));
	if (r.denied_paths?.length) out.push(t.notPaths(list(r.denied_paths)));
	if (!r.network_access) out.push(t.network);
	if (!r.can_fork) out.push(t.fork);
	if (r.denied_actions?.includes('manage_agents')) out.push(t.manage);
	if (r.denied_actions?.includes('config_change')) out.push(t.settings);
	if (r.max_execution_time_secs > 0) out.push(t.seconds(r.max_execution_time_secs));
	if (r.max_memory_mb > 0) out.push(t.memory(r.max_memory_mb));
	return out;
}
