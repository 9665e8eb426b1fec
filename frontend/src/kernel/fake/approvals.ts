import type { AnswerInput, Approval, GrantInput, LabelQuery, Role } from '../api.gen';
import { no, type Core } from './core';
import { iso } from './data';
import { FakeAccess } from './access';
import { FakeGrants } from './grants';
import type { FakeRuns } from './runs';
import { FakeLabels } from './taint';
import { FakeTries } from './try';

/** FakeApprovals asks the person and keeps what they allow: once, as a kind, by a role. */
export class FakeApprovals {
	#grants = new FakeGrants();
	#tries = new FakeTries();
	#labels: FakeLabels;
	#access: FakeAccess;
	#runs: FakeRuns;
	#core: Core;

	constructor(core: Core, runs: FakeRuns) {
		this.#core = core;
		this.#runs = runs;
		this.#labels = new FakeLabels(() => core.world);
		this.#access = new FakeAccess(() => core.world.config.values.role ?? 'operator');
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'security.approvals': (q: { state?: string }) =>
			this.#core.world.approvals.filter((a) => !q.state || a.state === q.state),
		'security.approve': (aid: string, d: { hash: string; scope: string }) => {
			const a = this.#approval(aid);
			if (d.hash !== a.request.hash)
				throw no('conflict', 'This request changed since it was shown.', 'Look at it again.');
			return this.#runs.decide(a, { state: 'approved', scope: d.scope });
		},
		'agents.answer': (in_: AnswerInput) => {
			const a = this.#core.world.approvals.find((x) => x.state === 'pending' && x.request.run_id === in_.run_id);
			if (!a) throw no('conflict', 'That run asks nothing. Nothing was recorded.');
			return this.#runs.decide(a, { state: 'approved' });
		},
		'security.deny': (aid: string, comment: string) =>
			this.#runs.decide(this.#approval(aid), { state: 'denied', comment }),
		'security.revoke': (aid: string) => {
			const a = this.#core.world.approvals.find((x) => x.id === aid && x.state === 'approved');
			if (!a) throw no('conflict', 'There is nothing to take back.');
			Object.assign(a, { state: 'canceled', decided_at: iso() });
			this.#core.emit('approval', a, { run_id: a.request.run_id, session_id: a.request.session_id });
		},
		'security.labels': (q: LabelQuery) => this.#labels.list(q),
		'security.trustLabel': (id: string, on: boolean) => this.#labels.trust(id, on),
		'security.grants': (all: boolean) => this.#grants.list(all),
		'security.proposeGrant': (aid: string) => this.#grants.propose(this.#approval(aid)),
		'security.grant': (aid: string, g: GrantInput) => {
			const grant = this.#grants.give(this.#approval(aid), g);
			return { grant, approval: this.#runs.decide(this.#approval(aid), { state: 'approved', scope: 'once' }) };
		},
		'security.try': (aid: string, d: { hash: string }) => this.#tries.try(this.#approval(aid), d.hash),
		'security.tried': (aid: string) => this.#tries.tried(aid),
		'security.applyTry': (aid: string, d: { hash: string }) => {
			this.#tries.apply(aid, d.hash);
			return this.#runs.decide(this.#approval(aid), { state: 'approved', scope: 'once' });
		},
		'security.dropTry': (aid: string) => this.#tries.drop(aid),
		'security.revokeGrant': (gid: string) => this.#grants.revoke(gid),
		'security.permissions': () => this.#access.all(),
		'security.setRole': (role: Role) => this.#access.set(role),
		'security.deleteRole': (name: string) => this.#access.remove(name),
		'security.denyPath': (path: string) => this.#access.deny(path),
		'security.allowPath': (path: string) => this.#access.allow(path),
		'security.grantAddress': (address: string) => this.#access.open(address),
		'security.revokeAddress': (address: string) => this.#access.close(address),
		'security.policy': () => ({ ...this.#core.world.policy, mode: this.#core.world.config.values.mode }),
		'security.tools': () => this.#core.world.tools,
		'security.setTool': (name: string, on: boolean) => {
			for (const t of this.#core.world.tools) if (t.name === name) t.on = on;
		},
	};

	#approval(aid: string): Approval {
		const a = this.#core.world.approvals.find((x) => x.id === aid);
		if (!a) throw no('not_found', 'This request is gone.');
		return a;
	}
}
