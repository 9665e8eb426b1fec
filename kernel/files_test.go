package kernel_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/korean"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// answered makes a call that asks, and decides about it.
func answered[T any](t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, approve bool, call func(context.Context) (T, error)) (T, error, kernel.Approval) {
	t.Helper()
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := call(t.Context())
		done <- result{v, err}
	}()
	ap := k.Approval(h.Principal().ID)
	var err error
	if approve {
		_, err = k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash})
	} else {
		_, err = k.Person().Security.Deny(t.Context(), ap.ID, "not this one")
	}
	if err != nil {
		t.Fatal(err)
	}
	r := <-done
	return r.v, r.err, ap
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantCode(t *testing.T, what string, err error, code sys.Code, parts ...string) {
	t.Helper()
	if sys.CodeOf(err) != code {
		t.Errorf("%s: got %v, want %s", what, err, code)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%s: got %q, want it to say %q", what, err, p)
		}
	}
}

func TestReadGoesOnWhereItsPartEnds(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d\r\n", i+1)
	}
	write(t, filepath.Join(k.Folder, "long.txt"), text.String())
	first, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "long.txt"})
	if err != nil || !first.More || first.Lines != 2000 || first.TotalLines != 5000 || !strings.HasPrefix(first.Text, "line 1\nline 2\n") {
		t.Errorf("got %d of %d lines, more %v, %v", first.Lines, first.TotalLines, first.More, err)
	}
	last, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "long.txt", Offset: 4999, Limit: 10})
	if err != nil || last.More || last.Text != "line 4999\nline 5000\n" || last.FirstLine != 4999 {
		t.Errorf("got %q from %d, more %v, %v", last.Text, last.FirstLine, last.More, err)
	}
	_, err = h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "long.txt", Offset: 6000})
	wantCode(t, "after the end", err, sys.CodeInvalid, "5000 lines")
	write(t, filepath.Join(k.Folder, "wide.txt"), strings.Repeat("가", 200000)+"\nend\n")
	wide, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "wide.txt"})
	if err != nil || wide.TotalLines != 2 || len(wide.Text) > 5000 || !strings.Contains(wide.Text, "more bytes of this line") {
		t.Errorf("got %d bytes of %d lines, %v", len(wide.Text), wide.TotalLines, err)
	}
}

func TestWhatCannotBeReadSaysWhyAndWhatElse(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "src", "parser.go"), "package p\n")
	write(t, filepath.Join(k.Folder, "a.png"), "\x89PNG\r\n\x1a\n\x00\x00")
	huge, err := os.Create(filepath.Join(k.Folder, "huge.log"))
	if err == nil {
		err = huge.Truncate(60 << 20)
		huge.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		code  sys.Code
		parts []string
	}{
		{"src/parsre.go", sys.CodeNotFound, []string{"Did you mean src/parser.go"}},
		{"source/x/y.go", sys.CodeNotFound, []string{"src/"}},
		{"src", sys.CodeInvalid, []string{"is a folder", "ls"}},
		{"a.png", sys.CodeInvalid, []string{"image/png", "10 bytes"}},
		{"huge.log", sys.CodeTooLarge, []string{"60.0 MB", "grep"}},
		{"a\x00b", sys.CodeInvalid, []string{"NUL"}},
	} {
		_, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: c.path})
		wantCode(t, c.path, err, c.code, c.parts...)
	}
}

func TestWriteKeepsModeEncodingAndMakesFolders(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	e, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "a/b/c.txt", Content: "one\ntwo\n"})
	if err != nil || !e.Created || e.Added != 2 || e.Path != "a/b/c.txt" || e.Bytes != 8 || e.Encoding != "utf-8" {
		t.Errorf("got %+v, %v", e, err)
	}
	script := filepath.Join(k.Folder, "run.txt")
	write(t, script, "#!/bin/sh\n")
	if err := os.Chmod(script, 0o750); err != nil {
		t.Fatal(err)
	}
	if e, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "run.txt", Content: "#!/bin/sh\nexit 1\n"}); err != nil || e.Created || e.Added != 1 {
		t.Errorf("got %+v, %v", e, err)
	}
	if info, err := os.Stat(script); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("got mode %v, %v, want it kept", info.Mode(), err)
	}
	if err := os.Chmod(script, 0o440); err != nil {
		t.Fatal(err)
	}
	_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "run.txt", Content: "x"})
	wantCode(t, "a read-only file", err, sys.CodeForbidden, "read-only")
	_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "a", Content: "x"})
	wantCode(t, "a folder", err, sys.CodeInvalid, "folder")
}

func TestCP949FileIsReadEditedAndWrittenBackAsSuch(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	encode := func(s string) string {
		out, err := korean.EUCKR.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	path := filepath.Join(k.Folder, "보고서.txt")
	write(t, path, encode("제목: 보고서\r\n내용: 없음\r\n"))
	got, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "보고서.txt"})
	if err != nil || got.Text != "제목: 보고서\n내용: 없음\n" || got.Encoding != "cp949" {
		t.Errorf("got %+v, %v", got, err)
	}
	e, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "보고서.txt", Old: "보고서\n내용: 없음", New: "보고서\n내용: 있음"})
	if err != nil || e.Encoding != "cp949" || e.Replaced != 1 {
		t.Errorf("got %+v, %v", e, err)
	}
	if want := encode("제목: 보고서\r\n내용: 있음\r\n"); read(t, path) != want {
		t.Errorf("got % x, want % x", read(t, path), want)
	}
	_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "보고서.txt", Content: "좋아요 😀\n"})
	wantCode(t, "a character that does not fit", err, sys.CodeInvalid, "😀", "Nothing was written")
	if want := encode("제목: 보고서\r\n내용: 있음\r\n"); read(t, path) != want {
		t.Error("the file was changed")
	}
	if _, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "보고서.txt", Content: "새 내용\n"}); err != nil || read(t, path) != encode("새 내용\r\n") { // it keeps its line ends
		t.Errorf("got % x, %v", read(t, path), err)
	}
	changes, err := k.Person().Agents.Changes(t.Context(), h.Principal().ID)
	if err != nil || len(changes) != 1 || !strings.Contains(changes[0].Diff, "+새 내용") {
		t.Errorf("got %+v, %v, want a readable diff", changes, err)
	}
}

func TestEditSaysWhyItChangedNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	const text = "func one() {}\nfunc two() {}\nreturn nil\nreturn nil\n"
	path := filepath.Join(k.Folder, "a.go")
	write(t, path, text)
	write(t, filepath.Join(k.Folder, "b.bin"), "\x00\x01")
	for _, c := range []struct {
		what  string
		in    kernel.EditArgs
		code  sys.Code
		parts []string
	}{
		{"not there", kernel.EditArgs{Path: "a.go", Old: "func tow() {}", New: "x"}, sys.CodeNotFound, []string{"line 2", "func two() {}"}},
		{"other spaces", kernel.EditArgs{Path: "a.go", Old: "  func one() {}", New: "x"}, sys.CodeNotFound, []string{"Line 1", "spaces"}},
		{"twice", kernel.EditArgs{Path: "a.go", Old: "return nil", New: "x"}, sys.CodeConflict, []string{"2 times", "lines 3, 4"}},
		{"the same", kernel.EditArgs{Path: "a.go", Old: "x", New: "x"}, sys.CodeInvalid, nil},
		{"empty", kernel.EditArgs{Path: "a.go", New: "x"}, sys.CodeInvalid, []string{"old is empty"}},
		{"missing", kernel.EditArgs{Path: "c.go", Old: "a", New: "b"}, sys.CodeNotFound, []string{"write"}},
		{"binary", kernel.EditArgs{Path: "b.bin", Old: "a", New: "b"}, sys.CodeInvalid, []string{"not a text file"}},
	} {
		_, err := h.Exec.Edit(t.Context(), c.in)
		wantCode(t, c.what, err, c.code, c.parts...)
	}
	if read(t, path) != text {
		t.Error("the file was changed")
	}
	e, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "a.go", Old: "return nil", New: "return err", All: true})
	if err != nil || e.Replaced != 2 || e.Added != 2 || e.Removed != 2 {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestEditsOfOneFileSideBySideAreAllKept(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	path := filepath.Join(k.Folder, "list.txt")
	write(t, path, "a\nb\nc\nd\ne\nf\n")
	errs := make(chan error, 6)
	for _, s := range "abcdef" {
		go func() {
			_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "list.txt", Old: string(s) + "\n", New: strings.ToUpper(string(s)) + "\n"})
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := read(t, path); got != "A\nB\nC\nD\nE\nF\n" {
		t.Errorf("got %q, want all six", got)
	}
}

func TestAFileWithSecretsIsEditedByTheirMarks(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	const key = "sk-proj-Zx81kQmT2vLb7Rw9Ye3Nc5Hd6Jf4Ga0Pq"
	path := filepath.Join(k.Folder, "settings.txt")
	write(t, path, "name = demo\napi_key = \""+key+"\"\n")
	got, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "settings.txt"})
	if err != nil || strings.Contains(got.Text, key) || !strings.Contains(got.Text, "[secret:") {
		t.Fatalf("got %q, %v, want the key masked", got.Text, err)
	}
	if _, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "settings.txt", Content: strings.Replace(got.Text, "demo", "new", 1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "settings.txt", Old: "name = new", New: "name = real"}); err != nil {
		t.Error(err)
	}
	if got := read(t, path); got != "name = real\napi_key = \""+key+"\"\n" {
		t.Errorf("got %q, want the key kept", got)
	}
	if r, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "api_key"}); err != nil || len(r.Matches) != 1 || strings.Contains(r.Matches[0].Text, key) {
		t.Errorf("got %+v, %v, want the key masked", r, err)
	}
}

func TestOutsideTheFolderAFileWaitsForThePerson(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	other := filepath.Join(t.TempDir(), "new", "note.txt")
	doIt := func(ctx context.Context) (kernel.FileEffect, error) {
		return h.Exec.Write(ctx, kernel.WriteArgs{Path: other, Content: "x\n"})
	}
	_, err, ap := answered(t, k, h, false, doIt)
	wantCode(t, "denied", err, sys.CodeDenied, "not this one")
	if _, err := os.Stat(other); err == nil {
		t.Error("a denied write happened")
	}
	r := ap.Request
	if r.Effect != "outside" || r.Path != other || len(r.Outside) != 1 || !strings.Contains(r.Diff, "+x") || !strings.Contains(r.Title, "outside the folder") || r.TitleKO == "" || r.Simple {
		t.Errorf("got request %+v", r)
	}
	if _, err, _ = answered(t, k, h, true, doIt); err != nil || read(t, other) != "x\n" {
		t.Errorf("approved: got %v", err)
	}
	text, err, ap := answered(t, k, h, true, func(ctx context.Context) (kernel.FileText, error) {
		return h.Exec.Read(ctx, kernel.ReadArgs{Path: other})
	})
	if err != nil || text.Text != "x\n" || !strings.HasPrefix(ap.Request.Title, "Reads note.txt") {
		t.Errorf("got %+v, %v, %q", text, err, ap.Request.Title)
	}
	found, err, _ := answered(t, k, h, true, func(ctx context.Context) (kernel.GrepResult, error) {
		return h.Exec.Grep(ctx, kernel.GrepArgs{Pattern: "x", Path: filepath.Dir(other)})
	})
	if err != nil || len(found.Matches) != 1 || found.Matches[0].Path != other {
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestFileThatChangedWhileItWaitedIsNotOverwritten(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("ask")
	path := filepath.Join(k.Folder, "a.txt")
	write(t, path, "old\n")
	done := make(chan error, 1)
	go func() {
		_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "a.txt", Old: "old", New: "new"})
		done <- err
	}()
	ap := k.Approval(h.Principal().ID)
	if !strings.Contains(ap.Request.Diff, "-old\n+new\n") || !strings.HasPrefix(ap.Request.Title, "Changes a.txt in ") {
		t.Errorf("got request %+v", ap.Request)
	}
	write(t, path, "old, and the person's own words\n")
	if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "changed", <-done, sys.CodeConflict, "Nothing was written")
	if got := read(t, path); got != "old, and the person's own words\n" {
		t.Errorf("got %q", got)
	}
}

func TestWhatWouldFailIsNotAsked(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("ask")
	write(t, filepath.Join(k.Folder, "a.txt"), "old\n")
	_, err := h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "a.txt", Old: "nowhere", New: "new"})
	wantCode(t, "edit", err, sys.CodeNotFound)
}

func TestNobodyApprovesWhatIsNeverTouched(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	write(t, filepath.Join(k.Folder, ".git", "config"), "[core]\n")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(k.Home, "config.toml"), filepath.Join(home, ".ssh", "id_rsa")} {
		_, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: path})
		wantCode(t, "read "+path, err, sys.CodeRefused, "nobody can approve")
	}
	for _, path := range []string{filepath.Join(k.Home, "config.toml"), ".git/hooks/pre-commit", ".git/config", ".bashrc"} {
		_, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: path, Content: "x"})
		wantCode(t, "write "+path, err, sys.CodeRefused, "nobody can approve")
	}
	if got := read(t, filepath.Join(k.Folder, ".git", "config")); got != "[core]\n" {
		t.Errorf("got %q", got)
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Action: "AccessDenied"})
	if err != nil || len(list) != 6 {
		t.Errorf("got %d refusals in the chain, %v, want 6", len(list), err)
	}
}

func TestSensitiveFilesInTheFolderAskInEveryMode(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	write(t, filepath.Join(k.Folder, ".env"), "MODE=dev\n")
	write(t, filepath.Join(k.Folder, "package.json"), "{}\n")
	got, err, ap := answered(t, k, h, true, func(ctx context.Context) (kernel.FileText, error) {
		return h.Exec.Read(ctx, kernel.ReadArgs{Path: ".env"})
	})
	if err != nil || got.Text != "MODE=dev\n" || ap.Request.Why == "" {
		t.Errorf("got %+v, %v, why %q", got, err, ap.Request.Why)
	}
	_, err, _ = answered(t, k, h, false, func(ctx context.Context) (kernel.FileEffect, error) {
		return h.Exec.Write(ctx, kernel.WriteArgs{Path: "package.json", Content: `{"scripts": {}}`})
	})
	wantCode(t, "package.json", err, sys.CodeDenied)
	if r, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "MODE"}); err != nil || len(r.Matches) != 0 || !strings.Contains(r.Note, "passwords or keys") {
		t.Errorf("got %+v, %v, want .env left out and said", r, err)
	}
}

func TestLinkOutOfTheFolderLeadsNowhere(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	out := t.TempDir()
	write(t, filepath.Join(out, "secret.txt"), "SECRET\n")
	for name, target := range map[string]string{"link.txt": filepath.Join(out, "secret.txt"), "dir": out, "up": ".."} {
		if err := os.Symlink(target, filepath.Join(k.Folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"link.txt", "dir/secret.txt", "up/x"} {
		_, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: path})
		wantCode(t, "read "+path, err, sys.CodeRefused)
		_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: path, Content: "x"})
		wantCode(t, "write "+path, err, sys.CodeRefused)
	}
	if _, err := h.Exec.Ls(t.Context(), kernel.LsArgs{Path: "dir"}); sys.CodeOf(err) != sys.CodeRefused {
		t.Errorf("ls: got %v", err)
	}
	if r, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "SECRET"}); err != nil || len(r.Matches) != 0 {
		t.Errorf("grep: got %+v, %v", r, err)
	}
	if r, err := h.Exec.Find(t.Context(), kernel.FindArgs{Pattern: "secret.txt"}); err != nil || len(r.Paths) != 0 {
		t.Errorf("find: got %+v, %v", r, err)
	}
	if got := read(t, filepath.Join(out, "secret.txt")); got != "SECRET\n" {
		t.Errorf("the file outside was changed: %q", got)
	}
}

func TestLinkInsideTheFolderIsFollowedAndStays(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "real.txt"), "old\n")
	if err := os.Symlink("real.txt", filepath.Join(k.Folder, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "link.txt", Content: "new\n"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(k.Folder, "link.txt")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("got %v, %v, want the link kept", info.Mode(), err)
	}
	if got := read(t, filepath.Join(k.Folder, "real.txt")); got != "new\n" {
		t.Errorf("got %q", got)
	}
}

func TestFileWithNamesElsewhereAsksBeforeItIsChanged(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	other := filepath.Join(filepath.Dir(k.Folder), filepath.Base(k.Folder)+"-other.txt")
	write(t, other, "theirs\n")
	t.Cleanup(func() { _ = os.Remove(other) })
	if err := os.Link(other, filepath.Join(k.Folder, "mine.txt")); err != nil {
		t.Fatal(err)
	}
	_, err, ap := answered(t, k, h, true, func(ctx context.Context) (kernel.FileEffect, error) {
		return h.Exec.Write(ctx, kernel.WriteArgs{Path: "mine.txt", Content: "mine\n"})
	})
	if err != nil || !strings.Contains(ap.Request.Why, "other names") {
		t.Errorf("got %v, why %q", err, ap.Request.Why)
	}
	if read(t, other) != "theirs\n" || read(t, filepath.Join(k.Folder, "mine.txt")) != "mine\n" {
		t.Error("the other name was changed")
	}
}

func TestLsShowsFoldersFirstAndCapsHugeFolders(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "a.txt"), "abc")
	write(t, filepath.Join(k.Folder, "z", "x.txt"), "")
	if err := os.Symlink("a.txt", filepath.Join(k.Folder, "l")); err != nil {
		t.Fatal(err)
	}
	r, err := h.Exec.Ls(t.Context(), kernel.LsArgs{})
	if err != nil || len(r.Entries) != 3 || r.Entries[0].Name != "z" || !r.Entries[0].Dir || r.Entries[1].Size != 3 || r.Entries[2].Link != "a.txt" {
		t.Errorf("got %+v, %v", r, err)
	}
	for i := range 1200 {
		write(t, filepath.Join(k.Folder, "many", fmt.Sprint(i)), "")
	}
	if r, err = h.Exec.Ls(t.Context(), kernel.LsArgs{Path: "many"}); err != nil || !r.Truncated || len(r.Entries) != 1000 || r.Total != 1200 {
		t.Errorf("got %d of %d, %v", len(r.Entries), r.Total, err)
	}
	_, err = h.Exec.Ls(t.Context(), kernel.LsArgs{Path: "a.txt"})
	wantCode(t, "a file", err, sys.CodeInvalid, "not a folder")
	_, err = h.Exec.Ls(t.Context(), kernel.LsArgs{Path: "mani"})
	wantCode(t, "missing", err, sys.CodeNotFound, "many")
}

func TestHugeContentIsRefusedWithoutAFile(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, err := k.Agent("guarded").Exec.Write(t.Context(), kernel.WriteArgs{Path: "big.txt", Content: string(bytes.Repeat([]byte("a"), 51<<20))})
	wantCode(t, "write", err, sys.CodeTooLarge)
	if _, err := os.Stat(filepath.Join(k.Folder, "big.txt")); err == nil {
		t.Error("something was written")
	}
}
