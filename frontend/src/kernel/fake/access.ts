import type { KernelError, Permissions, Role, RoleView } from '../api.gen';
import { Failure } from '../transport';
import type { World } from './data';

const no = (code: string, message: string, hint = '') => new Failure({ code, message, hint } as KernelError);
const profiles = ['worker', 'standard', 'operator', 'supervisor'];
const rights: Record<string, string> = {
	worker: 'browser:RWX exec:RWX knowledge:RW',
	standard: 'browser:RWX exec:RWX knowledge:RW memory:R',
	operator: 'a2a:RWX agents:RWX browser:RWX exec:RWX knowledge:RW memory:RW',
	supervisor: 'a2a:RWX agents:RWX budget:RW cron:RWX exec:RWX security:RW',
};

const builtIn = (name: string): RoleView => ({
	name,
	profile: name,
	network_access: true,
	can_fork: true,
	max_execution_time_secs: 0,
	max_memory_mb: 0,
	built_in: true,
	changed: false,
	rights: rights[name] ?? '',
});

/** FakeAccess keeps the roles, the denied paths and the open addresses of the fake kernel. */
export class FakeAccess {
	#roles: RoleView[] = [
		...profiles.map(builtIn),
		{
			...builtIn('standard'),
			name: 'reviewer',
			allowed_tools: ['read', 'grep', 'find', 'ls'],
			network_access: false,
			max_execution_time_secs: 60,
			built_in: false,
			changed: true,
		},
	];
	#denied = ['~/taxes', '~/Documents/contracts'];
	#opened: string[] = [];
	#default: () => string;

	constructor(role: () => string) {
		this.#default = role;
	}

	all(): Permissions {
		return {
			role: this.#default(),
			roles: this.#roles,
			agents: [{ ...builtIn('supervisor'), name: 'helper', denied_tools: ['exec'], built_in: false, changed: true }],
			user: { ...builtIn('supervisor'), name: 'user', denied_paths: ['~/taxes'], built_in: false, changed: true },
			denied_paths: this.#denied,
			granted_addresses: this.#opened,
			profiles,
			path: '~/.oxios/config.toml',
		};
	}

	set(role: Role): Permissions {
		if (!/^[\w-]{1,40}$/.test(role.name))
			throw no('invalid', `"${role.name}" is no name for a role: it is of letters, digits, - and _.`);
		const view: RoleView = {
			...role,
			built_in: profiles.includes(role.name),
			changed: true,
			rights: rights[role.profile] ?? '',
		};
		this.#roles = this.#roles.some((r) => r.name === role.name)
			? this.#roles.map((r) => (r.name === role.name ? view : r))
			: [...this.#roles, view];
		return this.all();
	}

	remove(name: string): Permissions {
		this.#roles = profiles.includes(name)
			? this.#roles.map((r) => (r.name === name ? builtIn(name) : r))
			: this.#roles.filter((r) => r.name !== name);
		return this.all();
	}

	deny(path: string): Permissions {
		if (path === '~' || path === '/')
			throw no('invalid', `denied_paths has "${path}", which holds everything: agents could do nothing.`);
		this.#denied = [...this.#denied.filter((p) => p !== path), path];
		return this.all();
	}

	open(address: string): Permissions {
		if (!/^(10|127|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d./]+$/.test(address))
			throw no(
				'invalid',
				`${address} is not in your own network. Nothing was changed.`,
				'Public addresses need no grant.',
			);
		this.#opened = [...this.#opened.filter((a) => a !== address), address];
		return this.all();
	}

	close(address: string): Permissions {
		this.#opened = this.#opened.filter((a) => a !== address);
		return this.all();
	}

	allow(path: string): Permissions {
		this.#denied = this.#denied.filter((p) => p !== path);
		return this.all();
	}
}

/** uncontainedScene is a machine where nothing holds commands. */
export function uncontainedScene(w: World): void {
	w.status.isolation = 0;
	Object.assign(w.policy, { isolation: 0, problem: 'The kernel of this machine has no Landlock.' });
	for (const c of w.policy.canaries) Object.assign(c, { held: false, detail: '' });
	for (const a of w.approvals) Object.assign(a.request, { contained: 0, try: false });
}
