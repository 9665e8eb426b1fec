import type { Approval, ApprovalRequest, Cost, Instructions, Message, Run, Session, StepView } from '../../api.gen';

export type Speech = 'en' | 'ko';

export const HOUR = 3_600_000;
/** iso is a time so many milliseconds ago. */
export const iso = (ago = 0) => new Date(Date.now() - ago).toISOString();

export const noCost: Cost = {
	calls: 0,
	input: 0,
	output: 0,
	cached: 0,
	reasoning: 0,
	usd: 0,
	unknown: false,
	free: true,
};
export const paid: Cost = {
	calls: 4,
	input: 12_400,
	output: 820,
	cached: 9_100,
	reasoning: 300,
	usd: 0.011,
	unknown: false,
	free: false,
};
export const local: Cost = { ...noCost, calls: 5, input: 21_480, output: 1_210 };

let serial = 0;
export const id = (kind: string) => `${kind}-${++serial}`;

export function makeSession(s: Partial<Session> & { id: string; title: string }): Session {
	return {
		role: '',
		space: '',
		space_why: '',
		summary: '',
		folder: '/home/minji/Downloads',
		provider: 'ollama',
		model: 'qwen3:14b',
		mode: 'guarded',
		created_at: iso(HOUR),
		updated_at: iso(),
		archived: false,
		pinned: false,
		head_id: '',
		origin_id: '',
		state: 'done',
		waiting: 0,
		cost: local,
		...s,
	};
}

export function makeRun(r: Partial<Run> & { id: string; session_id: string; text: string }): Run {
	return {
		role: 'operator',
		pid: 7,
		parent_id: '',
		after_id: '',
		copy_of: '',
		name: 'tidy-downloads',
		state: 'done',
		profile: 'operator',
		folder: '/home/minji/Downloads',
		provider: 'ollama',
		model: 'qwen3:14b',
		mode: 'guarded',
		via: 'window',
		created_at: iso(60_000),
		started_at: iso(60_000),
		ended_at: iso(8_000),
		turns: 3,
		cost: local,
		end_reason: '',
		priority: 1,
		depth: 0,
		...r,
	};
}

export function makeStep(s: Partial<StepView> & { run_id: string; kind: StepView['kind'] }, ms = 200): StepView {
	return {
		id: id('step'),
		seq: ++serial,
		name: '',
		state: 'closed',
		outcome: 'ok',
		proposed_at: iso(50_000),
		started_at: iso(50_000),
		closed_at: iso(50_000 - ms),
		...s,
	};
}

export function makeMessage(
	m: Partial<Message> & { session_id: string; run_id: string; role: string; content: string },
): Message {
	return {
		id: id('message'),
		reasoning: '',
		at: iso(8_000),
		tool_calls: [],
		provider: 'ollama',
		model: 'qwen3:14b',
		status: '',
		demo: false,
		...m,
	};
}

export function makeApproval(sessionID: string, runID: string, r: Partial<ApprovalRequest>): Approval {
	return {
		id: id('approval'),
		state: 'pending',
		scope: 'once',
		decided_by: '',
		comment: '',
		created_at: iso(60_000),
		expires_at: iso(-23.9 * HOUR),
		request: {
			call: 'exec.shell',
			hash: id('hash'),
			effect: 'execute',
			tier: 2,
			title: 'Runs a command',
			title_ko: '명령 실행',
			network: false,
			contained: 3,
			try: !!r.command,
			undo: 'no',
			hidden: false,
			simple: true,
			run_id: runID,
			session_id: sessionID,
			...r,
		},
	};
}

/** told is what a folder tells agents. */
export function told(folder: string): Instructions {
	const text =
		'# Ledger\n\nRun `go test ./...` before you say that something works.\nAmounts are in cents, never in floats.';
	return {
		name: 'AGENTS.md',
		path: `${folder}/AGENTS.md`,
		bytes: text.length,
		tokens: 29,
		cut: false,
		hash: 'd1a7',
		text,
	};
}
