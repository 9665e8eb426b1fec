import type { Approval, Grant, GrantInput, GrantProposal, KernelError } from '../api.gen';
import { Failure } from '../transport';

const no = (code: string, message: string, hint = '') => new Failure({ code, message, hint } as KernelError);

/** FakeGrants keeps the kinds of steps of the fake kernel. A command of one program is a kind; the others are refused. */
export class FakeGrants {
	#all: Grant[] = [];

	list(all: boolean): Grant[] {
		return this.#all.filter((g) => all || g.holds);
	}

	propose(a: Approval): GrantProposal {
		const r = a.request;
		const can = r.programs?.length === 1 && !/[|;&\n]/.test(r.command ?? '');
		const pattern = can ? `${(r.command ?? '').split(' ').slice(0, 2).join(' ')} *` : '';
		return {
			approval_id: a.id,
			hash: r.hash,
			can,
			why: can
				? { en: '' }
				: {
						en: 'Only one plain command can be allowed as a kind: no pipes, lists, redirections or variables.',
						ko: '단순한 명령 하나만 종류로 허용할 수 있습니다. 파이프, 여러 명령, 리디렉션, 변수는 안 됩니다.',
					},
			allows: { en: `\`${pattern}\` in ${r.dir ?? ''}. Other options still ask.` },
			pattern,
			executable: r.executable ?? '',
			dir: r.dir ?? '',
			network: r.network,
			looked: 12,
			covered: can ? [{ id: 'old', command: r.command ?? '', state: 'used', at: a.created_at }] : [],
		};
	}

	give(a: Approval, input: GrantInput): Grant {
		const p = this.propose(a);
		if (input.hash !== a.request.hash)
			throw no('conflict', 'This request changed since it was shown.', 'Look at it again.');
		if (!p.can)
			throw no('refused', 'This kind of step cannot be allowed beforehand. Nothing was decided.', 'Approve it once.');
		const at = Date.now();
		const grant: Grant = {
			id: `grant-${this.#all.length + 1}`,
			approval_id: a.id,
			scope: input.scope ?? '',
			kind: {
				call: a.request.call,
				program: a.request.programs?.[0] ?? '',
				executable: p.executable,
				digest: 'x',
				sub: [],
				options: [],
				operands: [],
				exact: false,
				dir: p.dir,
				folder: p.dir,
				network: p.network,
				read_only: false,
				project: false,
				settings: '',
				isolation: 2,
				pattern: p.pattern,
			},
			created_by: 'person',
			created_at: new Date(at).toISOString(),
			expires_at: new Date(at + (input.minutes ?? 480) * 60_000).toISOString(),
			uses: 0,
			holds: true,
		};
		this.#all = [grant, ...this.#all];
		return grant;
	}

	revoke(id: string): Grant {
		const grant = this.#all.find((g) => g.id === id && g.holds);
		if (!grant) throw no('conflict', 'There is nothing to take back: this grant has ended.');
		const ended: Grant = { ...grant, holds: false, ended_at: new Date().toISOString(), ended_by: 'person' };
		this.#all = this.#all.map((g) => (g.id === id ? ended : g));
		return ended;
	}
}
