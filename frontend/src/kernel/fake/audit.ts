import type { AuditCut, AuditEntry, AuditPart, AuditQuery, AuditReport, AuditState } from '../api.gen';
import { iso, type World } from './data';

const day = 86_400_000;

const hash = (n: number) =>
	Array.from({ length: 8 }, (_, i) => (((n + 1) * 2654435761 + i * 40503) >>> 0).toString(16).padStart(8, '0')).join(
		'',
	);

/** FakeAudit is a record of what the runs of the world did, as many entries as the status says. */
export class FakeAudit {
	#world: World;

	constructor(w: World) {
		this.#world = w;
	}

	#entry(seq: number): AuditEntry {
		const last = this.#world.status.audit_entries;
		const run = this.#world.runs[seq % Math.max(1, this.#world.runs.length)]?.run;
		const base = {
			seq,
			timestamp: iso((last - seq) * 47_000),
			prev_hash: seq === 1 ? 'genesis' : hash(seq - 1),
			hash: hash(seq),
		};
		const of = { node: '0190a1b2', run_id: run?.id, session_id: run?.session_id };
		const agent = `agent:${run?.id ?? '0190a1b2-7c11'}`;
		switch (seq % 9) {
			case 0:
				return {
					...base,
					actor: agent,
					action: 'AccessDenied',
					resource: 'file:/home/minji/.ssh/id_ed25519',
					metadata: {
						syscall: 'exec.read',
						code: 'refused',
						reason: 'Refused: it holds passwords or keys. Nothing was done, and nobody can approve it.',
						...of,
					},
				};
			case 1:
				return {
					...base,
					actor: 'person:window',
					action: 'ConfigChange',
					resource: 'limit:day',
					metadata: { syscall: 'infra.setBudget', phase: 'outcome', ok: true, node: '0190a1b2' },
				};
			case 2:
				return {
					...base,
					actor: 'kernel',
					action: 'Other',
					resource: 'kernel opened',
					metadata: { version: '0.1.0', node: '0190a1b2' },
				};
			case 3:
			case 4:
				return {
					...base,
					actor: agent,
					action: seq % 9 === 3 ? 'ToolCall' : 'ToolResult',
					resource: 'file:/home/minji/Oxios/receipts.md',
					metadata: {
						syscall: 'exec.write',
						...(seq % 9 === 3 ? { phase: 'intent' } : { phase: 'outcome', ok: true }),
						...of,
					},
				};
			case 5:
				return {
					...base,
					actor: agent,
					action: 'ToolResult',
					resource: 'go test ./...',
					metadata: { syscall: 'exec.shell', phase: 'outcome', ok: false, error: 'exit code 1', ...of },
				};
			default:
				return {
					...base,
					actor: agent,
					action: 'ToolResult',
					resource: 'model:ollama/qwen3:14b',
					metadata: { syscall: 'llm.complete', phase: 'outcome', ok: true, ...of },
				};
		}
	}

	#report(): AuditReport {
		const last = this.#world.status.audit_entries;
		if (this.#world.status.audit_ok)
			return { entries: last, ok: true, head: hash(last), last, signed: last - 7, witnessed: last - 7, key: hash(0) };
		return {
			entries: 1041,
			ok: false,
			first_bad: 1041,
			problem: 'Entry 1041 was altered: its content does not fit its hash.',
			problem_ko: '1041번 항목이 바뀌었습니다. 내용이 해시와 맞지 않습니다.',
			head: hash(1040),
			last: 1040,
		};
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'security.audit': (q: AuditQuery): AuditEntry[] => {
			const out: AuditEntry[] = [];
			const last = this.#world.status.audit_entries;
			const words = (q.text ?? '').toLowerCase();
			for (let seq = Math.min(q.from || last, last); seq > 0 && out.length < (q.limit ?? 200); seq--) {
				const e = this.#entry(seq);
				if (q.denied && e.action !== 'AccessDenied') continue;
				if (q.action && e.action !== q.action) continue;
				if (q.actor && !e.actor.includes(q.actor)) continue;
				if (words && !JSON.stringify(e).toLowerCase().includes(words)) continue;
				out.push(e);
			}
			return out;
		},
		'security.auditState': (): AuditState => {
			const last = this.#world.status.audit_entries;
			if (last === 0) return { signed: 0, witnessed: 0, witness: '', key: '', first: 0, last: 0 };
			return {
				signed: last - 7,
				signed_at: iso(120_000),
				witnessed: last - 7,
				witnessed_at: iso(120_000),
				witness: '/home/minji/.local/state/oxios/audit-witness.jsonl',
				key: hash(0),
				first: 1,
				last,
				since: iso((last - 1) * 47_000),
				checked_at: iso(120_000),
				checked: this.#report(),
			};
		},
		'security.verifyAudit': () => this.#report(),
		'security.auditCut': (): AuditCut => {
			const entries = Math.max(0, Math.min(600, this.#world.status.audit_entries - 1));
			return entries === 0
				? { through: 0, entries: 0, bytes: 0, left: this.#world.status.audit_entries }
				: {
						through: entries,
						entries,
						bytes: entries * 540,
						since: iso(200 * day),
						until: iso(90 * day),
						left: this.#world.status.audit_entries - entries,
					};
		},
		'security.pruneAudit': (through: number): AuditCut => ({
			through,
			entries: through,
			bytes: through * 540,
			left: 1,
		}),
		'security.exportAudit': (): AuditPart => ({ text: '{"seq":1}\n', entries: 1, next: 1, done: true }),
	};
}
