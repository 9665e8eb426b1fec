package undo_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel/undo"
)

func fsck(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "fsck", "--full", "--strict")
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GIT_DIR="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "notice:") {
			t.Errorf("git fsck says %q", line)
		}
	}
	if err != nil {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

func TestGitFindsTheStoreClean(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "undo")
	o := undo.At(dir)
	var kept []undo.Kept
	b := o.Batch()
	contents := map[string][]byte{}
	for i := range 300 {
		text := []byte(strings.Repeat(fmt.Sprint("text ", i), i*i))
		put := o.Put
		if i%3 > 0 {
			put = b.Put
		}
		id, err := put(text)
		if err != nil {
			t.Fatal(err)
		}
		contents[id] = text
		kept = append(kept, undo.Kept{Path: fmt.Sprintf("/a/.git/new\nline %d", i), Before: undo.Absent, After: undo.State{Kind: undo.File, Content: id, Mode: 0o644, Size: int64(len(text))}.String()})
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := o.Keep("run-1", kept, time.Unix(1700000000, 0)); err != nil {
		t.Fatal(err)
	}
	fsck(t, dir)
	same := func(o *undo.Objects, want map[string][]byte) {
		t.Helper()
		for id, text := range want {
			if got, err := o.Read(id); err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%s: got %d bytes, %v, want %d", id, len(got), err, len(text))
			}
		}
	}
	same(o, contents)
	o = undo.At(dir) // as after a restart
	same(o, contents)
	if err := o.Clear(map[string]bool{}); err != nil {
		t.Fatal(err)
	}
	same(o, contents) // the run still names it all
	if err := o.Forget("run-1"); err != nil {
		t.Fatal(err)
	}
	half, all := map[string]bool{}, map[string][]byte{}
	for id, text := range contents {
		if id < "8" {
			half[id], all[id] = true, text
		}
	}
	if err := o.Clear(half); err != nil {
		t.Fatal(err)
	}
	for id := range contents {
		if has, err := o.Has(id); err != nil || has != half[id] {
			t.Errorf("%s: has %v, %v, want %v", id, has, err, half[id])
		}
	}
	same(o, all)
	same(undo.At(dir), all)
}

func TestStateIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	id := undo.ID([]byte("x"))
	for _, s := range []undo.State{
		{Kind: undo.Absent},
		{Kind: undo.Other},
		{Kind: undo.Link, Content: id},
		{Kind: undo.Folder, Mode: 0o755},
		{Kind: undo.File, Content: id, Mode: 0o600, Size: 1},
		{Kind: undo.File, Mode: 0o777, Size: 1 << 40},
	} {
		if got, err := undo.Parse(s.String()); err != nil || got != s {
			t.Errorf("%q: got %+v, %v, want %+v", s, got, err, s)
		}
	}
	for _, bad := range []string{"", "file", "file 644 zz 1", "link ../x", "folder 9", "file 644 " + id + " x", "absent 1"} {
		if s, err := undo.Parse(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, s)
		}
	}
}
