import type { suggest as en } from './suggest.en';

export const suggest: typeof en = {
	suggest: {
		files: '파일과 폴더',
		resources: '파일, 폴더, 서버의 리소스',
		fromServer: (server) => `${server} 서버`,
		values: (prompt) => `${prompt} 프롬프트에 넣을 값`,
		lacks: (names) => `아직 필요한 값: ${names}`,
		commands: '명령',
		names: { new: '새대화', model: '모델', mode: '권한', export: '내보내기', shortcuts: '도움말' },
		nothing: '이 폴더에는 아직 파일이 없습니다.',
		more: '더 있습니다. 이름을 더 입력해 주십시오.',
		cut: '폴더가 매우 커서 일부만 찾아보았습니다. 여기에 없는 파일은 경로를 직접 적으면 됩니다.',
		results: (count) => `제안 ${count}개`,
		keyMention: '파일, 폴더, 리소스 언급',
		keyCommand: '명령 (맨 앞에서)',
		keyRecall: '빈 칸에서 앞서 보낸 메시지 불러오기',
	},
	archive: {
		title: '보관함',
		archive: '보관',
		unarchive: '목록으로 되돌리기',
		archived: (title) => `‘${title}’ 대화를 보관했습니다.`,
		undo: '되돌리기',
	},
};
