package kernel_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/korean"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func TestGrepFindsLinesAndSaysWhatItLeftOut(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	korean949, err := korean.EUCKR.NewEncoder().String("할 일: TODO 정리\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.go": "package a\n// TODO first\n", "sub/b.txt": "x\r\nTODO second\r\n", "ko.txt": korean949, "image.bin": "TODO\x00",
		"node_modules/m.js": "TODO", ".git/HEAD": "TODO", "wide.js": strings.Repeat("x", 4000) + "TODO" + strings.Repeat("y", 4000) + "\n",
	} {
		write(t, filepath.Join(k.Folder, name), text)
	}
	r, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: `\bTODO\b`})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range r.Matches {
		got = append(got, fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Text))
	}
	if want := []string{"a.go:2:// TODO first", "ko.txt:1:할 일: TODO 정리", "sub/b.txt:2:TODO second"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.Files != 4 || !strings.Contains(r.Note, ".git, node_modules") {
		t.Errorf("got %d files, note %q", r.Files, r.Note)
	}
	if r, err = h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "TODO", Path: "node_modules"}); err != nil || len(r.Matches) != 1 {
		t.Errorf("a named folder: got %+v, %v", r, err)
	}
	if r, err = h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "TODO", Glob: "sub/*.txt"}); err != nil || len(r.Matches) != 1 {
		t.Errorf("a glob: got %+v, %v", r, err)
	}
	if r, err = h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "^package", Path: "a.go"}); err != nil || len(r.Matches) != 1 || r.Matches[0].Path != "a.go" {
		t.Errorf("a file: got %+v, %v", r, err)
	}
	if r, err = h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "xTODOy"}); err != nil || len(r.Matches) != 1 || len(r.Matches[0].Text) > 520 || !strings.Contains(r.Matches[0].Text, "xTODOy") {
		t.Errorf("a long line: got %+v, %v", r, err)
	}
}

func TestSearchesAreCappedAndSayHowToNarrowThem(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "many.txt"), strings.Repeat("hit\n", 500))
	for i := range 1100 {
		write(t, filepath.Join(k.Folder, "d", fmt.Sprintf("%04d.log", i)), "")
	}
	g, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "hit"})
	if err != nil || len(g.Matches) != 200 || !g.Truncated || !strings.Contains(g.Note, "Narrow") {
		t.Errorf("got %d, truncated %v, %q, %v", len(g.Matches), g.Truncated, g.Note, err)
	}
	f, err := h.Exec.Find(t.Context(), kernel.FindArgs{Pattern: "*.log"})
	if err != nil || len(f.Paths) != 1000 || !f.Truncated || f.Paths[0] != "d/0000.log" {
		t.Errorf("got %d, truncated %v, %v", len(f.Paths), f.Truncated, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Exec.Find(ctx, kernel.FindArgs{Pattern: "*"}); err == nil {
		t.Error("a search of somebody who has gone went on")
	}
}

func TestFindKnowsNamesAndPaths(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	for _, name := range []string{"a.go", "src/b.go", "src/deep/c.go", "src/deep/c.txt", "docs/x.md", ".git/config.go"} {
		write(t, filepath.Join(k.Folder, name), "")
	}
	for _, c := range []struct {
		in   kernel.FindArgs
		want string
	}{
		{kernel.FindArgs{Pattern: "*.go"}, "a.go src/b.go src/deep/c.go"},
		{kernel.FindArgs{Pattern: "src/**/*.go"}, "src/b.go src/deep/c.go"},
		{kernel.FindArgs{Pattern: "deep"}, "src/deep/"},
		{kernel.FindArgs{Pattern: "deep/*", Path: "src"}, "src/deep/c.go src/deep/c.txt"},
		{kernel.FindArgs{Pattern: "*.{md,txt}"}, "docs/x.md src/deep/c.txt"},
		{kernel.FindArgs{Pattern: "none"}, ""},
	} {
		r, err := h.Exec.Find(t.Context(), c.in)
		if got := strings.Join(r.Paths, " "); err != nil || got != c.want {
			t.Errorf("%+v: got %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

func TestMalformedSearchesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	_, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "a(?=b"})
	wantCode(t, "grep", err, sys.CodeInvalid, "RE2")
	_, err = h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: ""})
	wantCode(t, "grep", err, sys.CodeInvalid, "empty")
	_, err = h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "a", Path: "missing"})
	wantCode(t, "grep", err, sys.CodeNotFound, "missing")
	_, err = h.Exec.Find(t.Context(), kernel.FindArgs{Pattern: "[a"})
	wantCode(t, "find", err, sys.CodeInvalid, "*.go")
	_, err = h.Exec.Find(t.Context(), kernel.FindArgs{Pattern: "/etc/*"})
	wantCode(t, "find", err, sys.CodeInvalid, "path")
}
