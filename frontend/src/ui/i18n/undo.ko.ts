import type { undo as en } from './undo.en';

const files = (count: number) => `파일 ${count.toLocaleString('ko')}개`;

export const undo: typeof en = {
	undoOpen: (count) => `${files(count)} 되돌리기…`,
	redoOpen: (count) => `${files(count)} 다시 적용…`,
	undone: (count) => `${files(count)} 되돌림`,
	file: (name) => `${name} 되돌리기`,
	title: '이 실행이 한 일을 되돌릴까요?',
	titleRedo: '되돌린 것을 다시 적용할까요?',
	about: (ready, all) =>
		`${files(all)} 중 ${ready}개가 실행 전으로 돌아갑니다. 실행이 쓰지 않은 것은 그대로 둡니다. 다시 적용할 수 있습니다.`,
	aboutRedo: (ready, all) => `${files(all)} 중 ${ready}개가 되돌리기 전으로 돌아갑니다. 다시 되돌릴 수 있습니다.`,
	whose: '누가 바꾼 것',
	family: '에이전트까지',
	alone: '이 실행만',
	agents: (count, names) => `에이전트 ${count.toLocaleString('ko')}개가 들어 있습니다: ${names}.`,
	nothing: '되돌릴 것이 없습니다.',
	nothingRedo: '다시 적용할 것이 없습니다.',
	loading: '파일을 살피는 중',
	error: '파일을 살피지 못했습니다',
	does: { restores: '되돌림', returns: '되살림', removes: '지움' },
	conflicts: '실행이 남긴 그대로가 아님',
	impossible: '되돌릴 수 없음',
	already: '그대로 둠',
	left: '되돌리지 못함',
	differs: '다름',
	keep: '그대로 두기',
	restore: '되돌리기',
	choice: (path) => `${path} 처리`,
	kept: '지금 내용은 먼저 보관하며, 다시 적용하면 돌아옵니다.',
	show: (path) => `${path}의 차이 보기`,
	noText: '글이 아닌 파일이라 비교할 수 없습니다.',
	yes: (count) => `${files(count)} 되돌리기`,
	yesRedo: (count) => `${files(count)} 다시 적용`,
	done: (count) => `${files(count)} 되돌렸습니다.`,
	doneRedo: (count) => `${files(count)} 다시 적용했습니다.`,
};
