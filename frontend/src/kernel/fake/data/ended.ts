import type { Change } from '../../api.gen';
import type { Speech } from './make';
import { words } from './words';
import type { World } from './world';
import { iso, paid, local, HOUR, makeSession, makeRun, makeStep, makeMessage, told, noCost } from './make';

const diffParse = `--- a/parse.go
+++ b/parse.go
@@ -41,5 +41,5 @@ package ledger
-// relative to today.
-func ParseDates(s string) (
-  now := time.Now()
+// relative to now.
+func ParseDates(s string,
   for _, f := range fields(s) {
-    d, err := parse(f, today())
+    d, err := parse(f, now)
     if err != nil {
`;
const diffTest = `--- a/parse_test.go
+++ b/parse_test.go
@@ -11,3 +12,4 @@ package ledger
+var noon = date(2026, 3, 1, 12)
 
-  got, err := ParseDates(in)
+  got, err := ParseDates(in, noon)
`;
/** ended are the conversations in which nothing runs: done, failed, cut off, old. */
export function ended(w: World, speech: Speech): void {
	const t = words[speech];
	const done = makeSession({
		id: 's-parser',
		title: t.parser,
		model: 'gpt-5-mini',
		provider: 'openai',
		folder: '/home/minji/src/ledger',
		updated_at: iso(900_000),
		cost: paid,
		head_id: 'r-parser',
	});
	const firstRun = makeRun({ id: 'r-parser-1', session_id: done.id, text: t.parserFirst, folder: done.folder });
	w.messages.push(makeMessage({ session_id: done.id, run_id: firstRun.id, role: 'user', content: t.parserFirst }));
	w.runs.push({ run: firstRun, steps: [], changes: [] });
	const doneRun = makeRun({
		id: 'r-parser',
		session_id: done.id,
		text: t.parserAsk,
		model: 'gpt-5-mini',
		provider: 'openai',
		folder: done.folder,
		cost: paid,
		instructions: told(done.folder),
		started_at: iso(952_000),
		ended_at: iso(900_000),
	});
	const changes: Change[] = [
		{
			id: 'c-1',
			run_id: doneRun.id,
			step_id: '',
			path: '/home/minji/src/ledger/parse.go',
			kind: 'modified',
			added: 3,
			removed: 4,
			binary: false,
			diff: diffParse,
		},
		{
			id: 'c-2',
			run_id: doneRun.id,
			step_id: '',
			path: '/home/minji/src/ledger/parse_test.go',
			kind: 'modified',
			added: 2,
			removed: 1,
			binary: false,
			diff: diffTest,
		},
	];
	w.changes.push(...changes);
	w.sessions.push(done);
	const answer = `${t.parserSay}\n\n\`\`\`go\nfunc ParseDates(s string, now time.Time) ([]Date, error)\n\`\`\``;
	w.messages.push(
		makeMessage({ session_id: done.id, run_id: doneRun.id, role: 'user', content: t.parserAsk }),
		makeMessage({
			session_id: done.id,
			run_id: doneRun.id,
			role: 'assistant',
			content: answer,
			cost: paid,
			model: 'gpt-5-mini',
			provider: 'openai',
		}),
	);
	w.runs.push({
		run: doneRun,
		undo: { undo: 2, redo: 0 },
		changes: changes.map((c) => ({ ...c })),
		steps: [
			makeStep({
				run_id: doneRun.id,
				kind: 'model',
				text: '',
				detail: 'The failure depends on the clock. I should run the test many times and look at when it fails.',
				thought_ms: 11_000,
			}),
			makeStep(
				{
					run_id: doneRun.id,
					kind: 'tool',
					name: 'exec',
					title: t.parserSteps[0],
					args: { command: 'go test -run TestParseDates -count=50 ./...' },
					output:
						'--- FAIL: TestParseDates (0.00s)\n    parse_test.go:14: got 2026-03-02, want 2026-03-01\nFAIL\n5 of 50 failed',
					audit_seq: 1204,
				},
				9_200,
			),
			makeStep(
				{
					run_id: doneRun.id,
					kind: 'tool',
					name: 'read',
					title: 'parse.go',
					args: { path: 'parse.go' },
					output: 'package ledger\n…',
					audit_seq: 1206,
				},
				20,
			),
			makeStep(
				{
					run_id: doneRun.id,
					kind: 'tool',
					name: 'edit',
					title: t.parserSteps[1],
					args: { path: 'parse.go' },
					output: '3 lines added, 4 removed',
					audit_seq: 1210,
				},
				20,
			),
			makeStep(
				{
					run_id: doneRun.id,
					kind: 'tool',
					name: 'edit',
					title: t.parserSteps[2],
					args: { path: 'parse_test.go' },
					output: '2 lines added, 1 removed',
					audit_seq: 1212,
				},
				20,
			),
			makeStep(
				{
					run_id: doneRun.id,
					kind: 'tool',
					name: 'exec',
					title: t.parserSteps[3],
					args: { command: 'go test -run TestParseDates -count=200 ./...' },
					output: 'ok  \tledger\t30.8s',
					audit_seq: 1219,
				},
				31_000,
			),
			makeStep(
				{
					run_id: doneRun.id,
					kind: 'context',
					name: 'context',
					title: 'Made room: 41 messages and 38 tool results summarised',
					title_ko: '자리 마련: 메시지 41개와 도구 결과 38개 요약',
					output: t.roomText,
					room: {
						before: 104_300,
						after: 31_800,
						window: 128_000,
						dropped: { messages: 41, results: 38, bytes: 286_000 },
					},
					cost: { ...noCost, calls: 1, input: 52_100, output: 640, free: false, usd: 0.0142 },
					context: 31_800,
					audit_seq: 1220,
				},
				4200,
			),
			makeStep({ run_id: doneRun.id, kind: 'model', text: answer, context: 36_400 }),
		],
	});

	const failed = makeSession({
		id: 's-brief',
		title: t.brief,
		state: 'failed',
		provider: 'work',
		model: 'gpt-5-mini',
		updated_at: iso(1_000_000),
	});
	const failedRun = makeRun({
		id: 'r-brief',
		session_id: failed.id,
		text: t.key,
		state: 'failed',
		provider: 'work',
		end_reason: t.gone,
		error: { code: 'auth', message: t.gone, hint: t.goneHint },
		cost: { ...noCost, free: false },
	});
	w.sessions.push(failed);
	w.messages.push(makeMessage({ session_id: failed.id, run_id: failedRun.id, role: 'user', content: t.key }));
	w.runs.push({ run: failedRun, steps: [], changes: [] });

	const cut = makeSession({ id: 's-cut', title: t.news, state: 'failed', updated_at: iso(26 * HOUR) });
	const cutRun = makeRun({
		id: 'r-cut',
		session_id: cut.id,
		text: t.cutAsk,
		state: 'failed',
		end_reason: 'cut',
		error: { code: 'stream_cut', message: 'The answer ended in the middle.' },
	});
	w.sessions.push(cut);
	w.messages.push(
		makeMessage({ session_id: cut.id, run_id: cutRun.id, role: 'user', content: t.cutAsk }),
		makeMessage({
			session_id: cut.id,
			run_id: cutRun.id,
			role: 'assistant',
			content: t.cutSay,
			status: 'cut',
			cost: local,
		}),
	);
	w.runs.push({
		run: cutRun,
		steps: [makeStep({ run_id: cutRun.id, kind: 'model', text: t.cutSay, outcome: 'cut' })],
		changes: [],
	});

	for (const [i, title] of [t.receipts, t.review].entries()) {
		w.sessions.push(makeSession({ id: `s-old-${i}`, title, updated_at: iso((26 + i) * HOUR) }));
	}
}
