import type { quick as en } from './quick.en';

export const quick: typeof en = {
	quick: {
		title: '빠른 질문',
		ask: '무엇이든 물어보십시오',
		askOn: '이어서 묻기',
		open: '창에서 열기',
		starting: 'Oxios를 시작하고 있습니다. 준비되는 대로 질문을 보냅니다.',
		waits: (title) => `확인 대기: ${title}`,
		inWindow: '전체 내용을 볼 수 있는 창에서 결정합니다.',
		also: '묻기 작은 창 단축키 ask',
		hotkey: '어디서든 단축키로 열기',
		states: {
			off: '꺼져 있습니다. 트레이와 명령 팔레트에서 열 수 있습니다.',
			asking: '데스크톱에 이 키를 요청하고 있습니다.',
			works: (keys) => `${keys}(으)로 열립니다.`,
			taken: (keys) =>
				`다른 프로그램이 ${keys}을(를) 쓰고 있어 Oxios까지 오지 않습니다. 다른 키를 고르거나 아래 명령에 직접 지정하십시오.`,
			bind: '이 데스크톱은 프로그램에 키를 내주지 않습니다. 데스크톱 설정에서 아래 명령에 키를 지정하십시오.',
			none: '이 시스템에서는 아직 단축키를 쓸 수 없습니다. 트레이와 명령 팔레트에서 열 수 있습니다.',
			browser: '단축키는 창 프로그램만 쓸 수 있습니다. 이 페이지는 oxios serve의 것입니다.',
		},
		keys: '키',
		keysWhy: 'Ctrl, Alt, Super 가운데 하나와 Space, 글자, 숫자, F1~F12를 함께 씁니다.',
		command: '지정할 명령',
		commandWhy: '데스크톱의 키보드 설정에서 씁니다.',
		inPrompt: '빠른 질문에서',
		clear: '지우기, 한 번 더 누르면 닫기',
		openKeys: '창에서 열기',
	},
};
