import type { form as words } from './form.en';

/** form holds the words about what a server asks in the middle of a call. */
export const form: typeof words = {
	form: {
		stranger: '서버가 쓴 글',
		says: '서버의 말',
		warn: '보낸 내용은 서버로 전달됩니다. 비밀번호나 키는 절대 입력하지 마세요.',
		warnOpen: '페이지는 브라우저에서 열립니다. 그곳에 입력한 내용은 Oxios를 거치지 않습니다.',
		required: '필수',
		none: '답 없음',
		send: '서버로 보내기',
		sending: '보내는 중…',
		decline: '거절',
		cancel: '취소',
		host: '호스트',
		address: '주소',
		open: (host) => `${host} 열기`,
		between: (min, max) => `${min}에서 ${max}까지`,
		least: (min) => `${min} 이상`,
		most: (max) => `${max} 이하`,
		letters: (min, max) => `${min}~${max}자`,
		lettersLeast: (min) => `${min}자 이상`,
		lettersMost: (max) => `${max}자 이하`,
		formats: { email: '이메일 주소', uri: '웹 주소', date: '날짜', 'date-time': '날짜와 시각' },
	},
};
