import type { provider as en } from './provider.en';

export const provider: typeof en = {
	provider: {
		nothingSaved: '저장하지 않았습니다.',
		saveUntested: '시험 없이 저장',
		saveAndTest: '저장하고 시험',
		saveUntestedWhy: '그대로 저장해 두고 나중에 시험할 수도 있습니다.',
		untested: '시험 안 함',
		untestedWhy: '시험 없이 저장했으며 아직 응답한 적이 없습니다. 서버가 실행 중일 때 시험하세요.',
		needsAddress: '서버 주소를 입력하세요. 예: https://models.example.com/v1',
		badAddress: '주소는 http:// 또는 https://로 시작해야 합니다. 예: https://models.example.com/v1',
		needsKey: (name) => `키를 입력하세요. ${name}: 키 없이는 응답하지 않습니다.`,
		getKey: '키 발급 페이지',
		nameWhy: '비워 두면 주소의 호스트 이름을 씁니다.',
		model: '모델',
		modelWhy: '비워 두면 제공자의 모델 중 알맞은 첫 번째 모델을 씁니다.',
		modelKeep: '비워 두면 지금 모델을 씁니다',
		offers: '사용할 수 있는 모델:',
		testing: '시험하는 중…',
		testingWhy: (name) => `${name}의 응답을 기다리고 있습니다.`,
		lacks: {
			anthropic:
				'Anthropic의 OpenAI 호환 주소를 씁니다. 생각 과정이 표시되지 않고 프롬프트 캐싱을 쓸 수 없어, 긴 대화는 비용이 더 듭니다.',
			gemini: 'Google의 OpenAI 호환 주소를 씁니다. 생각 과정이 표시되지 않고 명시적 프롬프트 캐싱을 쓸 수 없습니다.',
		},
		savedWhy: (address) => `직접 추가한 제공자입니다: ${address}.`,
		savedAnswered: (model) => `추가할 때 ${model} 모델이 응답했습니다.`,
		connecting: (model) => `${model} 모델에 연결하는 중`,
		connectingWhy: (host) => `환경 변수에 ${host}의 이 모델이 지정되어 있습니다. 한 번 시험합니다.`,
		chooseAnother: '다른 모델 선택',
		fromEnvironment: (model, host) => `환경 변수에 지정된 ${host}의 ${model} 모델을 사용합니다.`,
		fromEnvironmentFailed: (host) => `환경 변수에 ${host} 주소가 지정되어 있습니다.`,
	},
};
