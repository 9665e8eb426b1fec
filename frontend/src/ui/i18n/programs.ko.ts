import type { programs as en } from './programs.en';

/** programs holds the words of the programs that use Oxios from outside. */
export const programs: typeof en = {
	programs: {
		title: 'Oxios를 쓰는 프로그램',
		about:
			'Claude Desktop이나 편집기 같은 다른 프로그램이 Oxios를 MCP 서버로 쓸 수 있습니다. 프로그램마다 토큰이 따로 있고, 프로그램이 에이전트에게 보낸 내용은 외부에서 온 것으로 표시됩니다.',
		none: '아직 프로그램이 없습니다',
		program: '프로그램',
		can: '할 수 있는 일',
		added: '추가',
		used: '마지막 사용',
		never: '없음',
		revoke: '취소',
		revokeOne: (name) => `${name} 취소`,
		revokeTitle: (name) => `${name} 프로그램의 접근을 취소할까요?`,
		revokeText: '연결이 바로 끊기고 토큰을 더 쓸 수 없습니다. 이미 시작한 실행은 계속됩니다.',
		revokeDo: '접근 취소',
		add: '프로그램 추가',
		addDo: '프로그램 추가',
		name: '이름',
		answersTitle: '이 프로그램이 대신 답하게 됩니다',
		answersText: '프로그램을 쓰는 사람이 에이전트의 요청을 승인할 수 있습니다. 혼자 쓰는 프로그램에만 허용하세요.',
		tokenTitle: (name) => `${name} 토큰`,
		tokenWhy: '지금 토큰을 복사하세요. 다시 표시되지 않습니다.',
		copyToken: '토큰 복사',
		http: 'HTTP: `oxios serve` 주소 끝에 /mcp를 붙이고 이 토큰을 bearer 토큰으로 보냅니다.',
		stdio: '이 컴퓨터에서는 토큰 없이 씁니다. 프로그램 설정에 다음 내용을 붙여 넣으세요.',
		snippet: '프로그램 설정',
		copySnippet: '설정 복사',
		done: '완료',
	},
};
