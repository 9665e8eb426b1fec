import type { attach as en } from './attach.en';

export const attach: typeof en = {
	attach: {
		button: '첨부',
		files: '파일',
		filesHint: '그림, PDF, 워드, 텍스트 파일을 함께 보냅니다',
		folder: '폴더',
		folderHint: '에이전트에게 경로를 알리고, 에이전트가 도구로 들여다봅니다',
		folderTitle: '폴더 첨부',
		folderUse: '이 폴더 첨부',
		workIn: (name) => `${name}에서 작업`,
		list: '첨부',
		remove: (name) => `${name} 빼기`,
		removeHint: 'Delete 키로 뺍니다',
		open: (name) => `${name} 열기`,
		sending: (percent) => `${percent}%`,
		reading: '읽는 중',
		tokens: (count) => `약 ${count}토큰`,
		pages: (count) => `${count}쪽`,
		byPath: '경로만',
		asText: '메시지에 글로 넣기',
		pasted: '붙여 넣은 글',
		drop: '놓으면 첨부됩니다',
		wait: '첨부가 준비되면 보낼 수 있습니다.',
		blind: (name, model) => `${name}은(는) 그림인데 ${model}은(는) 그림을 보지 못합니다.`,
		sees: '그림을 보는 모델:',
		noneSees: '그림을 보는 모델이 없습니다. 모델을 더하거나 그림을 빼 주십시오.',
		tooLong: (tokens, model, window) =>
			`첨부가 약 ${tokens}토큰입니다. ${model}은(는) 한 번에 ${window}토큰까지 담습니다. 더 많이 담는 모델을 고르거나 첨부를 줄여 주십시오.`,
		gone: (name) => `${name}은(는) 보내지 않은 채 7일이 지나 삭제되었습니다. 다시 첨부해 주십시오.`,
		unreadable: (name) =>
			`${name}을(를) 더 이상 읽을 수 없습니다. 옮겨졌거나 바뀌었거나 폴더입니다. 다시 첨부해 주십시오. 폴더는 버튼으로 첨부합니다.`,
		facts: (kind, size) => `${kind}, ${size}`,
		kinds: {
			image: '그림',
			pdf: 'PDF 문서',
			docx: '워드 문서',
			text: '텍스트',
			paste: '붙여 넣은 글',
			folder: '폴더',
			file: '파일',
			resource: '리소스',
			prompt: '프롬프트',
		},
		what: '모델이 받는 내용입니다.',
		whatServer: (server) =>
			`${server} 서버가 보낸 내용입니다. 모델은 서버의 말로 받으며, 길면 앞부분과 끝부분만 받습니다.`,
		whatImage: (width, height) =>
			`${width} × ${height} 픽셀. 모델이 받는 그림이며, 카메라가 덧붙인 정보는 들어 있지 않습니다.`,
		whatPath: '모델은 이 경로만 받습니다. 에이전트가 권한이 허락하는 만큼 도구로 살펴봅니다.',
		loading: '여는 중',
	},
};
