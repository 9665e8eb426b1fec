import { notes } from '../taint';
import type { Speech } from './make';
import { words } from './words';
import type { World } from './world';
import { iso, makeSession, makeRun, makeStep, makeMessage, makeApproval } from './make';

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

/** waiting are the conversations in which something runs or waits for the person. */
export function waiting(w: World, speech: Speech): void {
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
}
