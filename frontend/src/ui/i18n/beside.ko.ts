import type { beside as en } from './beside.en';

const f = (count: number) => count.toLocaleString('ko');

export const beside: typeof en = {
	beside: {
		split: '나란히 보기',
		close: '이쪽 닫기',
		other: (name) => `다른 쪽 보기: ${name}`,
		next: '다른 쪽으로 이동',
		open: '옆에 열기',
		width: '첫 번째 쪽 너비',
		alsoSplit: '분할 두 개 창 나란히',

		changed: (agents) =>
			agents === 1 ? '에이전트가 이 노트를 바꿨습니다' : `에이전트 ${f(agents)}개가 이 노트를 바꿨습니다`,
		changedSaid: (agents, added, removed) =>
			`${agents === 1 ? '에이전트가' : `에이전트 ${f(agents)}개가`} 이 노트를 바꿨습니다. ${f(added)}줄 추가, ${f(removed)}줄 삭제.`,
		lines: (added, removed) => `+${f(added)} −${f(removed)}줄`,
		quoted: (title) => `‘${title}’ 대화`,
		since: '그 뒤에 글을 썼으므로 되돌리려면 버전을 고르십시오',
		show: '보기',
		hide: '숨기기',
		difference: '차이 보기',
		agents: '에이전트가 바꾼 내용',
		theirs: '내 글에서 바뀐 글까지의 차이',
		dismiss: '알림 닫기',
		undone: (name) => `${name}을(를) 에이전트가 바꾸기 전으로 되돌렸습니다.`,

		ask: '이 노트에 대해 질문하기',
		askMenu: '이 노트에 대해 질문…',
		askSaveFirst: '쓴 글이 아직 저장되지 않아 질문하지 않았습니다. 질문은 그대로 있습니다.',

		moveTo: '이동…',
		move: '이동',
		moveOf: (name) => `${name} 이동`,
		renameOf: (name) => `${name} 이름 변경`,
		renameItem: '이름 변경…',
		newNote: '여기에 새 노트…',
		newFolder: '새 폴더…',
		folderName: '폴더 이름',
		inFolder: (folder) => (folder ? `${folder} 안에 만듭니다.` : '맨 위에 만듭니다.'),
		deleteItem: '삭제…',
		deleteFolder: '이 폴더를 삭제하시겠습니까?',
		deleteFolderWhy: (notes) =>
			notes === 0
				? '안에 노트가 없습니다.'
				: `안에 있는 노트 ${f(notes)}개가 휴지통으로 갑니다. 그 노트로 가는 링크는 남지만 이어지지 않습니다.`,
		actions: (name) => `${name} 동작`,
		keys: {
			split: '나란히 보기, 다시 누르면 닫기',
			next: '다른 쪽으로 이동',
			beside: '옆에 열기',
			rename: '목록에서 이름 변경',
			delete: '목록에서 삭제',
			menu: '목록에서 동작 열기',
		},
	},
};
