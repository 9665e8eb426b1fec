package kernel_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func TestWriteAndEditKeepLineEnds(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	path := filepath.Join(k.Folder, "a.txt")
	utf16 := func(s string) string {
		out := "\xff\xfe"
		for _, r := range s {
			out += string([]byte{byte(r), byte(r >> 8)})
		}
		return out
	}
	for name, c := range map[string]struct{ was, content, want string }{
		"crlf":           {"l1\r\nl2\r\n", "l1\nnew\n", "l1\r\nnew\r\n"},
		"crlf with BOM":  {"\uFEFFl1\r\nl2\r\n", "l1\nnew\n", "\uFEFFl1\r\nnew\r\n"},
		"crlf in UTF-16": {utf16("a\r\nb\r\n"), "a\nc\n", utf16("a\r\nc\r\n")},
		"lf":             {"l1\nl2\n", "l1\nnew\n", "l1\nnew\n"},
		"mostly crlf":    {"a\r\nb\r\nc\n", "x\ny\n", "x\r\ny\r\n"},
		"asked for crlf": {"a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n"},
		"no line":        {"a", "a\nb\n", "a\nb\n"},
	} {
		write(t, path, c.was)
		if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "a.txt", Content: c.content}); err != nil || read(t, path) != c.want {
			t.Errorf("%s: got %q, %v, want %q", name, read(t, path), err, c.want)
		}
	}
	for name, c := range map[string]struct{ was, old, new, want string }{
		"lf lines of a crlf file": {"a\r\nb\r\nc\nd\n", "c\nd", "c\nX\nd", "a\r\nb\r\nc\nX\nd\n"},
		"crlf lines of a lf file": {"a\nb\nc\n1\r\n2\r\n", "1\n2", "1\nX\n2", "a\nb\nc\n1\r\nX\r\n2\r\n"},
		"crlf asked of a lf file": {"a\nb\nc\n", "a\r\nb", "a\r\nX\r\nb", "a\nX\nb\nc\n"},
	} {
		write(t, path, c.was)
		if _, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "a.txt", Old: c.old, New: c.new}); err != nil || read(t, path) != c.want {
			t.Errorf("%s: got %q, %v, want %q", name, read(t, path), err, c.want)
		}
	}
	write(t, path, "a\r\nb\r\n")
	_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "a.txt", Old: "a\r\nb", New: "a\nb"})
	wantCode(t, "line ends alone", err, sys.CodeInvalid, "line ends", "Nothing was changed")
}

func TestANameIsTheSameInEachOfItsForms(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" {
		t.Skip("this disk folds the forms itself")
	}
	k := open(t)
	h := k.Agent("guarded")
	name := "한글 폴더/résumé 보고서.txt"
	path := filepath.Join(k.Folder, norm.NFD.String(name))
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, "one\n")
	if got, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: name}); err != nil || got.Text != "one\n" {
		t.Errorf("read: got %+v, %v", got, err)
	}
	if _, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: name, Old: "one", New: "two"}); err != nil || read(t, path) != "two\n" {
		t.Errorf("edit: got %q, %v", read(t, path), err)
	}
	if e, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: name, Content: "three\n"}); err != nil || e.Created || read(t, path) != "three\n" {
		t.Errorf("write: got %+v, %v", e, err)
	}
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "한글 폴더/새 글.txt", Content: "x"}); err != nil {
		t.Error(err)
	}
	if r, err := h.Exec.Ls(t.Context(), kernel.LsArgs{Path: "한글 폴더"}); err != nil || r.Total != 2 {
		t.Errorf("ls: got %+v, %v, want the two files in the one folder", r, err)
	}
	for _, pattern := range []string{"*보고서*", "résumé*", "한글 폴더/*보고서.txt", norm.NFD.String("*보고서*")} {
		if r, err := h.Exec.Find(t.Context(), kernel.FindArgs{Pattern: pattern}); err != nil || len(r.Paths) != 1 {
			t.Errorf("find %q: got %+v, %v", pattern, r, err)
		}
	}
	if r, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "three", Path: "한글 폴더", Glob: "*보고서.txt"}); err != nil || len(r.Matches) != 1 {
		t.Errorf("grep: got %+v, %v", r, err)
	}
	write(t, filepath.Join(k.Folder, norm.NFC.String(name[len("한글 폴더/"):])), "nfc")
	write(t, filepath.Join(k.Folder, norm.NFD.String(name[len("한글 폴더/"):])), "nfd")
	if got, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: norm.NFC.String(name[len("한글 폴더/"):])}); err != nil || got.Text != "nfc\n" {
		t.Errorf("where both are: got %+v, %v, want the one that was named", got, err)
	}
}

func TestFoldersAreFoundAsTheyAreListed(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	for _, dir := range []string{"src", "lib/src", "a"} {
		if err := os.MkdirAll(filepath.Join(k.Folder, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(k.Folder, "a", "src"), "a file of that name")
	for pattern, want := range map[string][]string{"src/": {"lib/src/", "src/"}, "lib/src/": {"lib/src/"}, "*/": {"a/", "lib/", "lib/src/", "src/"}, "src": {"a/src", "lib/src/", "src/"}} {
		r, err := h.Exec.Find(t.Context(), kernel.FindArgs{Pattern: pattern})
		if slices.Sort(r.Paths); err != nil || !slices.Equal(r.Paths, want) {
			t.Errorf("%s: got %q, %v, want %q", pattern, r.Paths, err, want)
		}
	}
}

func TestEditNamesTheLineWhoseSignsOnlyLookTheSame(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	for name, c := range map[string]struct{ text, old, said string }{
		"spaces":   {"first\na\u00a0b\u00a0c\n", "a b c", `a\u00a0b\u00a0c`},
		"quotes":   {"first\nsay \u201cyes\u201d, it\u2019s\n", `say "yes", it's`, `\u201cyes\u201d`},
		"dash":     {"first\n1\u20132\u2026\n", "1-2...", `1\u20132\u2026`},
		"reversed": {"first\nit's\n", "it\u2019s", "it's"},
		"nfd":      {"first\n" + norm.NFD.String("café") + "\n", "café", `cafe\u0301`},
		"lines":    {"first\r\nx\u00a0y\r\nz\r\n", "x y\nz", `x\u00a0y\nz`},
	} {
		write(t, filepath.Join(k.Folder, "a.md"), c.text)
		_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "a.md", Old: c.old, New: "c"})
		if e := sys.AsError(err); e.Code != sys.CodeNotFound || !strings.HasPrefix(e.Hint, "Line 2 ") || !strings.Contains(e.Hint, c.said) || e.HintKO == "" {
			t.Errorf("%s: got %v, %q", name, err, e.Hint)
		}
	}
}
