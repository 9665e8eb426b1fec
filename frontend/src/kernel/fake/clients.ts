import type { Client, ClientAdded, ClientScope } from '../api.gen';
import { no, type Core } from './core';

const scope = (name: string, title: [string, string], about: [string, string]): ClientScope => ({
	...{ name, calls: [] },
	...{ title: { en: title[0], ko: title[1] }, about: { en: about[0], ko: about[1] } },
});

/** FakeClients are programs that use the fake kernel from outside. */
export class FakeClients {
	list: Client[] = [
		{
			...{ id: 'c1', name: 'Claude Desktop', scopes: ['read', 'run'] },
			...{ created_at: '2026-11-02T09:00:00Z', used_at: '2026-11-20T08:30:00Z' },
		},
		{ id: 'c2', name: 'Phone', scopes: ['read', 'approvals'], created_at: '2026-11-18T12:00:00Z' },
	];
	#core: Core;

	constructor(core: Core) {
		this.#core = core;
	}

	calls = {
		'clients.list': () => this.list,
		'clients.scopes': () => [
			scope(
				'read',
				['Read', '읽기'],
				[
					'Reads your notes, what Oxios remembers, runs and skills.',
					'노트, Oxios가 기억하는 내용, 실행, 스킬을 읽습니다.',
				],
			),
			scope(
				'run',
				['Run agents', '에이전트 실행'],
				[
					'Starts and stops runs. Your rules and approvals hold for them.',
					'실행을 시작하고 중지합니다. 설정한 규칙과 승인이 그대로 적용됩니다.',
				],
			),
			scope(
				'vault',
				['Write notes', '노트 쓰기'],
				[
					'Creates and changes notes. Every change can be undone.',
					'노트를 만들고 변경합니다. 모든 변경은 되돌릴 수 있습니다.',
				],
			),
			scope(
				'approvals',
				['Answer approvals', '승인 요청에 답하기'],
				[
					'This program then answers approval requests for you. It never answers for runs that a program started.',
					'이 프로그램이 승인 요청에 대신 답합니다. 프로그램이 시작한 실행의 요청에는 답하지 못합니다.',
				],
			),
		],
		'clients.add': (name: string, scopes: string[]): ClientAdded => {
			if (this.list.some((c) => c.name === name))
				throw no('conflict', `There is a program "${name}" already. Nothing was added.`);
			const client = { id: `c${this.list.length + 1}`, name, scopes, created_at: new Date().toISOString() };
			this.list = [...this.list, client];
			this.#core.emit('clients', name);
			return { client, token: 'oxios_fQ3kW0mY7r2PzJ8bT1nVxC5dH9sLgA4uE6iK' };
		},
		'clients.revoke': (id: string): Client => {
			const gone = this.list.find((c) => c.id === id);
			if (!gone) throw no('not_found', 'There is no such program. Nothing was changed.');
			this.list = this.list.filter((c) => c !== gone);
			this.#core.emit('clients', gone.name);
			return gone;
		},
	};
}
