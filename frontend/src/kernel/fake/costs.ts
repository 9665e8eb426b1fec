import type { BudgetChange, BudgetLine, BudgetView, Cost, CostView, Limits, RunCost } from '../api.gen';
import { iso, type World } from './data';

const cost = (of: Partial<Cost>): Cost => ({
	calls: 0,
	input: 0,
	output: 0,
	cached: 0,
	reasoning: 0,
	usd: 0,
	unknown: false,
	free: false,
	...of,
});

const runs: [name: string, model: string, of: Partial<Cost>][] = [
	['hacker-news', 'gpt-5-mini', { calls: 182, input: 380_000, output: 22_000, cached: 167_000, usd: 1.3 }],
	['parser-test', 'gpt-5-mini', { calls: 64, input: 196_000, output: 14_000, cached: 139_000, usd: 1.12 }],
	['morning-brief', 'gpt-5-mini', { calls: 96, input: 270_000, output: 18_000, cached: 140_000, usd: 0.84 }],
	['tidy-downloads', 'qwen3:14b', { calls: 9, input: 36_000, output: 1_000, free: true }],
	['jeju-photos', 'qwen3:14b', { calls: 45, input: 66_000, output: 2_000, free: true }],
];
const perDay = [0.12, 0.31, 0.05, 0.01, 0.21, 0.64, 0.17, 0.4, 0.01, 0.11, 0.52, 0.33, 0.21, 0.42];

function costs(days: number): CostView {
	const list = Array.from({ length: days }, (_, i) => {
		const at = new Date(Date.now() - (days - 1 - i) * 86_400_000);
		const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((n) => String(n).padStart(2, '0')).join('-');
		const usd = perDay[(i + perDay.length * 3 - days) % perDay.length]!;
		return { day, ...cost({ calls: Math.ceil(usd * 100), input: 60_000, output: 4_000, usd }) };
	});
	const total = list.reduce((sum, d) => sum + d.usd, 0);
	return {
		from: iso(days * 86_400_000),
		days: list,
		total: cost({ calls: 437, input: 1_024_000, output: 61_000, cached: 625_000, usd: total }),
		runs: runs.map(([name, model, of], i): RunCost => ({
			run_id: `run-cost-${i}`,
			session_id: '',
			name,
			provider: model.startsWith('gpt') ? 'openai' : 'ollama',
			model,
			...cost(of),
		})),
		beside: [
			{ purpose: 'embedding', ...cost({ calls: 12, input: 21_000, output: 0, cached: 0, usd: 0.0004 }) },
			{ purpose: 'memory', ...cost({ calls: 6, input: 18_000, output: 900, usd: 0.03 }) },
		],
		others: cost({ calls: 41, input: 76_000, output: 4_000, cached: 50_000, usd: 0.27 }),
		saved: 2.1,
		stopped: 2,
	};
}

/** costCalls are the calls about limits and what was spent. */
export function costCalls(fake: { world: World; emit: (kind: string, data: unknown) => void }) {
	const own = new Map<string, Limits>();
	const budget = (): BudgetView => {
		const { status, runs: all } = fake.world;
		const used = { tokens: 61_000, calls: status.today.calls, usd: status.today.usd };
		return {
			day: { scope: 'day', limits: status.limits, used, own: false },
			from: iso(16 * 3_600_000),
			until: iso(-8 * 3_600_000),
			runs: all
				.filter((r) => ['queued', 'running', 'waiting'].includes(r.run.state))
				.map(({ run }): BudgetLine => ({
					scope: 'run',
					run_id: run.id,
					pid: run.pid,
					session_id: run.session_id,
					name: run.name,
					limits: own.get(run.id) ?? {},
					used: { tokens: run.cost.input + run.cost.output, calls: run.cost.calls, usd: run.cost.usd },
					own: own.has(run.id),
				})),
		};
	};
	return {
		'infra.costs': (q: { days?: number }) => costs(q.days ?? 14),
		'infra.budget': budget,
		'infra.setBudget': ({ scope, run_id, ...limits }: BudgetChange) => {
			const { status, config } = fake.world;
			for (const k of Object.keys(limits) as (keyof Limits)[]) if (limits[k] === undefined) delete limits[k];
			if (scope === 'run') own.set(run_id!, limits);
			else {
				status.limits = limits;
				for (const k of ['usd', 'tokens', 'calls'] as const) config.values[`day_${k}`] = String(limits[k] ?? '');
				fake.emit('config', config);
			}
			delete status.reached;
			delete status.held;
			fake.emit('status', status);
			return budget();
		},
	};
}

/** limitScene has the newest open run wait for the limit of the day. */
export function limitScene(w: World): void {
	const run = w.runs.find((r) => r.run.state === 'running')!.run;
	run.state = 'waiting';
	w.sessions.find((s) => s.id === run.session_id)!.state = 'waiting';
	w.status.today.usd = 4.97;
	w.status.reached = [
		{
			run_id: run.id,
			session_id: run.session_id,
			scope: 'day',
			kind: 'usd',
			limit: 5,
			used: 4.97,
			needs: 0.04,
			message:
				'The limit of $5.00 a day is reached: $4.97 are used, and the next call may take up to $0.04. Nothing more was sent.',
			message_ko:
				'하루 $5.00 한도에 이르렀습니다. $4.97 썼고, 다음 호출에 최대 $0.04 들 수 있습니다. 더 보내지 않았습니다.',
			since: iso(240_000),
		},
	];
	const [reached] = w.status.reached;
	w.status.held = [
		{
			id: 'limit:day::usd',
			kind: 'limit',
			since: reached!.since,
			runs: [{ run_id: run.id, session_id: run.session_id, name: run.name }],
			count: 1,
			message: reached!.message,
			message_ko: reached!.message_ko,
			reached: reached!,
		},
	];
}
