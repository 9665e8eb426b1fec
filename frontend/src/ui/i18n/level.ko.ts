import type { level as en } from './level.en';

export const level: typeof en = {
	level: {
		words: ['격리 없음', '제한만 있음', '일부 격리', '격리됨'],
		open: (level: number) => `명령 격리 3단계 가운데 ${level}단계. 권한 열기`,
	},
};
