package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"oxios/kernel"
)

func TestALargeUndoIsToldByFolder(t *testing.T) {
	t.Parallel()
	p := kernel.UndoPlan{}
	for i := range 57200 {
		p.Files = append(p.Files, kernel.UndoFile{Path: fmt.Sprintf("src/d%04d/f%d.txt", i%1122, i), Does: kernel.UndoReturns, Status: kernel.UndoDone})
	}
	for i := range 30 {
		p.Files = append(p.Files, kernel.UndoFile{Path: fmt.Sprintf("odd/%d", i), Does: kernel.UndoRestores, Status: kernel.UndoConflict, Why: "It was changed after that."})
	}
	for lang, want := range map[language][]string{
		english: {"57,200 files back in 1,122 folders: done", "and 1,112 more folders", "30 paths do not go back", "conflict, stays"},
		korean:  {"파일 57,200개 되살림 (폴더 1,122개): 완료", "그 밖에 폴더 1,112개", "경로 30개"},
	} {
		var out bytes.Buffer
		c := &console{streams: streams{out: &out}, lang: lang}
		if err := c.showUndo(p, false); err == nil {
			t.Error("conflicts do not end the command with 1")
		}
		contains(t, "the summary", out.String(), want...)
		if n := strings.Count(out.String(), "\n"); n > 40 {
			t.Errorf("got %d lines:\n%s", n, out.String())
		}
	}
}

func TestManyChangesOfARunAreToldByTheirKind(t *testing.T) {
	t.Parallel()
	c := &console{lang: english}
	got := c.totals([]kernel.ChangeTotal{{Kind: "deleted", Files: 57200, Folders: 1122}}, nil)
	if len(got) != 1 || got[0] != "57,200 files deleted in 1,122 folders" {
		t.Errorf("got %q", got)
	}
}
