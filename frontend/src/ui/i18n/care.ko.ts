import type { care as en } from './care.en';

const f = (count: number) => count.toLocaleString('ko');

export const care: typeof en = {
	tidied: {
		said: (when, parts) => (parts.length === 0 ? `${when}: 정리할 것이 없었습니다.` : `${when}: ${parts.join(', ')}.`),
		lastNight: '지난밤',
		merged: (count) => `같은 기억 ${f(count)}개 합침`,
		dated: (count) => `날짜 ${f(count)}개 정확히 함`,
		replaced: (count) => `사실 ${f(count)}개 바꿈`,
		pruned: (count) => `오래된 기억 ${f(count)}개 치움`,
		cleared: (count) => `이전 내용 ${f(count)}개 지움`,
		show: '보기',
		showWhy: '기억을 어떻게 정리했는지 보기',
		title: '정리한 것',
		why: '모델을 부르지 않았습니다. 고정한 기억은 그대로 두고, 직접 쓴 기억은 치우지 않습니다.',
		kinds: {
			merged: '합침',
			dated: '날짜를 정확히 함',
			replaced: '바꿈',
			pruned: '치움',
			cleared: '이전 내용 지움',
		},
		clearedWhy: (count) => `보관하는 수를 넘은 이전 내용 ${f(count)}개를 지웠습니다.`,
		before: '이전',
		after: '지금',
		prunedNow: '더는 주지 않으며, 30일 뒤에 지웁니다',
		gone: '그 뒤에 지운 기억입니다.',
		undo: '되돌리기',
		undoOf: (text) => `되돌리기: ${text}`,
		undone: '되돌림',
		notUndone: '되돌리지 못했습니다',
		error: '보고를 읽지 못했습니다',
	},
	caring: {
		give: '기억',
		giveWhy: '메시지에 맞는 기억을 에이전트에게 줍니다. 끄면 새로 찾지도 않으며, 지우는 것은 없습니다.',
		extract: '대화에서 기억하기',
		extractWhy: (minutes) =>
			`대화가 ${minutes}분 쉬면 그 대화의 모델에게 무엇을 기억할지 한 번 묻습니다. 다른 곳에는 보내지 않습니다.`,
		tokens: '하루에 쓸 토큰',
		tokensWhy: '다 쓰면 대화는 다음 날을 기다립니다. 비우면 따로 한도가 없으며, 한도와 비용의 한도는 그대로입니다.',
		curate: '밤마다 정리하기',
		curateWhy:
			'같은 말을 합치고, 날짜를 정확히 하고, 새 사실을 둡니다. 모델을 부르지 않으며 하나씩 되돌릴 수 있습니다.',
		hour: '시각',
		now: '지금 정리하기',
		nowWhy: '한 일을 바로 보여 줍니다.',
		working: '정리하는 중',
	},
};
