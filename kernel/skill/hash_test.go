package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"oxios/kernel/sys"
)

func hashOf(t *testing.T, fsys fs.FS) string {
	t.Helper()
	h, err := Hash(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHashChangesWithContentPathAndModeAlone(t *testing.T) {
	t.Parallel()
	base := func() fstest.MapFS {
		return fstest.MapFS{"SKILL.md": {Data: []byte("one"), Mode: 0o644}, "scripts/a.sh": {Data: []byte("two"), Mode: 0o755}}
	}
	want := hashOf(t, base())
	if len(want) != len("blake3:")+64 || want != hashOf(t, base()) {
		t.Fatalf("got %q", want)
	}
	for name, change := range map[string]func(fstest.MapFS){
		"content":        func(m fstest.MapFS) { m["SKILL.md"].Data = []byte("One") },
		"longer":         func(m fstest.MapFS) { m["SKILL.md"].Data = []byte("one ") },
		"executable bit": func(m fstest.MapFS) { m["scripts/a.sh"].Mode = 0o644 },
		"name":           func(m fstest.MapFS) { m["scripts/b.sh"] = m["scripts/a.sh"]; delete(m, "scripts/a.sh") },
		"folder":         func(m fstest.MapFS) { m["a.sh"] = m["scripts/a.sh"]; delete(m, "scripts/a.sh") },
		"another file":   func(m fstest.MapFS) { m["x"] = &fstest.MapFile{Mode: 0o644} },
		"gone":           func(m fstest.MapFS) { delete(m, "scripts/a.sh") },
		"a seam moved": func(m fstest.MapFS) {
			m["SKILL.md"].Data = []byte("on")
			m["scripts/a.sh"].Data = []byte("etwo")
		},
	} {
		m := base()
		change(m)
		if got := hashOf(t, m); got == want {
			t.Errorf("%s: the hash is the same", name)
		}
	}
	m := base()
	m["SKILL.md"].Mode = 0o600
	m["empty"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	if got := hashOf(t, m); got != want {
		t.Error("rights of others, or an empty folder, changed the hash")
	}
}

func TestHashOfDiskIsThatOfEmbeddedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, Bundled()); err != nil {
		t.Fatal(err)
	}
	tree, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if a, b := hashOf(t, tree), hashOf(t, Bundled()); a != b {
		t.Errorf("got %s and %s", a, b)
	}
}

func TestHashRefusesWhatCannotBePinned(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	for name, make := range map[string]func(at string) error{
		"leads out":         func(at string) error { return os.Symlink("../x", at) },
		"absolute":          func(at string) error { return os.Symlink("/etc/passwd", at) },
		"neither a file":    mkfifo,
		"256 MB":            func(at string) error { return manyBytes(at) },
		"a link that stays": func(at string) error { return os.Symlink("SKILL.md", at) },
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := make(filepath.Join(dir, "bad")); err != nil {
			t.Fatal(err)
		}
		tree, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Hash(t.Context(), tree)
		_ = tree.Close()
		if strings.HasSuffix(name, "stays") {
			if err != nil {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		want := strings.Replace(name, "absolute", "leads out", 1)
		if e := sys.AsError(err); e == nil || !strings.Contains(e.Message, want) || e.Hint == "" || e.MessageKO == "" {
			t.Errorf("%s: got %+v", name, e)
		}
	}
}

// manyBytes makes a file that is large and takes no room.
func manyBytes(at string) error {
	if err := os.WriteFile(at, nil, 0o644); err != nil {
		return err
	}
	return os.Truncate(at, maxTotal+1)
}

func TestHashRefusesTooManyFiles(t *testing.T) {
	t.Parallel()
	m := fstest.MapFS{}
	for i := range maxHashed + 1 {
		m[fmt.Sprintf("d%d/%d", i%100, i)] = &fstest.MapFile{Mode: 0o644}
	}
	if _, err := Hash(t.Context(), m); sys.CodeOf(err) != sys.CodeTooLarge || !strings.Contains(err.Error(), "100000") {
		t.Errorf("got %v", err)
	}
}
