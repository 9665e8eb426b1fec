import { iso, makeMessage, makeRun, makeSession, makeStep, type World, type Speech } from './data';
import { uncontainedScene } from './access';
import { agentsScene, manyAgents } from './agents';
import { attachedScene, type Desk } from './attach';
import { limitScene } from './costs';
import { embeddingFails, embeddingScene } from './embedder';
import { foundScene, manyEnds } from './inbox';
import { manyMemories } from './memory';
import { pagesScene } from './pages';
import { proposedScene, spacesScene } from './spaces';
import { askScene, planScene } from './task';
import { branchScene } from './tree';

function many(w: World): void {
	for (let i = 0; i < 500; i++) {
		w.sessions.push(
			makeSession({
				id: `s-many-${i}`,
				title: `Conversation ${i + 1} about a thing with a rather long name`,
				updated_at: iso((30 + i) * 3_600_000),
			}),
		);
	}
	const s = makeSession({ id: 's-rows', title: 'Five hundred rows' });
	w.sessions.unshift(s);
	const r = makeRun({ id: 'r-rows', session_id: s.id, text: 'Count.' });
	w.messages.push(makeMessage({ session_id: s.id, run_id: r.id, role: 'user', content: 'Count.' }));
	w.runs.push({
		run: r,
		changes: [],
		steps: Array.from({ length: 500 }, (_, i) =>
			i % 2 === 0
				? makeStep({
						run_id: r.id,
						kind: 'model',
						text: `Part **${i}** of the count, with \`code\` and a list:\n\n- one\n- two`,
					})
				: makeStep({
						run_id: r.id,
						kind: 'tool',
						name: i % 4 === 1 ? 'exec' : 'read',
						title: `Step ${i}`,
						output: 'ok',
					}),
		),
	});
}

/** archive takes two conversations out of the list; in the newest a message has mentions. */
function archive(w: World): void {
	for (const s of w.sessions.slice(-2)) s.archived = true;
	const s = w.sessions[0]!;
	const said = w.messages.find((m) => m.session_id === s.id && m.role === 'user')!;
	said.content = 'Compare @src/ledger/ledger.go with @"제주 사진/바다.jpg" and @보고서.hwp를 끝까지.';
}

function troubles(w: World): void {
	w.status.audit_ok = false;
	w.status.paused = true;
	w.config.problem = {
		code: 'invalid',
		message: 'Line 7: mode is "sometimes"; it may be ask, guarded or autonomous.',
		hint: 'Correct the line; it is read again by itself.',
	};
	w.status.problem = {
		code: 'disk_full',
		message: 'The disk is full. Everything until 10:31 is kept.',
		hint: 'Free 200 MB; reading goes on meanwhile.',
	};
}

function offline(w: World): void {
	Object.assign(w.config.values, { provider: 'openai', model: 'gpt-5-mini' });
	const run = w.runs.find((r) => r.run.state === 'running')!.run;
	run.provider = 'openai';
	Object.assign(
		w.sessions.find((s) => s.id === run.session_id)!,
		{ provider: 'openai', model: 'gpt-5-mini' },
	);
	const since = iso(90_000);
	w.status.offline = [{ provider: 'openai', name: 'OpenAI', since, runs: [run.id] }];
	w.status.held = [
		{
			id: 'provider:openai',
			kind: 'provider',
			name: 'OpenAI',
			since,
			runs: [{ run_id: run.id, session_id: run.session_id, name: run.name }],
			count: 1,
			message: 'OpenAI did not answer: no route to host.',
			message_ko: 'OpenAI가 답하지 않았습니다: 경로 없음.',
			hint: 'It is tried again by itself, and what waits goes out when it answers. Nothing was sent elsewhere.',
			hint_ko: '저절로 다시 시도하며, 답하면 기다리던 것을 보냅니다. 다른 곳으로는 보내지 않았습니다.',
		},
	];
}

/** setScene turns the day into the one that a view is looked at in. */
export function setScene(w: World, desk: Desk, scene: string, speech: Speech): void {
	switch (scene) {
		case 'empty':
			Object.assign(w, { sessions: [], approvals: [], runs: [], memories: [], spaces: [], notes: {} });
			w.status.audit_entries = 0;
			break;
		case 'many':
			many(w);
			break;
		case 'archived':
			archive(w);
			break;
		case 'ends':
			manyEnds(w);
			break;
		case 'many-memories':
			manyMemories(w);
			break;
		case 'attached':
			attachedScene(w, desk, speech);
			break;
		case 'problem':
			troubles(w);
			break;
		case 'offline':
			offline(w);
			break;
		case 'embedding':
			embeddingScene(w);
			break;
		case 'embedding-failed':
			embeddingFails(w);
			break;
		case 'limit':
			limitScene(w);
			break;
		case 'uncontained':
			uncontainedScene(w);
			break;
		case 'found':
			foundScene(w);
			break;
		case 'proposed':
			proposedScene(w, speech);
			break;
		case 'spaces':
			spacesScene(w, speech);
			break;
		case 'trust':
			w.config.values.folder = '/home/minji/src/oxios';
			break;
		case 'ask':
			askScene(w, speech);
			break;
		case 'plan':
			planScene(w, speech);
			break;
		case 'branch':
			branchScene(w, speech);
			break;
		case 'busy':
			w.busy = true;
			agentsScene(w, speech);
			break;
		case 'agents':
			agentsScene(w, speech);
			break;
		case 'pages':
			pagesScene(w, speech);
			break;
		case 'many-agents':
			manyAgents(w);
			break;
	}
}
