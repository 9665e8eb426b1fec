import type { Label, PageSave, PageSaved, SearchService, StepView, WebResult, WebSearch } from '../api.gen';
import { no, type Core } from './core';
import { makeMessage, makeRun, makeSession, makeStep, type Speech, type World } from './data';
import type { FakeVault } from './vault';

const fromWeb = (host: string): Label => ({
	id: `label-${host}`,
	origin: 'web',
	untrusted: true,
	name: `https://${host}/`,
	text: `what ${host} sent`,
	text_ko: `${host}에서 온 것`,
});

/** pagesScene is a conversation in which an agent looked something up. */
export function pagesScene(w: World, speech: Speech): void {
	const ko = speech === 'ko';
	const asked = ko ? '제주 우도 막배 시간을 찾아줘.' : 'When does the last ferry from Udo leave?';
	const words = ko ? '우도 막배 시간' : 'Udo last ferry';
	const title = ko ? '우도 도항선 시간표' : 'Udo ferry timetable';
	const s = makeSession({ id: 's-pages', title: ko ? '우도 막배' : 'The last ferry from Udo' });
	const r = makeRun({ id: 'r-pages', session_id: s.id, text: asked, name: 'ferry' });
	const tool = (of: Partial<StepView>) => makeStep({ run_id: r.id, kind: 'tool', ...of }, 640);
	w.sessions.unshift(s);
	w.messages.push(
		makeMessage({ session_id: s.id, run_id: r.id, role: 'user', content: asked }),
		makeMessage({
			session_id: s.id,
			run_id: r.id,
			role: 'assistant',
			content: ko
				? '평일 막배는 **17:30**, 일요일은 **18:00**에 떠납니다.'
				: 'It leaves at **17:30**, on Sundays at **18:00**.',
		}),
	);
	w.runs.push({
		run: r,
		changes: [],
		steps: [
			tool({
				id: 'step-search',
				name: 'web_search',
				title: `Found 8 pages for ${words}`,
				title_ko: `${words}: 8페이지 찾음`,
				args: { query: words },
				output: `1. ${title}\n   https://udo-ferry.example/times`,
				labels: [fromWeb('duckduckgo')],
			}),
			tool({
				id: 'step-page',
				name: 'web_fetch',
				title: `Read ${title}`,
				title_ko: `${title} 읽기`,
				args: { url: 'https://www.udo-ferry.example/times?season=winter' },
				output: `https://www.udo-ferry.example/times?season=winter\n${title}\n\n# ${title}\n\n| | |\n|---|---|\n| Mon–Sat | 17:30 |\n| Sun | 18:00 |`,
				labels: [fromWeb('www.udo-ferry.example')],
			}),
			tool({
				id: 'step-freed',
				name: 'web_fetch',
				title: 'Read https://visit-udo.example/',
				title_ko: 'https://visit-udo.example/ 읽기',
				args: { url: 'https://visit-udo.example/' },
				output: '(Oxios: what this step gave was freed on 2026-11-20.)',
				labels: [fromWeb('visit-udo.example')],
			}),
		],
	});
}

/** searchCalls are the search service of the fake kernel: its key is "wrong" or right. */
export function searchCalls(core: Core) {
	const keys: Record<string, string> = {};
	const values = core.world.config.values;
	values.search_service = 'duckduckgo';
	values.search_url = '';
	const service = (): SearchService => ({
		kind: values.search_service!,
		url: values.search_url!,
		key: !!keys[values.search_service!],
	});
	return {
		'browser.service': service,
		'browser.setKey': (key: string) => {
			keys[values.search_service!] = key;
			return service();
		},
		'browser.search': (q: WebSearch): WebResult[] => {
			const s = service();
			if (keys[s.kind] === 'wrong')
				throw no('auth', 'Brave Search refused the key.', 'Set another one with `oxios web key`.');
			if (q.query === 'nothing') return [];
			return [1, 2, 3].map((n) => ({
				title: `${q.query} (${n})`,
				url: `https://example.org/${n}`,
				site: 'example.org',
				snippet: 'Cloudy in the morning, clear from noon on. The wind comes from the north-west.',
			}));
		},
	};
}

/** pageCalls keep the pages that an agent has read. */
export function pageCalls(core: Core, vault: FakeVault) {
	return {
		'knowledge.savePage': (p: PageSave): PageSaved => {
			const step = p.run_id && core.run(p.run_id).steps.find((s) => s.id === p.step_id);
			const [url = '', title = ''] = step ? step.output!.split('\n') : [p.url ?? '', 'Udo'];
			const name = `Pages/${title}`;
			const body = step ? step.output!.split('\n\n').slice(1).join('\n\n') : '# Udo';
			const text = `---\ntitle: "${title}"\nsource: "${url}"\ndate: 2026-11-24\n---\n${body}\n`;
			let path = `${name}.md`;
			for (let i = 2; path in core.world.notes; i++) path = `${name} ${i}.md`;
			const made = vault.calls['knowledge.write']!({ path, text, base: '', run_id: p.run_id }) as PageSaved;
			return { ...made, title, url };
		},
	};
}
