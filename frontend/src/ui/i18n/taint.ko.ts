import type { taint as en } from './taint.en';

export const taint: typeof en = {
	taint: {
		read: '읽은 것',
		outside: '밖에서 옴',
		private: '사적',
		both: '밖에서 옴, 사적',
		here: '이 단계에서 밖에서 온 것이나 사적인 것을 읽었습니다',
		trust: '이것을 신뢰',
		trustOne: (what: string) => `지금 그대로 신뢰합니다: ${what}`,
		trusted: '지금 그대로 신뢰합니다',
		takeBack: '취소',
		takeBackOne: (what: string) => `신뢰를 취소합니다: ${what}`,
		more: (n: number) => `외 ${n}개`,
	},
};
