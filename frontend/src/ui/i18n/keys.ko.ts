import type { vault as en } from './keys.en';

export const vault: typeof en = {
	title: '키',
	kept: (ring, file) => (ring + file === 0 ? '저장한 키가 없습니다.' : `키링에 ${ring}개, 암호화된 파일에 ${file}개.`),
	keptLocked: (ring) => `키링에 ${ring}개. 암호화된 파일의 키는 잠겨 있습니다.`,
	passphrase: '암호',
	none: '암호가 없으면 암호화된 파일은 사본만 지키고 계정은 지키지 못합니다. 여는 열쇠가 바로 옆에 있기 때문입니다.',
	protected: 'Oxios를 시작할 때마다 한 번 암호를 입력해야 암호화된 파일이 열립니다.',
	set: '정하기',
	change: '바꾸기',
	remove: '없애기',
	locked: '키가 잠겨 있습니다',
	lockedWhy: '암호를 입력할 때까지 키가 필요한 일은 실패합니다. 시작할 때마다 한 번 묻습니다.',
	unlock: '잠금 풀기',
	setTitle: '암호 정하기',
	changeTitle: '암호 바꾸기',
	removeTitle: '암호 없애기',
	honest:
		'암호는 본인도 Oxios도 되찾을 수 없습니다. 잊으면 암호화된 파일의 키를 잃고 다시 입력해야 합니다. 그 전에 만든 폴더의 사본은 암호 없이 열립니다. 키링의 키와는 관계없습니다.',
	current: '현재 암호',
	next: '새 암호',
	nextHint: '8자 이상. 기호보다 여러 낱말이 외우기 쉽습니다.',
	again: '한 번 더',
	differ: '두 암호가 다릅니다.',
	loose: (files) => `암호화되지 않은 키: ${files}`,
	looseWhy:
		'옮겨 온 키는 키링이나 암호화된 파일로 가고 그 호스트에만 쓰이며 원래 파일에서는 지워집니다. 파일의 나머지는 그대로입니다. 그 파일을 읽는 다른 프로그램은 키를 다시 묻습니다.',
	looseOpen: '이 컴퓨터의 다른 사용자가 읽을 수 있습니다. 제공자에게서 새 키를 받으세요.',
	take: '옮겨 오기',
	leave: '그대로 두기',
	taken: (n) => `키 ${n}개를 옮겨 왔습니다.`,
	refused: (file) => `${file}에서는 가져오지 않습니다`,
};
