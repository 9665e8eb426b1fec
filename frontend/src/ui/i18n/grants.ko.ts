import type { grants as en } from './grants.en';

/** grants holds the words of the kinds of steps that a person allows beforehand. */
export const grants: typeof en = {
	grants: {
		kind: '이런 종류…',
		more: '한 번보다 더 승인',
		reading: '무엇이 해당되는지 보는 중',
		for: '기간',
		run: '이 실행 동안',
		session: '이 대화 동안',
		hour: '1시간',
		hours: '8시간',
		month: '30일',
		confirm: '이런 종류 승인',
		looked: (covered, looked) =>
			looked === 0
				? '여기서 온 지난 요청이 없습니다.'
				: `여기서 온 지난 요청 ${looked}개 중 ${covered}개가 해당됩니다.`,
		approved: '승인한 종류',
		never: '셸과 인터프리터는 안 됩니다',
		what: '단계의 종류',
		in: '폴더',
		until: '기한',
		used: '사용',
		runEnds: '실행이 끝날 때',
		sessionEnds: '이 대화 동안',
		network: '네트워크 사용',
		revoke: '취소',
		revokeOne: (what) => `${what} 취소`,
		none: '승인한 종류가 없습니다. 대기 중인 요청에서 "이런 종류…"로 승인하면 같은 종류는 다시 묻지 않습니다.',
		byGrant: (id) => `당신의 허용으로 실행됨, ${id}`,
	},
};
