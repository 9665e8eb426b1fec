package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// acl lets a user of a number read and write, as setfacl -m u:12345:rw does.
const acl = "\x02\x00\x00\x00\x01\x00\x06\x00\xff\xff\xff\xff\x02\x00\x06\x00\x39\x30\x00\x00\x04\x00\x04\x00\xff\xff\xff\xff\x10\x00\x06\x00\xff\xff\xff\xff\x20\x00\x00\x00\xff\xff\xff\xff"

func attr(t *testing.T, path, name string) string {
	t.Helper()
	buf := make([]byte, 256)
	n, err := unix.Lgetxattr(path, name, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

func TestUndoBringsBackTimesModesAndAttributes(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
match = "^change"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "mv moved.txt elsewhere.txt; echo new > kept.txt; chmod 600 mode.txt; rm gone/deep/a.txt gone/link; rmdir gone/deep gone"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "edit"
args = '{"path": "edited.txt", "old": "edited", "new": "other"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "written.txt", "content": "other\n"}'
[[scenario.turn]]
text = "Done."
`))
	dir := k.Folder
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := os.MkdirAll(at("gone/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"moved.txt", "kept.txt", "mode.txt", "edited.txt", "written.txt", "gone/deep/a.txt"}
	probe := filepath.Join(t.TempDir(), "probe")
	write(t, probe, "")
	if err := unix.Setxattr(probe, "user.test", []byte("x"), 0); err != nil {
		t.Skip("this disk has no attributes: ", err)
	}
	lists := unix.Setxattr(probe, "system.posix_acl_access", []byte(acl), 0) == nil
	old := time.Date(2020, 2, 3, 4, 5, 6, 7000, time.UTC)
	for _, name := range names {
		write(t, at(name), strings.TrimSuffix(filepath.Base(name), ".txt"))
		if err := unix.Setxattr(at(name), "user.origin", []byte(name), 0); err != nil {
			t.Fatal(err)
		}
		if lists {
			if err := unix.Setxattr(at(name), "system.posix_acl_access", []byte(acl), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Symlink("deep/a.txt", at("gone/link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(at("gone/deep"), "user.origin", []byte("folder"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at("gone/deep"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "gone/deep", "gone") {
		if err := os.Chtimes(at(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	past := []unix.Timespec{unix.NsecToTimespec(old.UnixNano()), unix.NsecToTimespec(old.UnixNano())}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, at("gone/link"), past, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		t.Fatal(err)
	}
	modes := map[string]os.FileMode{}
	for _, name := range []string{"edited.txt", "written.txt"} {
		if err := os.Chmod(at(name), 0o660); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(at(name))
		if err != nil {
			t.Fatal(err)
		}
		modes[name] = info.Mode()
	}
	r := k.Ask("change", func(m *kernel.Submit) { m.Mode = "autonomous" })
	for _, name := range []string{"edited.txt", "written.txt"} {
		if info, err := os.Lstat(at(name)); err != nil || info.Mode() != modes[name] {
			t.Errorf("%s lost its mode when it was changed: %v, %v", name, info, err)
		}
		if got := attr(t, at(name), "user.origin"); got != name {
			t.Errorf("%s lost its attribute when it was changed: %q", name, got)
		}
		if got := attr(t, at(name), "system.posix_acl_access"); lists && got != acl {
			t.Errorf("%s lost its list when it was changed: %q", name, got)
		}
	}
	// A file that was touched is the same file.
	now := time.Now().Truncate(time.Second)
	for _, name := range []string{"elsewhere.txt", "kept.txt", "edited.txt"} {
		if err := os.Chtimes(at(name), now, now); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now().Add(-time.Second)
	undone := func(times bool) {
		t.Helper()
		plan, err := k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: r.RunID})
		if err != nil || plan.Conflicts+plan.Impossible > 0 {
			t.Fatalf("got %+v, %v", plan, err)
		}
		if plan, err = k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: r.RunID, Times: times, Hash: plan.Hash}); err != nil {
			t.Fatal(err)
		}
		for _, f := range plan.Files {
			if f.Status != kernel.UndoDone {
				t.Errorf("%s: %s %s", f.Path, f.Status, f.Why)
			}
		}
	}
	check := func(times bool) {
		t.Helper()
		for _, name := range names {
			info, err := os.Lstat(at(name))
			if err != nil {
				t.Error(err)
				continue
			}
			content := name == "kept.txt" || name == "edited.txt" || name == "written.txt"
			switch {
			case content && !times && info.ModTime().Before(began):
				t.Errorf("%s has the time %v, want that of the undo", name, info.ModTime())
			case (!content || times) && !info.ModTime().Equal(old):
				t.Errorf("%s has the time %v, want its old one", name, info.ModTime())
			}
			if got := attr(t, at(name), "user.origin"); got != name {
				t.Errorf("%s has the attribute %q", name, got)
			}
			if got := attr(t, at(name), "system.posix_acl_access"); lists && got != acl {
				t.Errorf("%s has the list %q", name, got)
			}
		}
		for name, mode := range map[string]os.FileMode{"gone": 0o755, "gone/deep": 0o750} {
			if info, err := os.Lstat(at(name)); err != nil || !info.ModTime().Equal(old) || info.Mode().Perm() != mode {
				t.Errorf("%s: got %v, %v", name, info, err)
			}
		}
		if info, err := os.Lstat(at("gone/link")); err != nil || !info.ModTime().Equal(old) {
			t.Errorf("the link: got %v, %v", info, err)
		}
		if got := attr(t, at("gone/deep"), "user.origin"); got != "folder" {
			t.Errorf("the folder has the attribute %q", got)
		}
	}
	undone(false)
	check(false)
	plan, err := k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: r.RunID, Redo: true})
	if err == nil {
		_, err = k.Person().Agents.Redo(t.Context(), kernel.UndoInput{RunID: r.RunID, Hash: plan.Hash})
	}
	if err != nil {
		t.Fatal(err)
	}
	undone(true)
	check(true)
}

func TestManyFilesComeBackInBatches(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
match = "^delete"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "chmod 700 many/d3; rm -r many; sed -i s/a/b/ changed/*"}'
[[scenario.turn]]
text = "Done."
`))
	at := func(i int) string {
		return filepath.Join(k.Folder, "many", fmt.Sprint("d", i%7), fmt.Sprint("f", i, ".txt"))
	}
	old := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 700 {
		if err := os.MkdirAll(filepath.Dir(at(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, at(i), fmt.Sprint("content ", i%50))
		if err := os.Chtimes(at(i), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(k.Folder, "changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		write(t, filepath.Join(k.Folder, "changed", fmt.Sprint(i)), "a")
	}
	if err := os.Chmod(filepath.Join(k.Folder, "many", "d3"), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(k.Folder, "many", "d3"), 0o700) }) //nolint:gosec // so that it can be removed
	r := k.Ask("delete", func(m *kernel.Submit) { m.Mode = "autonomous" })
	if len(r.Totals) == 0 || r.Totals[0] != (kernel.ChangeTotal{Kind: "deleted", Files: 700, Folders: 7}) {
		t.Errorf("got totals %+v", r.Totals)
	}
	// One that came in the way stays.
	if err := os.MkdirAll(filepath.Dir(at(5)), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, at(5), "of the person")
	plan, err := k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: r.RunID})
	if err != nil || plan.Conflicts != 1 {
		t.Fatalf("got %d conflicts, %v", plan.Conflicts, err)
	}
	if plan, err = k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: r.RunID, Hash: plan.Hash}); err != nil {
		t.Fatal(err)
	}
	for i := range 700 {
		info, err := os.Lstat(at(i))
		if i == 5 {
			if read(t, at(i)) != "of the person" {
				t.Error("what the person wrote was replaced")
			}
			continue
		}
		if err != nil || !info.ModTime().Equal(old) || read(t, at(i)) != fmt.Sprint("content ", i%50) {
			t.Fatalf("%s: got %v, %v", at(i), info, err)
		}
	}
	for i := range 20 {
		if got := read(t, filepath.Join(k.Folder, "changed", fmt.Sprint(i))); got != "a" {
			t.Errorf("changed/%d is %q", i, got)
		}
	}
	if info, err := os.Lstat(filepath.Join(k.Folder, "many", "d3")); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("a folder that could not be written to came back as %v, %v", info, err)
	}
	left, err := filepath.Glob(filepath.Join(k.Folder, "many", "*", ".oxios-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	plan, err = k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: r.RunID, Redo: true})
	if err == nil {
		plan, err = k.Person().Agents.Redo(t.Context(), kernel.UndoInput{RunID: r.RunID, Hash: plan.Hash})
	}
	if err != nil || plan.Ready < 700 {
		t.Errorf("redo: got %d, %v", plan.Ready, err)
	}
	if _, err := os.Lstat(at(6)); err == nil {
		t.Error("a redo left a file")
	}
}
