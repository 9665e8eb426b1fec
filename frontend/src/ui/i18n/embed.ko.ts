import type { embed as en } from './embed.en';

const f = (n: number) => n.toLocaleString('ko');

export const embed: typeof en = {
	embed: {
		title: '기억을 찾는 방법',
		why: '낱말로는 언제나 찾습니다. 임베딩 모델은 글을 숫자로 바꾸어 뜻으로도 찾게 합니다.',
		who: '제공자',
		builtIn: '내장',
		here: '이 컴퓨터',
		model: '모델',
		modelHint: (example) => `제공자가 쓰는 이름, 예: ${example}`,
		whyBuiltIn: '낱말을 다른 꼴까지 찾습니다. 모델이 필요 없고 아무것도 이 컴퓨터를 떠나지 않습니다.',
		whyHere: (name) => `${name}은(는) 이 컴퓨터에서 돌아갑니다. 글이 밖으로 나가지 않습니다.`,
		whyAway: (name) => `모든 기억의 내용과 찾는 말이 ${name}(으)로 갑니다.`,
		whyMessages: '메시지에 맞는 기억을 찾기 위해 각 메시지의 앞부분도 갑니다.',
		test: '시험',
		testing: '시험 중',
		tested: (numbers, ms) => `작동합니다. 문장 하나에 숫자 ${f(numbers)}개, ${f(ms)}ms.`,
		use: '사용',
		used: '사용 중',
		askTitle: (name) => `기억을 ${name}(으)로 보낼까요?`,
		ask: (name, count) =>
			`지금 기억 ${f(count)}개의 내용이 ${name}(으)로 가고, 앞으로 새 기억과 찾는 말도 모두 갑니다. 비용은 한도와 비용에서 봅니다.`,
		askYes: '보내기',
		progress: (done, total) => `기억 ${f(total)}개 중 ${f(done)}개 임베딩함`,
		all: (total, numbers) => `기억 ${f(total)}개 임베딩함, 하나에 숫자 ${f(numbers)}개`,
		starting: '모델에 첫 벡터를 요청하는 중',
		cut: (n) => `기억 ${f(n)}개는 모델에 너무 긴 단락이 있어 일부만 임베딩했습니다.`,
		damaged: (n) => `벡터 ${f(n)}개를 읽을 수 없어 다시 만듭니다.`,
		failed: '기억을 임베딩할 수 없습니다',
		failedWhy: '그동안 낱말로 찾습니다. 저절로 다시 시도합니다.',
		again: '다시 시도',
		words: '지금은 낱말로만 찾습니다',
		anew: '다시 만들기',
		anewTitle: '벡터를 모두 다시 만들까요?',
		anewWhy: (total) => `기억 ${f(total)}개의 벡터를 지우고 다시 만듭니다. 그동안 낱말로 찾습니다.`,
		error: '벡터의 상태를 읽을 수 없습니다',
	},
};
