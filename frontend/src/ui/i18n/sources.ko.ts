import type { sources as en } from './sources.en';

const f = (count: number) => count.toLocaleString('ko');

export const sources: typeof en = {
	notesPlace: {
		title: '노트 폴더',
		ownWhy:
			'Oxios의 기본 폴더입니다. 모든 변경이 이력(git)에 남고 백업에 들어갑니다. Obsidian 폴더처럼 직접 쓰던 폴더를 대신 쓸 수도 있습니다.',
		theirsWhy:
			'직접 고른 폴더입니다. Oxios는 여기에 노트만 씁니다. 이력은 남기지 않고 Oxios 백업에도 넣지 않습니다. 에이전트가 바꾼 것은 평소처럼 되돌릴 수 있습니다.',
		notes: (count) => `노트 ${f(count)}개`,
		history: '모든 변경을 이력에 보관',
		noHistory: 'git 이력 없음',
		show: '노트 보기',
		choose: '다른 폴더 선택…',
		back: '기본 폴더로',
		error: '노트의 상태를 읽지 못했습니다',
		journal: '일지',
		journalWhy: '하루의 노트입니다. 그날 처음 쓸 때 만들어집니다.',
		folder: '노트 안의 폴더',
		folderWhy: '점(.)을 쓰면 다른 노트 옆에 둡니다.',
		format: '하루의 이름',
		formatWhy: 'Obsidian처럼 YYYY, MM, DD, ddd 등을 씁니다. [대괄호] 안의 글은 그대로 둡니다.',
		template: '새 일지의 첫머리',
		templateWhy: '{{title}}, {{date}}, {{time}} 자리를 채웁니다.',
		day: '오늘의 노트 미리 보기',
		dayThere: '오늘의 노트는 이미 있으므로 그대로 둡니다. 다른 날은 이렇게 시작합니다',
		emptyDay: '빈 노트로 시작합니다.',
		discard: '되돌리기',
		import: '가져오기…',
		check: '점검…',
		checkWhy: '끊어진 링크, 읽을 수 없는 파일, 다른 시스템에서 쓸 수 없는 이름을 찾습니다.',
	},
	pages: {
		web: '웹에서 온 것',
		searched: '웹 검색',
		outside: '브라우저에서 열기',
		save: '노트로 저장',
		saveNow: '다시 읽어 저장',
		saving: '저장 중…',
		gone: '이 실행의 기록에 페이지의 내용이 더는 남아 있지 않습니다.',
		saved: (path) => `${path}에 저장했습니다`,
		open: '열기',
		undo: '되돌리기',
	},
};
