import type { CriterionResult, Evaluation, SeedInfo, SeedQuery, SeedVersion } from '../api.gen';
import { iso, makeApproval, makeMessage, makeRun, makeSession, makeStep, type Speech, type World } from './data';

const words = {
	en: {
		title: 'Move the blog',
		ask: 'Move all posts of my old blog to the new site.',
		said: 'The backup holds 184 posts and 611 images. Three things before I start.',
		goal: '184 posts and 611 images show whole on the new site.',
		criteria: ['184 posts', 'Every image opens', 'Internal links lead to pages', 'The site builds'],
		questions: ['What should the addresses be?', 'Also move the 12 private posts?', 'When is it done for you?'],
		options: [
			['The old numbers (/123)', 'New ones from the titles'],
			['Leave them out', 'Move them as private'],
		],
		done: 'All posts are on the new site, and links to deleted posts lead to archive.md.',
		first: 'All posts are moved.',
		evidence: [
			'ls posts | wc -l ended with 0: 184',
			'611 of 611',
			'make linkcheck ended with 1: 7 links, first posts/87.md to /41',
			'make ended with 0',
		],
		now: 'make linkcheck ended with 0: 902 links',
	},
	ko: {
		title: '블로그 옮기기',
		ask: '예전 티스토리 블로그 글을 전부 새 사이트로 옮겨 줘.',
		said: '백업 파일에서 글 184개와 이미지 611장을 찾았습니다. 시작하기 전에 세 가지만 여쭙겠습니다.',
		goal: '글 184개와 이미지 611장을 새 사이트에 깨짐 없이 옮기기',
		criteria: ['글 수 184개 일치', '이미지 모두 열림', '내부 링크가 새 주소로 연결됨', '사이트 빌드 오류 없음'],
		questions: ['주소는 어떻게 할까요?', '비공개 글 12개도 옮길까요?', '완료로 볼 기준이 더 있나요?'],
		options: [
			['예전 번호 그대로 (/123)', '제목으로 새로 짓기'],
			['제외', '비공개로 옮기기'],
		],
		done: '글을 모두 옮겼고, 삭제된 글의 링크는 archive.md로 이어집니다.',
		first: '글을 모두 옮겼습니다.',
		evidence: [
			'ls posts | wc -l 종료 코드 0: 184',
			'611장 중 611장',
			'make linkcheck 종료 코드 1: 링크 7개, 첫 번째는 posts/87.md에서 /41',
			'make 종료 코드 0',
		],
		now: 'make linkcheck 종료 코드 0: 링크 902개',
	},
};

/** begin makes the conversation and its run. */
function begin(w: World, speech: Speech, state: string) {
	const t = words[speech];
	const s = makeSession({ id: 's-blog', title: t.title, folder: '/home/minji/blog', updated_at: iso(-1000), state });
	const run = makeRun({ id: 'r-blog', session_id: s.id, text: t.ask, name: t.title, folder: s.folder });
	w.sessions.unshift(s);
	w.messages.push(makeMessage({ session_id: s.id, run_id: run.id, role: 'user', content: t.ask }));
	const task = {
		goal: t.goal,
		acceptance_criteria: t.criteria.map((text) => ({ text })),
		clarity: { goal: 0.9, constraints: 0.6, criteria: 0.6 },
	};
	return { t, s, run, task };
}

/** askScene is a run that asks before it begins. */
export function askScene(w: World, speech: Speech): void {
	const { t, s, run, task } = begin(w, speech, 'waiting');
	Object.assign(run, { state: 'waiting', ended_at: undefined });
	Object.assign(s, { waiting: 1 });
	const questions = t.questions.map((text, i) => ({ text, part: 'goal', options: t.options[i] }));
	w.approvals.push(
		makeApproval(s.id, run.id, { title: t.title, title_ko: t.title, call: 'agents.beginTask', questions }),
	);
	const asks = { name: 'begin_task', state: 'waiting' as const, outcome: '', closed_at: undefined, title: t.title };
	w.runs.push({
		run,
		changes: [],
		steps: [
			makeStep({ run_id: run.id, kind: 'model', text: t.said }),
			makeStep({ run_id: run.id, kind: 'tool', args: task, ...asks }),
		],
	});
}

/** planScene is work whose first version missed a criterion. */
export function planScene(w: World, speech: Speech): void {
	const { t, s, run, task } = begin(w, speech, 'done');
	const begun = makeStep({ run_id: run.id, kind: 'tool', name: 'begin_task', title: t.goal, args: task });
	const team = t.criteria.slice(0, 3).map((name, i) => ({
		...makeRun({
			id: `r-blog-${i}`,
			session_id: s.id,
			parent_id: run.id,
			made_by: begun.id,
			depth: 1,
			text: name,
			name,
		}),
		pid: 12 + i,
		folder: s.folder,
		created_at: iso(220_000),
		ended_at: iso(220_000 - [130, 211, 48][i]! * 1000),
	}));
	w.runs.push(...team.map((run) => ({ run, changes: [], steps: [] })));
	const version = (n: number): SeedVersion => {
		const results: CriterionResult[] = t.criteria.map((criterion, i) => {
			const passed = n === 2 || i !== 2;
			return { criterion, passed, evidence: passed && i === 2 ? t.now : t.evidence[i]!, how: 'command' };
		});
		const score = n === 2 ? 1 : 0.75;
		const seed = { id: 'seed-blog', version: n };
		const missed = { criterion: 3, text: t.criteria[2]!, evidence: t.evidence[2]! };
		const evaluation: Evaluation = {
			seed_id: seed.id,
			version: n,
			score,
			passed: n === 2,
			judged: false,
			results,
			at: iso(),
		};
		const info: SeedInfo = {
			...seed,
			run_id: run.id,
			session_id: s.id,
			goal: t.goal,
			ambiguity: 0.24,
			state: n === 2 ? 'passed' : 'failed',
			score,
			created_at: iso(),
		};
		return {
			info,
			evaluation,
			shares:
				n === 1
					? team.map((r, i) => ({ criteria: [i + 1], run_id: r.id, pid: r.pid, name: r.name, state: r.state }))
					: [],
			seed: {
				...seed,
				goal: t.goal,
				constraints: [],
				acceptance_criteria: task.acceptance_criteria,
				profile: 'operator',
				ambiguity: 0.24,
				answers: [{ question: t.questions[0]!, answer: t.options[0]![0]! }],
				assumptions: [t.questions[1]!],
				changes: n === 2 ? [missed] : undefined,
				created_at: iso(),
			},
		};
	};
	const versions = [version(1), version(2)];
	w.seeds.push({ id: 'seed-blog', versions, history: [], most: 3 });
	const step = { run_id: run.id };
	w.runs.push({
		run,
		changes: [],
		steps: [
			begun,
			makeStep({ ...step, kind: 'model', text: t.first }),
			makeStep({ ...step, kind: 'evaluation', args: versions[0]!.evaluation! }),
			makeStep({ ...step, kind: 'model', text: t.done }),
			makeStep({ ...step, kind: 'check', name: 'check', title: t.now }),
			makeStep({ ...step, kind: 'evaluation', args: versions[1]!.evaluation! }),
		],
	});
	w.messages.push(
		makeMessage({ session_id: s.id, run_id: run.id, role: 'assistant', content: t.done, cost: run.cost }),
	);
}

/** seedsOf lists the newest version of each plan of a conversation. */
export function seedsOf(w: World, q: SeedQuery): SeedInfo[] {
	const newest = w.seeds.flatMap((v) => v.versions.slice(-1).map((o) => o.info));
	return newest.filter((i) => !q.session_id || i.session_id === q.session_id);
}
