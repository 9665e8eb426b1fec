import type {
	AgentMessage,
	Approval,
	ApprovalRequest,
	Change,
	Fallbacks,
	ConfigView,
	Cost,
	Instructions,
	Message,
	Model,
	Policy,
	Provider,
	Queued,
	Run,
	RunView,
	SeedView,
	Session,
	Status,
	StepView,
	ToolInfo,
} from '../api.gen';
import { notes } from './taint';
import { setFallbacks } from './fallbacks';

export type Speech = 'en' | 'ko';

const HOUR = 3_600_000;
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
const paid: Cost = {
	calls: 4,
	input: 12_400,
	output: 820,
	cached: 9_100,
	reasoning: 300,
	usd: 0.011,
	unknown: false,
	free: false,
};
const local: Cost = { ...noCost, calls: 5, input: 21_480, output: 1_210 };

let serial = 0;
export const id = (kind: string) => `${kind}-${++serial}`;

export function makeSession(s: Partial<Session> & { id: string; title: string }): Session {
	return {
		role: '',
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

/** World is everything that the scripted kernel knows. */
export interface World {
	sessions: Session[];
	messages: Message[];
	runs: RunView[];
	queued: Queued[];
	/** mail is what agents said to each other. */
	mail: AgentMessage[];
	approvals: Approval[];
	seeds: SeedView[];
	changes: Change[];
	providers: Provider[];
	models: Model[];
	fallbacks: Fallbacks[];
	tools: ToolInfo[];
	policy: Policy;
	status: Status;
	config: ConfigView;
	/** trust is what was said of folders, by path. */
	trust: Record<string, string>;
	/** busy says that the machine has too much to do. */
	busy?: boolean;
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
/** diffLedger is longer than a card is high. */
const diffLedger = `--- a/ledger.md
+++ b/ledger.md
@@ -8,3 +8,35 @@
 ## November
-Total 1,180,000
+Total 1,284,300
${Array.from({ length: 26 }, (_, i) => `+| ${String(i + 1).padStart(2, '0')} | Hanaro Mart | ${48_200 + 650 * i} |`).join('\n')}
+
 See receipts.md.
`;

const script = `set -eu
cd ~/Documents/Receipts
for m in 01 02 03 04 05 06 07 08 09 10; do
  [ -d "2026/$m" ] || { echo "missing 2026/$m"; exit 1; }
  qpdf --empty --pages 2026/$m/*.pdf -- 2026-$m.pdf
done
${Array.from({ length: 33 }, (_, i) => `printf '%s\\n' "month ${i + 1}" >> log.txt`).join('\n')}
qpdf --empty --pages 2026-??.pdf -- 2026.pdf
qpdf --check 2026.pdf`;

const words = {
	en: {
		tidy: 'Tidy the downloads folder',
		photos: 'Rename the Jeju photos',
		brief: 'Morning brief',
		news: 'Table of tools',
		parser: 'Fix the flaky parser test',
		receipts: 'Table of receipts',
		review: 'Notes from the design review',
		year: 'Join the receipts of the year',
		note: 'Note about the ledger',
		ask: 'Tidy ~/Downloads. Receipts go to Documents/Receipts/2026 with a table, old installers can go.',
		found:
			'I found 26 receipts and 14 old installers among 312 files. The receipts are filed; the table is in `receipts.md`.',
		steps: ['Looked at 312 files', 'Moved and renamed 26 files', 'Delete 14 old installers'],
		effect: 'Deletes files in Downloads',
		claim: '14 installers older than a month, 2.3 GB.',
		parserFirst: 'TestParseDates fails now and then. Why?',
		parserAsk: 'TestParseDates fails one run in ten. Find out why and fix it.',
		parserSteps: ['Ran the test 50 times', 'Edited parse.go', 'Edited parse_test.go', 'Ran it 200 times more'],
		roomText:
			'(Oxios: this stands in place of the earlier part of the conversation.)\n\n## What you were told, word for word, the oldest first\n\n--- message 1 ---\nWhy does this test fail now and then?\n--- end ---\n\n## Files, and what was last done with them by these tools\n\n- parse.go: edited\n- parse_test.go: edited\n\n## Summary of the rest\n\nThe clock is read twice. 5 of 50 runs failed before the change.',
		parserSay:
			'The test read the clock twice: at midnight the two days differ. `ParseDates` now takes the time from its caller, and the test passes a fixed one.',
		why: 'The command deletes files.',
		key: 'Summarise my inbox.',
		gone: 'The provider refused the key.',
		goneHint: 'Enter a new key in Settings, Models.',
		cutAsk: 'List the tools that this project needs.',
		cutSay: 'The project needs three tools:\n\n1. Go 1.26\n2. Node 20\n3. ',
		say: 'Joins the receipts of each month, then the year, and checks the result.',
		effectScript: 'Runs a script of 41 lines',
		push: 'Sends commits to another machine',
		pushSay: 'Publishes the branch so that you can open a pull request.',
		write: 'Changes ledger.md in Documents',
		writeSay: 'Adds the totals of November.',
		photosAsk: 'Rename the photos in 2026-jeju by date and place.',
		photosSay: 'I read the dates of 604 photos first.',
	},
	ko: {
		tidy: '내려받기 폴더 정리',
		photos: '제주 사진 이름 바꾸기',
		brief: '아침 요약',
		news: '도구 목록 만들기',
		parser: '테스트 고치기',
		receipts: '영수증 표 만들기',
		review: '회의록 정리',
		year: '한 해 영수증 합치기',
		note: '가계부 메모',
		ask: '내려받기 폴더를 정리해 줘. 영수증은 Documents/Receipts/2026으로 옮기고 표를 만들어. 오래된 설치 파일은 지워도 돼.',
		found:
			'파일 312개에서 영수증 26장과 오래된 설치 파일 14개를 찾았습니다. 영수증은 옮겼고 표는 `receipts.md`에 있습니다.',
		steps: ['파일 312개 확인', '파일 26개를 옮기고 이름 변경', '오래된 설치 파일 14개 삭제'],
		effect: 'Deletes files in Downloads',
		claim: '한 달 넘은 설치 파일 14개, 2.3GB입니다.',
		parserFirst: 'TestParseDates가 가끔 실패해. 왜 그래?',
		parserAsk: 'TestParseDates가 열 번에 한 번 실패해. 이유를 찾아서 고쳐 줘.',
		parserSteps: ['테스트 50번 실행', 'parse.go 수정', 'parse_test.go 수정', '테스트 200번 더 실행'],
		roomText:
			'(Oxios: this stands in place of the earlier part of the conversation.)\n\n## What you were told, word for word, the oldest first\n\n--- message 1 ---\n이 테스트가 왜 가끔 실패하지?\n--- end ---\n\n## Files, and what was last done with them by these tools\n\n- parse.go: edited\n- parse_test.go: edited\n\n## Summary of the rest\n\n시계를 두 번 읽는다. 고치기 전에는 50번 가운데 5번 실패했다.',
		parserSay:
			'테스트가 시계를 두 번 읽어서 자정에 두 날짜가 달라졌습니다. 이제 `ParseDates`는 호출한 쪽에서 시각을 받고, 테스트는 고정된 시각을 넘깁니다.',
		why: '파일을 지우는 명령입니다.',
		key: '받은 편지함을 요약해 줘.',
		gone: '제공자가 키를 거부했습니다.',
		goneHint: '설정의 모델에서 새 키를 입력해 주십시오.',
		cutAsk: '이 프로젝트에 필요한 도구를 알려 줘.',
		cutSay: '이 프로젝트에는 도구 세 가지가 필요합니다.\n\n1. Go 1.26\n2. Node 20\n3. ',
		say: '달마다 영수증을 합치고, 한 해를 합친 다음 결과를 검사합니다.',
		effectScript: 'Runs a script of 41 lines',
		push: 'Sends commits to another machine',
		pushSay: '풀 리퀘스트를 열 수 있도록 브랜치를 올립니다.',
		write: 'Changes ledger.md in Documents',
		writeSay: '11월 합계를 더합니다.',
		photosAsk: '2026-jeju 폴더의 사진 이름을 날짜와 장소로 바꿔 줘.',
		photosSay: '사진 604장의 날짜를 먼저 읽었습니다.',
	},
};

function conversations(w: World, speech: Speech): void {
	const t = words[speech];
	const tidy = makeSession({ id: 's-tidy', title: t.tidy, state: 'waiting', waiting: 1 });
	const tidyRun = makeRun({ id: 'r-tidy', session_id: tidy.id, text: t.ask, state: 'waiting', ended_at: undefined });
	const askTidy = makeApproval(tidy.id, tidyRun.id, {
		title: t.effect,
		title_ko: '내려받기 폴더의 파일 삭제',
		command: `find . -maxdepth 1 -name '*.deb' -mtime +30 -print0 |\n  xargs -0 rm --`,
		dir: '/home/minji/Downloads',
		programs: ['find', 'xargs', 'rm'],
		executable: '/usr/bin/find',
		claim: t.claim,
		why: t.why,
		agent: 'cleaner',
		ancestry: ['tidy-downloads'],
		spent: { calls: 3, input: 11_800, output: 640, cached: 0, reasoning: 0, usd: 0.042, unknown: false, free: false },
		hidden: true,
	});
	w.approvals.push(askTidy);
	w.sessions.push(tidy);
	w.messages.push(makeMessage({ session_id: tidy.id, run_id: tidyRun.id, role: 'user', content: t.ask }));
	w.runs.push({
		run: tidyRun,
		changes: [],
		steps: [
			makeStep({ run_id: tidyRun.id, kind: 'model', text: t.found }),
			makeStep({
				run_id: tidyRun.id,
				kind: 'tool',
				name: 'ls',
				title: t.steps[0],
				args: { path: '.' },
				output: 'invoice-11.pdf\nkakao.deb\n…',
				audit_seq: 1204,
			}),
			...Array.from({ length: 26 }, (_, i) =>
				makeStep(
					{
						run_id: tidyRun.id,
						kind: 'tool',
						name: 'read',
						title: `Read receipt-${i + 1}.pdf`,
						args: { path: `receipt-${i + 1}.pdf` },
						output: 'Total 12,300',
					},
					230,
				),
			),
			makeStep(
				{
					run_id: tidyRun.id,
					kind: 'tool',
					name: 'exec',
					title: t.steps[1],
					args: { command: 'mv -n *.pdf ../Documents/Receipts/2026/' },
					output: '',
					audit_seq: 1232,
				},
				110,
			),
			makeStep({
				run_id: tidyRun.id,
				kind: 'tool',
				name: 'exec',
				title: t.steps[2],
				state: 'waiting',
				outcome: '',
				approval_id: askTidy.id,
				started_at: undefined,
				closed_at: undefined,
				args: { command: askTidy.request.command },
			}),
		],
	});

	const photos = makeSession({
		id: 's-photos',
		title: t.photos,
		state: 'running',
		updated_at: iso(120_000),
		folder: '/home/minji/Pictures/2026-jeju',
	});
	const photosRun = makeRun({
		id: 'r-photos',
		session_id: photos.id,
		text: t.photosAsk,
		state: 'running',
		ended_at: undefined,
		folder: photos.folder,
	});
	w.sessions.push(photos);
	w.messages.push(makeMessage({ session_id: photos.id, run_id: photosRun.id, role: 'user', content: t.photosAsk }));
	w.runs.push({
		run: photosRun,
		changes: [],
		steps: [
			makeStep({ run_id: photosRun.id, kind: 'model', text: t.photosSay }),
			makeStep(
				{
					run_id: photosRun.id,
					kind: 'tool',
					name: 'exec',
					title: 'exiftool -T -DateTimeOriginal *.jpg',
					args: { command: 'exiftool -T -DateTimeOriginal *.jpg' },
					output: '2026:10:03 11:20:14\n2026:10:03 11:24:02\n제주 성산일출봉',
				},
				4200,
			),
			makeStep({
				run_id: photosRun.id,
				kind: 'tool',
				name: 'exec',
				title: 'mv -n IMG_0412.jpg 2026-10-03-seongsan-01.jpg',
				state: 'started',
				outcome: '',
				closed_at: undefined,
				args: { command: 'mv -n IMG_0412.jpg 2026-10-03-seongsan-01.jpg' },
			}),
		],
	});
	w.queued.push({
		id: 'q-1',
		session_id: photos.id,
		text: speech === 'ko' ? '흐린 사진은 빼 줘.' : 'Leave out the blurred ones.',
		created_at: iso(4_000),
	});

	const year = makeSession({
		id: 's-year',
		title: t.year,
		state: 'waiting',
		waiting: 3,
		updated_at: iso(300_000),
		folder: '/home/minji/Documents/Receipts',
	});
	const yearRun = makeRun({
		id: 'r-year',
		session_id: year.id,
		text: t.year,
		state: 'waiting',
		ended_at: undefined,
		name: 'year-end',
	});
	w.sessions.push(year);
	w.messages.push(makeMessage({ session_id: year.id, run_id: yearRun.id, role: 'user', content: t.year }));
	w.runs.push({ run: yearRun, steps: [], changes: [] });
	w.approvals.push(
		makeApproval(year.id, yearRun.id, {
			title: t.effectScript,
			title_ko: '41줄 스크립트 실행',
			command: script,
			dir: year.folder,
			programs: ['qpdf', 'printf', 'echo', 'test'],
			claim: t.say,
			contained: 0,
			agent: 'year-end',
			hidden: true,
		}),
		makeApproval(year.id, yearRun.id, {
			title: t.push,
			title_ko: '다른 컴퓨터로 커밋 전송',
			command: 'git push origin receipts-2026',
			labels: [notes],
			dir: year.folder,
			programs: ['git'],
			executable: '/usr/bin/git',
			claim: t.pushSay,
			network: true,
			effect: 'network',
			agent: 'year-end',
			ancestry: [],
		}),
		makeApproval(year.id, yearRun.id, {
			call: 'exec.write',
			effect: 'write',
			title: t.write,
			title_ko: 'Documents의 ledger.md 변경',
			command: '',
			path: '/home/minji/Documents/ledger.md',
			claim: t.writeSay,
			agent: 'year-end',
			diff: diffLedger,
		}),
	);

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

const limits: [string, string][] = [
	['max_tool_calls', '25'],
	['max_tool_concurrency', '10'],
	['max_concurrent', '5'],
	['requests_per_minute', '0'],
	['exec_timeout_s', '120'],
	['max_memory_mb', '4096'],
	['undo_days', '30'],
	['journal_days', '0'],
	['audit_days', '90'],
];

function emptyStatus(): Status {
	return {
		version: '0.1.0',
		home: '/home/minji/.oxios',
		owner: 'serve',
		pid: 4711,
		running: 0,
		waiting: 0,
		paused: false,
		audit_ok: true,
		audit_entries: 1219,
		today: { ...paid, usd: 0.42 },
		limits: { usd: 5 },
		isolation: 3,
		onboarded: true,
		has_model: true,
		demo: false,
		memory_mb: 15_872,
	};
}

function catalogue(w: World): void {
	const model = (m: Partial<Model> & { id: string; provider: string; provider_name: string }): Model => ({
		chat_only: false,
		free: false,
		favourite: false,
		default: false,
		demo: false,
		...m,
	});
	w.models.push(
		model({
			id: 'qwen3:14b',
			provider: 'ollama',
			provider_name: 'Ollama',
			context_length: 40_960,
			tools: true,
			images: false,
			reasoning: true,
			free: true,
			favourite: true,
			default: true,
		}),
		model({
			id: 'gemma3:4b',
			provider: 'ollama',
			provider_name: 'Ollama',
			context_length: 131_072,
			tools: false,
			images: true,
			chat_only: true,
			free: true,
		}),
		model({
			id: 'gpt-5-mini',
			provider: 'openai',
			provider_name: 'OpenAI',
			context_length: 400_000,
			tools: true,
			images: true,
			reasoning: true,
			price: { input: 0.25, cached_input: 0.025, output: 2 },
		}),
		model({ id: 'house-large', provider: 'work', provider_name: 'Work proxy', context_length: 0 }),
	);
	const provider = (p: Partial<Provider> & { id: string; name: string }): Provider => ({
		kind: 'openai',
		base_url: '',
		local: false,
		enabled: true,
		source: 'window',
		running: true,
		demo: false,
		...p,
	});
	w.providers.push(
		provider({
			id: 'ollama',
			name: 'Ollama',
			kind: 'ollama',
			base_url: 'http://127.0.0.1:11434/v1',
			local: true,
			source: 'discovered',
			where: '127.0.0.1:11434',
		}),
		provider({
			id: 'openai',
			name: 'OpenAI',
			base_url: 'https://api.openai.com/v1',
			key_tail: '4f2A',
			key_where: 'keyring',
			test: {
				model: 'gpt-5-mini',
				answers: true,
				latency_ms: 700,
				first_token_ms: 300,
				tools: true,
				images: true,
				context_length: 400_000,
				chat_only: false,
				at: iso(HOUR),
			},
		}),
		provider({
			id: 'work',
			name: 'Work proxy',
			base_url: 'https://llm.example.org/v1',
			enabled: false,
			key_tail: '77x0',
			key_where: 'keyring',
			test: {
				model: 'house-large',
				answers: false,
				latency_ms: 0,
				first_token_ms: 0,
				context_length: 0,
				chat_only: false,
				error: { code: 'auth', message: 'The key was refused.', hint: 'The server says “invalid_api_key”.' },
				at: iso(HOUR),
			},
		}),
	);
}

/** makeWorld returns a day of one person. Without a day there is nothing yet: the first start. */
export function makeWorld(speech: Speech, first: boolean): World {
	const w: World = {
		sessions: [],
		messages: [],
		runs: [],
		queued: [],
		mail: [],
		approvals: [],
		seeds: [],
		changes: [],
		providers: [],
		models: [],
		fallbacks: [],
		tools: [
			['read', 'Reads a text file, with line numbers.', '텍스트 파일을 줄 번호와 함께 읽습니다.'],
			[
				'write',
				'Writes a whole file, new or in place of an old one.',
				'파일 전체를 새로 쓰거나 기존 파일을 대신해 씁니다.',
			],
			['edit', 'Replaces text in a file.', '파일의 텍스트를 바꿉니다.'],
			['grep', 'Searches the text of files.', '파일의 텍스트를 검색합니다.'],
			['find', 'Finds files and folders by name.', '이름으로 파일과 폴더를 찾습니다.'],
			['ls', 'Lists a folder.', '폴더의 목록을 봅니다.'],
			['exec', 'Runs commands.', '명령을 실행합니다.'],
		].map(([name, description, ko]) => ({
			name: name!,
			description: description!,
			description_ko: ko!,
			domain: 'exec',
			on: true,
		})),
		policy: {
			isolation: first ? 0 : 3,
			probed_at: iso(HOUR),
			mode: 'guarded',
			canaries: [
				'write outside',
				'read ~/.ssh',
				'open a socket',
				'trace another process',
				'mount',
				'load a module',
			].map((name) => ({ name, held: !first, detail: first ? '' : 'permission denied' })),
			never_touched: ['~/.ssh', '~/.gnupg', '~/.aws', 'browser profiles'],
			table: [
				{ action: 'read', ask: 'free', guarded: 'free', autonomous: 'free' },
				{ action: 'write', ask: 'ask', guarded: 'free', autonomous: 'free' },
				{ action: 'read_only_command', ask: 'ask', guarded: 'free', autonomous: 'free' },
				{ action: 'command', ask: 'ask', guarded: 'ask', autonomous: 'notice' },
				{ action: 'network', ask: 'ask', guarded: 'ask', autonomous: 'ask' },
				{ action: 'outside', ask: 'ask', guarded: 'ask', autonomous: 'ask' },
				{ action: 'unknown', ask: 'ask', guarded: 'ask', autonomous: 'ask' },
			],
		},
		trust: {
			'/home/minji/Oxios': 'trusted',
			'/home/minji/Pictures': 'trusted',
			'/home/minji/Pictures/2026-jeju': 'trusted',
			'/home/minji/Documents/Receipts': 'trusted',
			'/home/minji/Downloads': 'declined',
			'/home/minji/src/ledger': 'trusted',
		},
		status: emptyStatus(),
		config: {
			path: '/home/minji/.oxios/config.toml',
			schema: limits.map(([key, value]) => ({ key, type: 'int', default: value, description: '' })),
			values: {
				mode: 'guarded',
				role: 'operator',
				folder: '/home/minji/Oxios',
				language: speech,
				theme: 'auto',
				provider: 'ollama',
				model: 'qwen3:14b',
				notifications: 'true',
				enter_sends: 'true',
				close_to_tray: 'true',
				keep_awake: 'true',
				quick_hotkey: 'true',
				quick_keys: 'Ctrl+Alt+Space',
				day_usd: '5',
				day_tokens: '',
				day_calls: '',
				run_usd: '0.50',
				run_tokens: '',
				run_calls: '',
				...Object.fromEntries(limits),
			},
		},
	};
	if (first) {
		Object.assign(w.status, { onboarded: false, has_model: false, isolation: 0, today: noCost, audit_entries: 3 });
		w.policy.problem = 'The kernel of this machine has no Landlock.';
		Object.assign(w.config.values, { provider: '', model: '' });
	} else {
		catalogue(w);
		setFallbacks(w, 'openai', 'gpt-5-mini', ['ollama/qwen3:14b']);
		setFallbacks(w, 'ollama', 'qwen3:14b', ['ollama/gemma3:4b', 'openai/gpt-5-mini']);
		conversations(w, speech);
	}
	return w;
}
