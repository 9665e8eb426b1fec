import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeKernel, type AuditEntry, type AuditState } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { en } from '../../ui/i18n/en';
import { ko } from '../../ui/i18n/ko';
import { i18n } from '../../ui/i18n/index.svelte';
import { AuditRecord, PAGE } from './record.svelte';
import { onOf, standing, stateOf, whatOf, whoOf } from './words';

const entry = (e: Partial<AuditEntry>): AuditEntry => ({
	seq: 7,
	timestamp: '2026-11-20T08:00:00Z',
	actor: 'agent:0190a1b2-7c11',
	action: 'ToolCall',
	resource: 'file:/home/minji/a.md',
	prev_hash: 'genesis',
	hash: 'ff',
	metadata: {},
	...e,
});

beforeEach(() => i18n.set('en'));

describe('an entry in words', () => {
	it('has a name in both languages for every call that is recorded', () => {
		const table = readFileSync(join(import.meta.dirname, '../../../../kernel/syscalls.go'), 'utf8');
		const recorded = [...table.matchAll(/Name: "([^"]+)".*Audit:/g)].map((m) => m[1] ?? '');
		expect(recorded.length).toBeGreaterThan(100);
		for (const words of [en, ko]) expect(recorded.filter((name) => !words.audit.calls[name])).toEqual([]);
	});

	it('says who, what and on what, and whether it was done', () => {
		const e = entry({ metadata: { syscall: 'exec.write', phase: 'intent' } });
		expect([whoOf(e, new Map([['0190a1b2-7c11', 'tidy']])), whatOf(e), onOf(e), stateOf(e)]).toEqual([
			'tidy',
			'Write a file',
			'~/a.md',
			'queued',
		]);
		expect(whoOf(e, new Map())).toBe('agent 0190a1b2');
		expect(stateOf(entry({ metadata: { phase: 'outcome', ok: false } }))).toBe('failed');
		expect(stateOf(entry({ action: 'AccessDenied' }))).toBe('denied');
	});

	it('reads what somebody has broken', () => {
		for (const metadata of ['{"run_id', null, 7]) {
			const e = entry({ metadata, actor: '', resource: '' });
			expect([whatOf(e), onOf(e), stateOf(e)]).toEqual(['Use a tool', '', 'done']);
		}
	});

	it('has each word in Korean', () => {
		i18n.set('ko');
		const e = entry({ actor: 'person:window', metadata: { syscall: 'exec.write' } });
		expect([whoOf(e, new Map()), whatOf(e)]).toEqual(['나', '파일 쓰기']);
	});
});

describe('how the chain stands', () => {
	const state: AuditState = { signed: 1200, witnessed: 1200, witness: 'w', key: 'k', first: 1, last: 1204 };
	it('says how far it was checked, signed and witnessed', () => {
		const r = { entries: 1204, ok: true, head: 'ff', last: 1204 };
		const s = standing({ ...state, checked: r, checked_at: new Date().toISOString() });
		expect(s.bad).toBe(false);
		expect(s.text).toMatch(/1,204 records\. Checked up to record 1,204 at .*Signed to 1,200\..*to 1,200\./);
		expect(standing({ ...state, witnessed: 0, witness: '' }).text).toContain('No witness');
	});
	it('says where a pruned chain begins', () => {
		expect(standing({ ...state, first: 201 }).text).toMatch(
			/^1,004 records\. It begins after record 200: a signed root/,
		);
	});
	it('says where it is broken, why, up to where it is not, and what to do first', () => {
		const r = { entries: 9, ok: false, first_bad: 1041, problem: 'Cut off.', head: 'ff', last: 1040 };
		expect(standing({ ...state, checked: r })).toEqual({
			title: 'Something is wrong at record 1,041',
			text: 'Cut off. Up to record 1,040 nothing is wrong. Export it before you do anything else.',
			bad: true,
		});
	});

	it('never calls evidence that is missing, or records that were only found, intact', () => {
		const r = { ok: false, entries: 9, head: 'aa', last: 9, lacks: 'checkpoints', problem: 'The file is missing.' };
		const gone = standing({ ...state, checked: { ...r, verdict: 'Audit evidence missing or altered' } });
		expect([gone.bad, gone.title]).toEqual([true, 'Audit evidence missing or altered']);
		expect(gone.text).toMatch(/The file is missing\. .*oxios audit renew/);
		const found = standing({
			...state,
			checked: {
				ok: true,
				entries: 9,
				head: 'aa',
				last: 9,
				found: [{ from: 5, to: 6 }],
				verdict: 'Audit: 2 records were found unsigned',
			},
		});
		expect([found.bad, found.title]).toEqual([false, 'Audit: 2 records were found unsigned']);
		expect(found.text).toContain('Records 5–6 were found, not written here');
	});
});

describe('the record', () => {
	const setup = (entries = 1000) => {
		const fake = new FakeTransport();
		fake.world.status.audit_entries = entries;
		return { fake, record: new AuditRecord(new Live(makeKernel(fake), fake)) };
	};

	it('reads page after page, the newest first, to the very first', async () => {
		const { record } = setup(2 * PAGE + 1);
		await record.load();
		expect([record.entries.length, record.more, record.entries[0]?.seq]).toEqual([PAGE, true, 2 * PAGE + 1]);
		await Promise.all([record.older(), record.older()]); // scrolling asks more than once
		expect(record.entries.length).toBe(2 * PAGE);
		await record.older();
		expect([record.entries.at(-1)?.seq, record.more]).toEqual([1, false]);
		expect(new Set(record.entries.map((e) => e.seq)).size).toBe(2 * PAGE + 1);
	});

	it('asks the kernel for what fits', async () => {
		const { fake, record } = setup();
		Object.assign(record, { words: ' ssh ', who: 'agents', denied: true });
		await record.load();
		expect(fake.calls.find((c) => c.method === 'security.audit')?.args).toEqual([
			{ newest: true, limit: PAGE, text: 'ssh', actor: 'agent:', denied: true },
		]);
		expect(record.entries.length).toBeGreaterThan(0);
		expect(record.entries.every((e) => e.action === 'AccessDenied')).toBe(true);
		record.showAll();
		expect(record.sifting).toBe(false);
	});

	it('steps through the entries and stays within them', async () => {
		const { record } = setup(5);
		await record.load();
		record.step(1);
		expect(record.current?.seq).toBe(5);
		record.step(99);
		expect(record.current?.seq).toBe(1);
		record.step(-1);
		expect(record.current?.seq).toBe(2);
	});

	it('keeps what is there when the kernel does not answer', async () => {
		const { fake, record } = setup(5);
		await record.load();
		const call = fake.call.bind(fake);
		fake.call = (m, a) => (m === 'security.audit' ? Promise.reject(new Error('lost')) : call(m, a));
		await record.load();
		expect(record.failure).toBeDefined();
		expect(record.entries.length).toBe(5);
	});

	it('verifies, and tells what it found', async () => {
		const { fake, record } = setup(1219);
		fake.world.status.audit_ok = false;
		await record.verify();
		expect(record.report?.first_bad).toBe(1041);
		expect(record.state && standing(record.state).bad).toBe(true);
		expect(record.verifying).toBe(false);
	});
});
