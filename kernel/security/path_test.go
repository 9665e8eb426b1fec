package security

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

func openTestRoot(t *testing.T) (*Root, string) {
	t.Helper()
	dir := t.TempDir()
	r, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, dir
}

func writeTestFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRelTakesPathsAsModelsWriteThem(t *testing.T) {
	t.Parallel()
	r, dir := openTestRoot(t)
	for in, want := range map[string]string{
		"": ".", ".": ".", "./a//b/./c": "a/b/c", "a/../b": "a/../b", dir: ".", dir + "/x/y": "x/y", dir + "//x": "x", "한글.txt": "한글.txt", "a b": "a b",
	} {
		if got, err := r.Rel(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]sys.Code{
		"..": sys.CodeRefused, "../x": sys.CodeRefused, "a/../../x": sys.CodeRefused, dir + "-evil/secret": sys.CodeRefused, filepath.Dir(dir): sys.CodeRefused,
		"/etc/passwd": sys.CodeRefused, "~/.ssh/id_rsa": sys.CodeRefused, "a\x00b": sys.CodeInvalid, strings.Repeat("a", 300): sys.CodeInvalid, strings.Repeat("a/", 4000): sys.CodeInvalid,
	} {
		_, err := r.Rel(in)
		if sys.CodeOf(err) != want {
			t.Errorf("%.40q: got %v, want %s", in, err, want)
		}
	}
	var e *sys.Error
	if _, err := r.Rel("../x"); !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("got %v, want a hint about what to do", err)
	}
}

func TestFolderNamedThroughALinkIsTheSameFolder(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(base, "link")); err != nil {
		t.Skip("this system has no links")
	}
	r, err := OpenRoot(filepath.Join(base, "link"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{filepath.Join(base, "link", "x"), filepath.Join(real, "real", "x")} {
		if got, err := r.Rel(p); err != nil || got != "x" {
			t.Errorf("%q: got %q, %v, want x", p, got, err)
		}
	}
}

func TestWriteKeepsTheModeAndLeavesNoTraces(t *testing.T) {
	t.Parallel()
	r, dir := openTestRoot(t)
	writeTestFile(t, filepath.Join(dir, "run.sh"), "old")
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFileAtomic("run.sh", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFileAtomic("fresh.txt", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := r.Stat("run.sh")
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("got mode %v, want 0755 kept", info.Mode())
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "run.sh")); string(data) != "new" {
		t.Errorf("got %q, want new", data)
	}
	entries, err := r.ReadDir(".")
	if err != nil || len(entries) != 2 {
		t.Errorf("got %v, %v, want the two files alone", entries, err)
	}
	if err := r.WriteFileAtomic("no/such/folder", nil, 0o600); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not found", err)
	}
	if err := r.WriteFileAtomic(".", nil, 0o600); err == nil {
		t.Error("wrote over the folder, want an error")
	}
}

func TestOwnFileIsReplacedWholeThroughItsLink(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "real.toml")
	writeTestFile(t, elsewhere, "old")
	if err := os.Chmod(elsewhere, 0o644); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "config.toml")
	if err := os.Symlink(elsewhere, name); err != nil {
		t.Skip("this system has no links")
	}
	for _, path := range []string{name, filepath.Join(dir, "fresh.toml")} {
		if err := WriteFileAtomic(path, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if data, _ := os.ReadFile(path); string(data) != "new" || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %q with mode %v, want new with 0600", path, data, info.Mode())
		}
	}
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("got %v, %v, want the link kept", info, err)
	}
	for _, d := range []string{dir, filepath.Dir(elsewhere)} {
		if left, err := filepath.Glob(filepath.Join(d, ".oxios-*")); err != nil || len(left) > 0 {
			t.Errorf("got %q, %v, want nothing left behind", left, err)
		}
	}
	if err := WriteFileAtomic(filepath.Join(dir, "no", "folder"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that there is no folder", err)
	}
}

func TestLinkInsideIsFollowedAndStays(t *testing.T) {
	t.Parallel()
	r, dir := openTestRoot(t)
	writeTestFile(t, filepath.Join(dir, "sub/target"), "old")
	for name, target := range map[string]string{"relative": "sub/target", "absolute": filepath.Join(dir, "sub/target")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("this system has no links")
		}
		if got, err := r.Resolve(name); err != nil || got != "sub/target" {
			t.Errorf("%s: got %q, %v, want sub/target", name, got, err)
		}
		if err := r.WriteFileAtomic(name, []byte(name), 0o600); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "sub/target")); string(data) != name {
			t.Errorf("%s: got %q in the target", name, data)
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", name)
		}
	}
}

func TestLinkGivesAGuardedFileNoNewName(t *testing.T) {
	t.Parallel()
	r, dir := openTestRoot(t)
	if err := os.MkdirAll(filepath.Join(dir, ".git/hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git/hooks", filepath.Join(dir, "x")); err != nil {
		t.Skip("this system has no links")
	}
	real, err := r.Resolve("x/pre-commit")
	if err != nil {
		t.Fatal(err)
	}
	if v := Classify(real, dir, "", ""); v.Write != TierRefuse {
		t.Errorf("%s: got tier %d, want it refused", real, v.Write)
	}
}

func TestHardLinkedFileIsNotWrittenUnasked(t *testing.T) {
	t.Parallel()
	r, dir := openTestRoot(t)
	other := filepath.Join(t.TempDir(), "other")
	writeTestFile(t, other, "theirs")
	if err := os.Link(other, filepath.Join(dir, "h")); err != nil || runtime.GOOS == "windows" {
		t.Skip("this system does not show hard links")
	}
	if linked, err := r.HardLinked("h"); err != nil || !linked {
		t.Errorf("got %v, %v, want a hard link", linked, err)
	}
	if linked, err := r.HardLinked("missing"); err != nil || linked {
		t.Errorf("got %v, %v for a missing file, want no link", linked, err)
	}
	if err := r.WriteFileAtomic("h", []byte("mine"), 0o600); sys.CodeOf(err) != sys.CodeRefused {
		t.Errorf("got %v, want it refused", err)
	}
	if err := r.WriteFileApart("h", []byte("mine"), 0o600); err != nil {
		t.Error(err)
	}
	theirs, _ := os.ReadFile(other)
	mine, _ := os.ReadFile(filepath.Join(dir, "h"))
	if string(theirs) != "theirs" || string(mine) != "mine" {
		t.Errorf("got %q and %q, want the two parted", theirs, mine)
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	t.Parallel()
	r, dir := openTestRoot(t)
	writeTestFile(t, filepath.Join(dir, "file"), "text")
	f, info, err := r.OpenRegular("file")
	if err != nil || info.Size() != 4 {
		t.Fatalf("got %v, %v, want the file", info, err)
	}
	f.Close()
	if _, _, err := r.OpenRegular("."); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v for a folder, want invalid", err)
	}
	if _, _, err := r.OpenRegular("missing"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not found", err)
	}
	if _, err := r.ReadDir("file"); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v for listing a file, want invalid", err)
	}
	if err := r.Remove("."); sys.CodeOf(err) != sys.CodeRefused {
		t.Errorf("got %v for deleting the folder, want refused", err)
	}
}

func TestTrickyNamesMeetTheSamePolicy(t *testing.T) {
	t.Parallel()
	const folder, home, oxios = "/home/person/project", "/home/person", "/home/person/.oxios"
	for p, want := range map[string]PathVerdict{
		"src/main.go": {Inside: true}, "../project/x": {Inside: true}, "../project-evil/x": {Read: TierAsk, Write: TierAsk},
		".GIT/Hooks/x": {Inside: true, Write: TierRefuse}, ".git./hooks/x": {Inside: true, Write: TierRefuse}, "git~1/config": {Inside: true, Write: TierRefuse},
		".g\u200cit/config": {Inside: true, Write: TierRefuse}, ".bashrc::$DATA": {Inside: true, Write: TierRefuse}, ".ｂashrc": {Inside: true, Write: TierRefuse},
		"~/.oxios/oxios.db": {Protected: true, Read: TierRefuse, Write: TierRefuse}, "/home/person/.OXIOS/x": {Protected: true, Read: TierRefuse, Write: TierRefuse},
		".env": {Inside: true, Sensitive: true, Read: TierAsk, Write: TierAsk}, "/etc/hosts": {Read: TierAsk, Write: TierRefuse},
		"/root/.ssh/id_rsa": {Sensitive: true, Read: TierRefuse, Write: TierRefuse}, "~/.ssh/id_ed25519.pub": {Sensitive: true, Read: TierAsk, Write: TierRefuse},
	} {
		got := Classify(p, folder, home, oxios)
		got.Abs, got.Reason, got.ReasonKO = "", "", ""
		if got != want {
			t.Errorf("%q: got %+v, want %+v", p, got, want)
		}
	}
	if len(NeverTouched()) == 0 {
		t.Error("got no list of what is never touched")
	}
}

func TestFolderInTheOxiosHomeIsOpenAndTheRestIsNot(t *testing.T) {
	t.Parallel()
	const folder, oxios = "/home/p/.oxios/spaces/1/workspace", "/home/p/.oxios"
	if v := Classify("notes.md", folder, "/home/p", oxios); v.Protected || v.Write != TierFree {
		t.Errorf("got %+v, want the workspace of a space open", v)
	}
	for _, p := range []string{"../x", "../../../config.toml", oxios + "/oxios.db"} {
		if v := Classify(p, folder, "/home/p", oxios); !v.Protected {
			t.Errorf("%s: got %+v, want it protected", p, v)
		}
	}
	if v := Classify("config.toml", oxios, "/home/p", oxios); !v.Protected {
		t.Errorf("got %+v, want the Oxios home protected as a folder too", v)
	}
}

func TestNamesThatWindowsChanges(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"NUL", "con.txt", "COM1", "lpt9.log", "a:b", "a.txt::$DATA", "dot.", "blank ", "COM¹", "CONIN$", "a<b", "aux .txt"} {
		if windowsName(name) {
			t.Errorf("%q: got accepted, want refused", name)
		}
	}
	for _, name := range []string{"console", "a.b", "com", "com10", "..", "파일.txt"} {
		if !windowsName(name) {
			t.Errorf("%q: got refused, want accepted", name)
		}
	}
}

// Whatever a path looks like, its text leads nowhere outside, and a path below
// the files of Oxios is never free.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"a/b", "../x", "~/.ssh/id_rsa", "/etc/shadow", "a/../../b", ".git/hooks/x", "C:\\x", "a\x00b", "ⓐ/．．/b", "//x/./y", ".Oxios", "~", ".env.", "x:$DATA"} {
		f.Add(s)
	}
	dir, err := os.MkdirTemp("", "oxios-fuzz-")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	root, err := OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { root.Close() })
	f.Fuzz(func(t *testing.T, p string) {
		v := Classify(p, "/home/person/project", "/home/person", "/home/person/.oxios")
		if v.Inside && !Within(v.Abs, "/home/person/project") || v.Write < v.Read || v.Write > TierFree && (v.Reason == "" || v.ReasonKO == "") {
			t.Errorf("%q: got %+v", p, v)
		}
		if own := Classify("/home/person/.oxios/"+p, "/home/person/project", "/home/person", "/home/person/.oxios"); Within(own.Abs, "/home/person/.oxios") && (own.Read != TierRefuse || !own.Protected) {
			t.Errorf("%q below the Oxios home: got %+v", p, own)
		}
		rel, err := root.Rel(p)
		if err != nil {
			return
		}
		if filepath.IsAbs(rel) || !filepath.IsLocal(rel) && runtime.GOOS != "windows" {
			t.Errorf("%q: got %q, want a path below the folder", p, rel)
		}
		if to, err := root.Resolve(rel); err == nil && !filepath.IsLocal(to) {
			t.Errorf("%q resolves to %q", p, to)
		}
	})
}
