import type { vaultfiles as en } from './vaultfiles.en';

export const vaultfiles: typeof en = {
	vaultfiles: {
		pasted: (stamp) => `Pasted image ${stamp}`,
		saving: (name) => `${name} 저장 중`,
		unreadable: (name) => `${name}을(를) 읽지 못했습니다. 노트는 그대로 두었습니다.`,
		left: (link) => `${link} 파일은 저장했지만 노트에서 넣을 자리가 없어져 링크는 넣지 않았습니다.`,
		loading: '읽는 중',
		failed: (link) => `${link}을(를) 표시하지 못했습니다`,
		missing: (name) => `${name}이(가) 없습니다`,
		make: '누르면 만듭니다',
		noPart: (name, part) => `${name}에 ‘${part}’ 부분이 없습니다`,
		itself: (name) => `${name}: 위에서 이미 보여 줍니다`,
		deep: (name) => `${name}: 여기서는 보여 주지 않습니다`,
		empty: '비어 있습니다.',
		more: '노트에 이어집니다.',
		edit: (name) => `그림 ${name}. 누르면 링크를 고칩니다`,
		open: (name) => `${name} 열기`,
		elsewhere: '다른 프로그램에서 열기',
		download: '내려받기',
		delete: '삭제',
		deleteTitle: '이 파일을 삭제할까요?',
		picture: '그림',
		file: '파일',
		facts: (kind, size, when) => `${kind}, ${size}, ${when} 변경`,
		tooLarge: '너무 커서 여기서 보여 줄 수 없습니다.',
	},
};
