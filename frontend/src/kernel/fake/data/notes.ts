import type { Speech } from './make';

/** day is the name of a day's journal note, so many days from today. */
export function day(from = 0): string {
	const d = new Date(Date.now() + from * 86_400_000);
	const two = (n: number) => String(n).padStart(2, '0');
	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

const by = (at: string) =>
	`oxios: {run: "r-parser", session: "s-parser", source: ["https://news.ycombinator.com/", "https://sqlite.org/wal.html", "https://lobste.rs/", "https://lwn.net/"], date: "${at}"}`;

const texts: Record<Speech, () => Record<string, string>> = {
	en: () => ({
		[`journal/${day(-1)}.md`]: `# ${day(-1)}\n\nTomorrow go on in [[${day()}]].\n\n- [x] Order the receipts of October #receipts\n`,
		[`journal/${day()}.md`]: `---\ntags: [news]\n${by(new Date().toISOString())}\n---\n# Saturday\n\n## Hacker News, summed up\n\nSQLite ships **WAL2**. Readers no longer wait for the writer, even while a large checkpoint runs. Move that into the storage chapter of [[Oxios design]].\n\n- [x] Move 26 receipts over\n- [ ] Choose the photos of Jeju, one a day\n- [ ] Write WAL2 into the storage chapter\n\n## To read\n\n[[Zero-knowledge proofs]] up to chapter 3. A word to look up: *polynomial commitment*.\n`,
		'projects/Oxios design.md': `---\naliases: [design]\ntags: [design]\n---\n# Oxios design\n\nThe connections that only read stand apart. See what ${day()} says of WAL2: [[${day()}]].\n\n\`\`\`sql\nPRAGMA journal_mode = wal2;\n\`\`\`\n\n## Open\n\n- [ ] Measure it with ten readers\n`,
		'projects/Jeju photos.md': '# Jeju photos\n\nOne photo a day, the best light first. #photos\n',
		'projects/old/Letter.md': 'Written long ago.\n',
		'reading/WAL.md':
			'# Write-ahead log\n\n> Readers do not block writers.\n\n[The page of SQLite](https://sqlite.org/wal.html)\n',
		'receipts/2026-11.md': '# November\n\n| Shop | Sum |\n|---|---|\n| Hanaro | 48,200 |\n\n#receipts\n',
		'Broken head.md': '---\ntags: [a\n---\nThe text is fine.\n',
	}),
	ko: () => ({
		[`journal/${day(-1)}.md`]: `# ${day(-1)}\n\n내일 [[${day()}]]에 이어서.\n\n- [x] 10월 영수증 정리 #영수증\n`,
		[`journal/${day()}.md`]: `---\ntags: [뉴스]\n${by(new Date().toISOString())}\n---\n# 토요일\n\n## 해커뉴스 요약\n\nSQLite가 **WAL2**를 정식으로 넣었다. 읽는 쪽이 쓰는 쪽을 기다리지 않는다는 약속이 큰 체크포인트 중에도 지켜진다. [[Oxios 설계]]의 저장소 장에 옮겨 적을 것.\n\n- [x] 영수증 26장 옮기기\n- [ ] 제주 사진 날짜별로 한 장씩 고르기\n- [ ] 저장소 장에 WAL2 적기\n\n## 읽을거리\n\n[[영지식 증명 입문]] 3장까지. 모르는 말: *다항식 약정*.\n`,
		'프로젝트/Oxios 설계.md': `---\naliases: [설계]\ntags: [설계]\n---\n# Oxios 설계\n\n읽기 전용 연결은 따로 둔다. [[${day()}]]의 WAL2 소식 참고.\n\n\`\`\`sql\nPRAGMA journal_mode = wal2;\n\`\`\`\n\n## 남은 일\n\n- [ ] 읽는 쪽 열 개로 재 보기\n`,
		'프로젝트/제주 사진 정리.md': '# 제주 사진 정리\n\n하루에 한 장, 빛이 좋은 것부터. #사진\n',
		'읽을거리/WAL.md': '# 미리 쓰기 로그\n\n[SQLite의 설명](https://sqlite.org/wal.html)\n',
		'영수증/2026-11.md': '# 11월\n\n| 가게 | 금액 |\n|---|---|\n| 하나로마트 | 48,200 |\n\n#영수증\n',
		'깨진 머리말.md': '---\ntags: [a\n---\n본문은 괜찮다.\n',
	}),
};

/** notesOf are the notes of a person, by their paths. */
export const notesOf = (speech: Speech): Record<string, string> => texts[speech]();
