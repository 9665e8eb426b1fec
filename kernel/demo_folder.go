package kernel

import (
	"os"
	"path/filepath"
)

// demoFile is a file that the demo's folder has from the beginning.
type demoFile struct{ name, content string }

var (
	demoFilesEN = []demoFile{
		{"welcome.md", "# Welcome to Oxios\n\nThis folder was empty, so the offline demo put three small files here. They are yours: change or delete them.\n\nTry these messages:\n\n- Show me the folder\n- Read notes.md\n- Write a hello file, then undo it under Changes\n- Delete hello.txt, which asks you first\n"},
		{"notes.md", "# Team meeting\n\n- Minji brings the photos on Friday\n- The flight to Jeju leaves at 9:40\n- To do: book a car, pack an umbrella\n"},
		{"expenses.csv", "date,what,amount\n2026-11-02,train,23.80\n2026-11-05,groceries,41.15\n2026-11-09,books,18.00\n"},
	}
	demoFilesKO = []demoFile{
		{"안내.md", "# Oxios에 오신 것을 환영합니다\n\n폴더가 비어 있어 오프라인 데모가 작은 파일 세 개를 넣었습니다. 바꾸거나 삭제해도 됩니다.\n\n이렇게 입력해 보세요:\n\n- 폴더를 보여 줘\n- 메모.md 읽어 줘\n- hello 파일을 만들어 줘 (만든 뒤 변경 사항에서 되돌릴 수 있습니다)\n- hello.txt 삭제해 줘 (먼저 승인을 요청합니다)\n"},
		{"메모.md", "# 팀 회의\n\n- 금요일에 민지가 사진을 가져옴\n- 제주행 비행기는 9시 40분 출발\n- 할 일: 렌터카 예약, 우산 챙기기\n"},
		{"가계부.csv", "날짜,내용,금액\n2026-11-02,기차,23800\n2026-11-05,장보기,41150\n2026-11-09,책,18000\n"},
	}
)

// fillDemoFolder puts a few files into the folder that agents work in, where it is
// new or empty: the first thing that the demo shows is what stands in it. A folder
// that has anything is left alone.
func (k *Kernel) fillDemoFolder() error {
	folder, err := k.checkFolder(k.config.get().workFolder())
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		return err
	}
	files := demoFilesEN
	if k.korean() {
		files = demoFilesKO
	}
	for _, f := range files {
		file, err := os.OpenFile(filepath.Join(folder, f.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = file.WriteString(f.content)
		if closing := file.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return err
		}
	}
	return nil
}
