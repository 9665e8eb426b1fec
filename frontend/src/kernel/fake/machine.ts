import type { Autostart, Code, Model, Provider, TestReport, Trial, Words } from '../api.gen';
import { type Core } from './core';
import { id, iso } from './data';
import { setFallbacks } from './fallbacks';
import { emptyPart, freeable, makeStorage } from './storage';

/** faultOf is what a provider with a made-up mistake answers with. */
function faultOf(p: Provider & { key?: string }, model: string) {
	const said = (code: Code, message: string, hint: string, message_ko: string, hint_ko: string) => ({
		code,
		message,
		hint,
		message_ko,
		hint_ko,
	});
	if (p.base_url.includes(':1/'))
		return {
			field: 'address',
			models: [],
			error: said(
				'network',
				`Nothing answers at ${p.base_url}.`,
				'Check the address, or whether the server runs.',
				`${p.base_url}에 응답이 없습니다.`,
				'주소가 맞는지, 서버가 실행 중인지 확인하세요.',
			),
		};
	if (p.key?.includes('wrong'))
		return {
			field: 'key',
			models: [],
			error: said(
				'auth',
				`${p.name} refused the key.`,
				'Check the key.',
				`${p.name}: 키를 거부했습니다.`,
				'키를 확인하세요.',
			),
		};
	if (model === 'none')
		return {
			field: 'model',
			models: ['gpt-5', 'gpt-5-mini'],
			error: said(
				'unknown_model',
				`${p.name} does not know the model none.`,
				'Choose another one.',
				`${p.name}: none 모델을 모릅니다.`,
				'다른 모델을 고르세요.',
			),
		};
	return undefined;
}

/** FakeMachine is what the kernel knows of itself and of its machine: settings, models, storage. */
export class FakeMachine {
	/** bare is a machine without any model. */
	bare = false;
	#kept: Record<string, string> = {};
	#autostart: Autostart = { on: false, entry: '/home/minji/.config/autostart/oxios.desktop' };
	#storage = makeStorage();
	#core: Core;

	constructor(core: Core) {
		this.#core = core;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'infra.storage': () => this.#storage,
		'infra.clean': (part: string) => {
			const before = this.#storage.bytes;
			this.#storage = emptyPart(this.#storage, part);
			return { part, freed: before - this.#storage.bytes, storage: this.#storage };
		},
		'infra.freeCut': (part: string) => freeable(this.#storage, part),
		'infra.free': (part: string) => {
			const cut = freeable(this.#storage, part);
			this.#storage = emptyPart(this.#storage, part);
			return { ...cut, freed: cut.bytes, storage: this.#storage };
		},
		'agents.pause': (on: boolean) => {
			this.#core.world.status.paused = on;
			this.#core.announce();
			return this.#core.world.status;
		},
		'infra.status': () => this.#core.world.status,
		'infra.config': () => this.#core.world.config,
		'infra.autostart': () => this.#autostart,
		'infra.setAutostart': (on: boolean) => (this.#autostart = { ...this.#autostart, on }),
		'infra.providers': () =>
			this.#core.world.providers.map((p) => ({
				...p,
				models: this.#core.world.models.filter((m) => m.provider === p.id),
			})),
		'infra.models': (q: { search?: string }) => this.#core.world.models.filter((m) => m.id.includes(q.search ?? '')),
		'infra.saveProvider': (p: Provider & { key?: string }) => {
			const old = this.#core.world.providers.find((x) => x.id === p.id);
			const { key, ...rest } = p;
			const next: Provider = {
				...(old ?? { kind: 'openai', source: 'window', local: false, enabled: true, running: true, demo: false }),
				...rest,
				name: rest.name || new URL(rest.base_url).host,
				id: old?.id ?? id('provider'),
			} as Provider;
			if (key) Object.assign(next, { key_tail: key.slice(-4), key_where: 'keyring', test: undefined });
			this.#core.world.providers = old
				? this.#core.world.providers.map((x) => (x.id === next.id ? next : x))
				: [...this.#core.world.providers, next];
			this.#core.emit('provider', next);
			return next;
		},
		'infra.tryProvider': async (p: Provider & { key?: string; model?: string }, save: boolean): Promise<Trial> => {
			await this.#core.rest(30);
			const fault = faultOf(p, p.model ?? '');
			const report: TestReport = {
				model: p.model || 'gpt-5-mini',
				answers: !fault,
				latency_ms: fault ? 0 : 900,
				first_token_ms: fault ? 0 : 200,
				context_length: fault ? 0 : 128_000,
				chat_only: false,
				at: iso(),
				...(fault ? { error: fault.error } : { tools: true, images: true }),
			};
			if (fault || !save) return { report, ...(fault && { field: fault.field, models: fault.models }) };
			const saved = (await this.calls['infra.saveProvider']!(p)) as Provider;
			saved.test = report;
			return { report, saved };
		},
		'infra.removeProvider': (pid: string) => {
			this.#core.world.providers = this.#core.world.providers.filter((p) => p.id !== pid);
			this.#core.world.models = this.#core.world.models.filter((m) => m.provider !== pid);
		},
		'infra.setFavourite': (p: string, m: string, on: boolean) => {
			for (const x of this.#core.world.models) if (x.provider === p && x.id === m) x.favourite = on;
		},
		'infra.useModel': (p: string, m: string) => {
			for (const x of this.#core.world.models) x.default = x.provider === p && x.id === m;
			Object.assign(this.#core.world.config.values, { provider: p, model: m });
			this.#core.world.status.has_model = true;
			this.#core.emit('config', this.#core.world.config);
		},
		'infra.fallbacks': () => this.#core.world.fallbacks,
		'infra.setFallbacks': (p: string, m: string, then: string[]) => setFallbacks(this.#core.world, p, m, then),
		'infra.testProvider': async (pid: string) => {
			await this.#core.rest(30);
			const p = this.#core.world.providers.find((x) => x.id === pid);
			const bad = pid === 'work';
			const test: TestReport = {
				model: 'qwen3:14b',
				answers: !bad,
				latency_ms: bad ? 0 : 900,
				first_token_ms: 200,
				tools: bad ? undefined : true,
				images: bad ? undefined : false,
				context_length: 40_960,
				chat_only: false,
				at: iso(),
				error: bad
					? { code: 'auth', message: 'The key was refused.', hint: 'The server says “invalid_api_key”.' }
					: undefined,
			};
			if (p) p.test = test;
			return test;
		},
		'infra.discover': () => this.#discover(),
		'infra.startDemo': () => {
			const p: Provider = {
				id: 'demo',
				name: 'Demo',
				kind: 'openai',
				base_url: 'http://127.0.0.1:40001/v1',
				local: true,
				enabled: true,
				source: 'demo',
				running: true,
				demo: true,
			};
			this.#core.world.providers.push(p);
			this.#core.world.models.push({
				id: 'demo',
				provider: 'demo',
				provider_name: 'Demo',
				tools: true,
				chat_only: false,
				free: true,
				favourite: false,
				default: true,
				demo: true,
			});
			Object.assign(this.#core.world.status, { demo: true, has_model: true });
			Object.assign(this.#core.world.config.values, { provider: 'demo', model: 'demo' });
			this.#core.emit('config', this.#core.world.config);
			this.#core.emit('provider', p);
			this.#core.announce();
			return p;
		},
		'infra.finishOnboarding': () => {
			this.#core.world.status.onboarded = true;
			this.#core.announce();
		},
		'infra.reportFocus': () => undefined,
		'infra.reconnect': () => {
			delete this.#core.world.status.offline;
			delete this.#core.world.status.held;
			this.#core.announce();
			return this.#core.world.status;
		},
		'infra.kept': () => this.#kept,
		'infra.keep': (key: string, value: string) => {
			this.#kept[key] = value;
		},
	};

	async #discover() {
		await this.#core.rest(20);
		if (this.bare) return [];
		const base = { kind: 'ollama', local: true, enabled: true, source: 'discovered', running: true, demo: false };
		const models = (p: string, name: string, ...ids: string[]): Model[] =>
			ids.map((m) => ({
				id: m,
				provider: p,
				provider_name: name,
				chat_only: false,
				free: true,
				favourite: false,
				default: false,
				demo: false,
				tools: true,
			}));
		const found: { provider: Provider; source: string; running: boolean; problem?: Words }[] = [
			{
				provider: {
					...base,
					id: 'ollama',
					name: 'Ollama',
					base_url: 'http://127.0.0.1:11434/v1',
					models: models('ollama', 'Ollama', 'qwen3:14b'),
				},
				source: 'Ollama',
				running: true,
			},
			{
				provider: {
					...base,
					id: 'openai',
					name: 'OpenAI',
					kind: 'openai',
					local: false,
					base_url: 'https://api.openai.com/v1',
					source: 'environment',
					key_where: 'environment',
				},
				source: 'OPENAI_API_KEY',
				running: false,
			},
			{
				provider: {
					...base,
					id: 'lmstudio',
					name: 'LM Studio',
					kind: 'lmstudio',
					base_url: 'http://127.0.0.1:1234/v1',
					models: [],
				},
				source: 'LM Studio',
				running: true,
				problem: {
					en: 'LM Studio runs, but has no model yet. Download one in it first.',
					ko: 'LM Studio이(가) 실행 중이지만 아직 모델이 없습니다. 먼저 그 안에서 모델을 내려받으세요.',
				},
			},
		];
		for (const f of found) {
			if (!this.#core.world.providers.some((p) => p.id === f.provider.id)) this.#core.world.providers.push(f.provider);
			for (const m of f.provider.models ?? [])
				if (!this.#core.world.models.some((x) => x.id === m.id)) this.#core.world.models.push(m);
		}
		return found;
	}
}
