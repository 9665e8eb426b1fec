import type { tryOut as en } from './try.en';

export const tryOut: typeof en = {
	tryOut: {
		open: '사본에서 해 보기',
		running: '네트워크 없이 폴더의 사본에서 실행하는 중',
		stop: '멈추기',
		title: '사본에서 해 보았고, 아직 아무것도 바뀌지 않았습니다',
		ended: (code, time) => (code === 0 ? `${time} 만에 끝남` : `${time} 뒤 실패, 종료 코드 ${code}`),
		output: '출력',
		silent: '출력이 없습니다.',
		network: '네트워크',
		asked: (hosts) => `${hosts}에 연결하려 했습니다. 네트워크는 닫혀 있었습니다`,
		files: (count, size) =>
			count === 0 ? '파일을 바꾸지 않았습니다.' : `변경 ${count.toLocaleString('ko')}건, ${size} 쓰기`,
		does: { creates: '만듦', changes: '바꿈', deletes: '지움', mode: '권한' },
		show: (path) => `${path}의 차이 보기`,
		more: (count) => `외 ${count.toLocaleString('ko')}건`,
		conflict: '해 본 뒤에 파일이 바뀌어 적용할 수 없습니다. 다시 해 보세요.',
		impossible: '적용할 수 없는 부분이 있습니다. 사본 없이 승인할 수 있습니다.',
		apply: '적용',
		applyNote: '보이는 그대로 적용하고, 다시 실행하지 않습니다',
		again: '다시 해 보기',
		discard: '버리기',
	},
};
