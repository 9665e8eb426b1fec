import { ended } from '../runs';
import type { AgentCard, AgentMessage, Process, Run, RunView } from '../api.gen';
import { load } from './load';
import { iso, makeApproval, makeRun, makeSession, makeStep, noCost, type Speech, type World } from './data';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const priorities = ['low', 'normal', 'high', 'critical'];

type Emit = (kind: string, data: unknown, of: { run_id: string; session_id: string }) => void;

/** FakeAgents is the table of the runs of the world. */
export class FakeAgents {
	#world: World;
	#emit: Emit;
	#end: (r: RunView) => void;

	constructor(w: World, emit: Emit, end: (r: RunView) => void) {
		this.#world = w;
		this.#emit = emit;
		this.#end = end;
	}

	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	calls: Record<string, (...args: any[]) => unknown> = {
		'agents.list': (q: {
			all?: boolean;
			limit?: number;
			since?: string;
			made_by?: string;
			before?: number;
		}): Process[] =>
			this.#world.runs
				.filter(({ run }) => !run.copy_of && (q.all || !ended(run.state)))
				.filter(({ run }) => !q.made_by || run.made_by === q.made_by)
				.filter(({ run }) => !q.before || run.pid < q.before)
				.filter(({ run }) => !q.since || !run.ended_at || run.ended_at >= q.since)
				.sort((a, b) => b.run.pid - a.run.pid)
				.slice(0, q.limit ?? (q.all ? 50 : undefined))
				.map((r) => this.#process(r)),
		'infra.resources': () => load(this.#world),
		'agents.run': (id: string) => this.#get(id),
		'agents.kill': (id: string) => {
			const told = this.#family(id).filter((r) => !ended(r.run.state));
			told.forEach((r) => this.#end(r));
			return { runs: told.length };
		},
		'agents.pauseRun': (id: string, on: boolean) => {
			for (const r of this.#family(id).filter((x) => ['running', 'queued', 'paused'].includes(x.run.state))) {
				Object.assign(r.run, { paused: on, state: on ? 'paused' : 'running' });
				this.#emit('run.state', r.run, { run_id: r.run.id, session_id: r.run.session_id });
			}
		},
		'a2a.cards': (q: { run_id?: string }): AgentCard[] =>
			this.#world.runs.filter((r) => r.run.id === q.run_id && !ended(r.run.state)).map((r) => cardOf(r.run)),
		'a2a.messages': (q: { run_id?: string }): AgentMessage[] =>
			this.#world.mail.filter((m) => m.from === q.run_id || m.to === q.run_id).sort((a, b) => b.n - a.n),
		'agents.message': (id: string, text: string) => {
			const r = this.#get(id);
			const s = makeStep({
				run_id: id,
				kind: 'message',
				text,
				proposed_at: iso(),
				started_at: iso(),
				closed_at: iso(),
			});
			r.steps.push(s);
			this.#emit('step', s, { run_id: id, session_id: r.run.session_id });
			return { run_id: id, session_id: r.run.session_id, queued: true, demo: false };
		},
	};

	#get(id: string): RunView {
		return this.#world.runs.find((r) => r.run.id === id)!;
	}

	#family(id: string): RunView[] {
		const below = this.#world.runs.filter((r) => r.run.parent_id === id).flatMap((r) => this.#family(r.run.id));
		return [this.#get(id), ...below];
	}

	#process({ run: r, steps }: RunView): Process {
		const open = ended(r.state) ? undefined : steps.findLast((s) => s.state !== 'closed');
		const request = this.#world.approvals.find((a) => a.request.run_id === r.id && a.state === 'pending')?.request;
		return {
			...r,
			parent_id: r.parent_id || undefined,
			priority: priorities[r.priority]!,
			tool: open && (open.kind === 'tool' ? open.name : r.model),
			doing: open?.title,
			doing_ko: open?.title_ko,
			age_ms: Date.parse(r.ended_at ?? iso()) - Date.parse(r.created_at),
			waiting_for: request?.title,
			waiting_for_ko: request?.title_ko,
		};
	}
}

const skill = (id: string, name: string, name_ko: string, source: string): AgentCard['skills'][number] => ({
	id,
	name,
	name_ko,
	description: '',
	tags: [],
	source,
});

/** cardOf is the card of a run, as the kernel infers it for the scene. */
function cardOf(r: Run): AgentCard {
	const skills = [
		...(/photo|사진|place/i.test(r.text) ? [skill('research', 'Research', '조사', 'goal')] : []),
		skill('read-files', 'Reading files', '파일 읽기', 'tools'),
		skill('write-files', 'Writing files', '파일 쓰기', 'tools'),
		skill('run-commands', 'Running commands', '명령 실행', 'tools'),
	];
	return {
		id: r.id,
		pid: r.pid,
		name: r.name,
		description: r.text,
		capabilities: skills.map((s) => s.id),
		skills,
		session_id: r.session_id,
		profile: r.profile,
	};
}

const words = {
	en: {
		tidy: 'Tidy ~/Downloads. Receipts go to Documents/Receipts/2026 with a table, old installers can go.',
		clean: 'Delete the installers in Downloads that are older than a month. Say which ones they were.',
		read: 'Read the 26 receipts, and give date, shop and sum of each as a table.',
		brief: 'What is on today, and what came over night? One page, and send it to my tablet.',
		jeju: 'Rename the photos of the Jeju trip by date and place, and make a page with one picture a day.',
		places: 'Find the name of the place for each of these coordinates. Korean names first.',
		maps: 'Draw a small map for each day of the trip.',
		news: 'Save the five best of today’s stories as a note.',
		report: 'Write the figures of October into the report, and check them against the ledger.',
		index: 'Read the archive again, and make a list of what is there twice.',
		steps: [
			'Reads dates from photos',
			'Asked place-names: Where is 33.394, 126.239?',
			'Renamed 40 files, day 3',
			'Moved 38 files, day 2',
		],
		fork: (name: string) => `Forked an agent: ${name}`,
		placeAsk: 'Where is 33.394, 126.239?',
		placeSaid: '협재해수욕장',
		placeNext: 'Day 3 comes next, 40 coordinates.',
		wait: 'Wait for other agents',
		ask: 'Deletes 14 files in Downloads',
		send: 'Sends a file to another machine',
		moved: 'Moved and renamed 26 files',
		wrote: 'Wrote october.md',
		gone: 'The provider refused the key.',
		goneHint: 'Enter a new key in Settings, Models.',
	},
	ko: {
		tidy: '내려받기 폴더를 정리해 줘. 영수증은 Documents/Receipts/2026으로 옮기고 표를 만들어. 오래된 설치 파일은 지워도 돼.',
		clean: '내려받기 폴더에서 한 달 넘은 설치 파일을 지우고, 무엇을 지웠는지 알려 줘.',
		read: '영수증 26장을 읽고 날짜, 가게, 금액을 표로 만들어 줘.',
		brief: '오늘 일정과 밤사이 온 소식을 한 쪽으로 정리해서 태블릿으로 보내 줘.',
		jeju: '제주 여행 사진의 이름을 날짜와 장소로 바꾸고, 하루에 한 장씩 담은 페이지를 만들어 줘.',
		places: '좌표마다 장소 이름을 찾아 줘. 한국어 이름을 먼저 써 줘.',
		maps: '여행한 날마다 작은 지도를 그려 줘.',
		news: '오늘 기사 가운데 가장 좋은 다섯 개를 노트로 저장해 줘.',
		report: '10월 수치를 보고서에 넣고 장부와 맞는지 확인해 줘.',
		index: '보관함을 다시 읽고 두 번 들어 있는 것을 찾아 줘.',
		steps: [
			'사진에서 날짜 읽기',
			'place-names에게 물었습니다: 33.394, 126.239는 어디야?',
			'파일 40개 이름 변경, 3일째',
			'파일 38개 이동, 2일째',
		],
		fork: (name: string) => `에이전트 시작: ${name}`,
		placeAsk: '33.394, 126.239는 어디야?',
		placeSaid: '협재해수욕장',
		placeNext: '다음은 3일째, 좌표 40개야.',
		wait: '다른 에이전트 기다리기',
		ask: '내려받기 폴더의 파일 14개 삭제',
		send: '다른 컴퓨터로 파일 보내기',
		moved: '파일 26개를 옮기고 이름 변경',
		wrote: 'october.md 작성',
		gone: '제공자가 키를 거부했습니다.',
		goneHint: '설정의 모델에서 새 키를 입력해 주십시오.',
	},
};

/** agentsScene is the moment of the mockup: two trees, what waits, what is paused and queued, and what failed. */
export function agentsScene(w: World, speech: Speech): void {
	const t = words[speech];
	Object.assign(w, { sessions: [], messages: [], runs: [], approvals: [], queued: [], mail: [] });
	const cost = (sum: number, usd = 0) => ({ ...noCost, calls: 3, input: sum - 400, output: 400, usd, free: usd === 0 });
	const add = (r: Partial<Run> & { id: string; text: string; name: string }, ago: number, took?: number): RunView => {
		const session = r.parent_id ? w.runs.find((x) => x.run.id === r.parent_id)!.run.session_id : `s-${r.id}`;
		if (!r.parent_id) w.sessions.push(makeSession({ id: session, title: r.name, updated_at: iso(ago) }));
		const at = iso(ago);
		const run = makeRun({
			session_id: session,
			created_at: at,
			started_at: at,
			ended_at: took === undefined ? undefined : iso(ago - took),
			profile: r.parent_id ? 'worker' : 'operator',
			depth: r.parent_id ? 1 : 0,
			...r,
		});
		const v: RunView = { run, steps: [], changes: [] };
		w.runs.push(v);
		return v;
	};
	const did = (v: RunView, name: string, title: string, ago: number, ms: number, audit_seq: number) =>
		v.steps.push(
			makeStep({
				run_id: v.run.id,
				kind: 'tool',
				name,
				title,
				proposed_at: iso(ago),
				started_at: iso(ago),
				closed_at: iso(ago - ms),
				audit_seq,
			}),
		);
	const asked = (v: RunView, ago: number, ms: number, context: number, text = '') =>
		v.steps.push(
			makeStep({
				run_id: v.run.id,
				kind: 'model',
				text,
				context,
				proposed_at: iso(ago),
				started_at: iso(ago),
				closed_at: iso(ago - ms),
			}),
		);
	const does = (v: RunView, name: string, title: string, ago: number, more: object = {}) =>
		v.steps.push(
			makeStep({
				run_id: v.run.id,
				kind: 'tool',
				name,
				title,
				state: 'started',
				outcome: '',
				proposed_at: iso(ago),
				started_at: iso(ago),
				closed_at: undefined,
				...more,
			}),
		);
	const thinks = (v: RunView, ago: number) =>
		v.steps.push(
			makeStep({
				run_id: v.run.id,
				kind: 'model',
				state: 'started',
				outcome: '',
				proposed_at: iso(ago),
				started_at: iso(ago),
				closed_at: undefined,
			}),
		);

	const broke = (v: RunView, ago: number) =>
		v.steps.push(
			makeStep({
				run_id: v.run.id,
				kind: 'model',
				outcome: 'error',
				proposed_at: iso(ago),
				started_at: iso(ago),
				closed_at: iso(ago - 400),
			}),
		);

	const tidy = add(
		{ id: 'a-tidy', pid: 40, name: 'tidy-downloads', text: t.tidy, state: 'running', turns: 6, cost: cost(21_400) },
		4 * MINUTE,
	);
	asked(tidy, 4 * MINUTE, 3 * SECOND, 3100);
	did(tidy, 'exec', t.moved, 3.5 * MINUTE, 110, 1188);
	did(tidy, 'agent', t.fork('cleaner'), 50 * SECOND, 100, 1190);
	does(tidy, 'agent', t.wait, 44 * SECOND);
	const cleaner = add(
		{
			id: 'a-cleaner',
			pid: 41,
			parent_id: tidy.run.id,
			name: 'cleaner',
			text: t.clean,
			state: 'waiting',
			turns: 2,
			cost: cost(3100),
		},
		44 * SECOND,
	);
	asked(cleaner, 44 * SECOND, 4 * SECOND, 1800);
	const ask = makeApproval(cleaner.run.session_id, cleaner.run.id, {
		title: words.en.ask,
		title_ko: words.ko.ask,
		command: `find . -maxdepth 1 -name '*.deb' -mtime +30 -delete`,
		dir: '/home/minji/Downloads',
		agent: 'cleaner',
		ancestry: ['tidy-downloads'],
	});
	ask.created_at = iso(36 * SECOND);
	w.approvals.push(ask);
	does(cleaner, 'exec', t.ask, 36 * SECOND, { state: 'waiting', started_at: undefined, approval_id: ask.id });
	add(
		{
			id: 'a-reader',
			pid: 42,
			parent_id: tidy.run.id,
			name: 'receipt-reader',
			text: t.read,
			turns: 9,
			cost: cost(12_000),
		},
		3 * MINUTE,
		2 * MINUTE,
	);
	const brief = add(
		{
			id: 'a-brief',
			pid: 52,
			name: 'morning-brief',
			text: t.brief,
			state: 'waiting',
			turns: 4,
			cost: cost(9000, 0.012),
		},
		71 * MINUTE,
	);
	const send = makeApproval(brief.run.session_id, brief.run.id, {
		title: words.en.send,
		title_ko: words.ko.send,
		command: 'scp brief.pdf tablet:',
		network: true,
		agent: 'morning-brief',
	});
	send.created_at = iso(69 * MINUTE);
	w.approvals.push(send);
	does(brief, 'exec', t.send, 69 * MINUTE, { state: 'waiting', started_at: undefined, approval_id: send.id });

	const jeju = add(
		{
			id: 'a-jeju',
			pid: 38,
			name: 'jeju-photos',
			text: t.jeju,
			state: 'running',
			turns: 31,
			cost: cost(48_900),
			folder: '/home/minji/Pictures/2026-jeju',
		},
		38 * MINUTE,
	);
	did(jeju, 'agent', t.fork('place-names'), 37 * MINUTE, 100, 1102);
	did(jeju, 'exec', t.steps[3]!, 20 * MINUTE, 1400, 1130);
	asked(jeju, 18 * MINUTE, 4100, 11_200);
	did(jeju, 'exec', t.steps[2]!, 4 * MINUTE, 100, 1170);
	did(jeju, 'agent', t.steps[1]!, 1 * MINUTE, 1100, 1181);
	does(jeju, 'exec', t.steps[0]!, 3 * SECOND);
	for (const name of ['day-1.md', 'day-2.md', 'day-3.md'])
		jeju.changes.push({
			id: name,
			run_id: jeju.run.id,
			step_id: '',
			path: name,
			kind: 'created',
			added: 12,
			removed: 0,
			binary: false,
		});
	const places = add(
		{
			id: 'a-places',
			pid: 39,
			parent_id: jeju.run.id,
			name: 'place-names',
			text: t.places,
			state: 'running',
			turns: 14,
			cost: cost(19_200),
		},
		37 * MINUTE,
	);
	thinks(places, 6 * SECOND);
	const says = (n: number, from: RunView, to: RunView, text: string, ago: number, more: Partial<AgentMessage> = {}) =>
		w.mail.push({
			n,
			id: `m-${n}`,
			kind: 'task_delegation',
			from: from.run.id,
			from_name: from.run.name,
			to: to.run.id,
			to_name: to.run.name,
			text,
			payload: {},
			asks: true,
			state: 'answered',
			session_id: from.run.session_id,
			created_at: iso(ago),
			...more,
		});
	says(1, jeju, places, t.placeAsk, 2 * MINUTE);
	says(2, places, jeju, t.placeSaid, 1 * MINUTE, {
		kind: 'result_sharing',
		answers: 'm-1',
		asks: false,
		state: 'delivered',
	});
	says(3, jeju, places, t.placeNext, 20 * SECOND, { kind: 'status_update', asks: false, state: 'waiting' });
	add(
		{
			id: 'a-maps',
			pid: 53,
			parent_id: jeju.run.id,
			name: 'day-maps',
			text: t.maps,
			state: 'queued',
			turns: 0,
			cost: noCost,
			priority: 0,
			started_at: undefined,
		},
		20 * SECOND,
	);
	add(
		{
			id: 'a-index',
			pid: 50,
			name: 'archive-index',
			text: t.index,
			state: 'paused',
			paused: true,
			turns: 3,
			cost: cost(6200),
		},
		95 * MINUTE,
	);
	const report = add(
		{
			id: 'a-report',
			pid: 48,
			name: 'october-report',
			text: t.report,
			state: 'failed',
			turns: 3,
			provider: 'work',
			model: 'house-large',
			cost: cost(7400, 0.009),
			end_reason: t.gone,
			error: { code: 'auth', message: t.gone, hint: t.goneHint },
		},
		130 * MINUTE,
		4 * MINUTE,
	);
	asked(report, 130 * MINUTE, 2600, 3400);
	did(report, 'read', 'ledger.md', 129 * MINUTE, 60, 1041);
	did(report, 'write', t.wrote, 128 * MINUTE, 90, 1043);
	broke(report, 127 * MINUTE);
	report.changes.push({
		id: 'october',
		run_id: report.run.id,
		step_id: '',
		path: 'october.md',
		kind: 'created',
		added: 31,
		removed: 0,
		binary: false,
	});
	add(
		{ id: 'a-news', pid: 31, name: 'hacker-news', text: t.news, turns: 5, cost: cost(8800, 0.02) },
		215 * MINUTE,
		51 * SECOND,
	);
}

/** manyAgents are a thousand of them, each tenth below another. */
export function manyAgents(w: World): void {
	const s = makeSession({ id: 's-agents', title: 'A thousand agents' });
	Object.assign(w, { sessions: [s], messages: [], runs: [], approvals: [] });
	for (let i = 0; i < 1000; i++) {
		const run = makeRun({
			id: `r-agent-${i}`,
			pid: i + 1,
			session_id: s.id,
			parent_id: i % 10 ? `r-agent-${i - (i % 10)}` : '',
			depth: i % 10 ? 1 : 0,
			name: `agent-${i + 1}`,
			text: 'Do a part of it.',
			state: i < 500 ? 'done' : 'running',
			created_at: iso((1000 - i) * 10_000),
			started_at: iso((1000 - i) * 10_000),
			ended_at: i < 500 ? iso((1000 - i) * 10_000 - 4000) : undefined,
		});
		w.runs.push({ run, steps: [], changes: [] });
	}
}
