package kernel_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func partNamed(s kernel.Storage, id string) kernel.StoragePart {
	for _, p := range s.Parts {
		if p.ID == id {
			return p
		}
	}
	return kernel.StoragePart{}
}

func TestStoragePartsTogetherAreTheHome(t *testing.T) {
	t.Parallel()
	k := lived(t)
	writeFile(t, filepath.Join(k.Home, "oxios.db.v1.bak"), strings.Repeat("b", 5000))
	writeFile(t, filepath.Join(k.Home, "caches", "go", "a"), strings.Repeat("c", 7000))
	s, err := k.Person().Infra.Storage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var onDisk, sum int64
	err = filepath.WalkDir(k.Home, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		onDisk += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Parts {
		sum += p.Bytes
		if p.Bytes < 0 {
			t.Errorf("got %+v, want no negative size", p)
		}
	}
	if sum != s.Bytes || s.Bytes != onDisk || s.Free <= 0 {
		t.Errorf("got %d in parts and %d in all, want %d", sum, s.Bytes, onDisk)
	}
	for id, want := range map[string]int64{kernel.PartCopies: 5000, kernel.PartCache: 7000, kernel.PartLogs: 4, kernel.PartFiles: 7} {
		if p := partNamed(s, id); p.Bytes != want || p.Files != 1 || (p.Clean != 0) != (id != kernel.PartFiles) {
			t.Errorf("%s: got %+v, want %d bytes in one file", id, p, want)
		}
	}
	for _, id := range []string{kernel.PartConversations, kernel.PartChanges, kernel.PartAudit, kernel.PartKeys, kernel.PartSettings} {
		if p := partNamed(s, id); p.Bytes == 0 || p.Clean != 0 {
			t.Errorf("%s: got %+v, want a size, and nothing to clean", id, p)
		}
	}
}

func TestCleaningTouchesThatPartAlone(t *testing.T) {
	t.Parallel()
	k := lived(t)
	h := k.Person()
	outside := filepath.Join(t.TempDir(), "outside")
	writeFile(t, filepath.Join(outside, "mine.txt"), "mine")
	writeFile(t, filepath.Join(k.Home, "oxios.db.v1.bak"), strings.Repeat("b", 5000))
	writeFile(t, filepath.Join(k.Home, "oxios.db.replaced-20260101T000000.000"), strings.Repeat("b", 6000))
	writeFile(t, filepath.Join(k.Home, "logs", "serve.log.1"), strings.Repeat("l", 900))
	closed := filepath.Join(k.Home, "caches", "go", "mod")
	writeFile(t, filepath.Join(closed, "a.go"), "package a")
	if err := os.Chmod(closed, 0o500); err != nil { // as the cache of Go modules is
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(k.Home, "caches", "link")); err != nil {
		t.Fatal(err)
	}
	open, err := os.OpenFile(filepath.Join(k.Home, "logs", "serve.log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	for part, freed := range map[string]int64{kernel.PartCopies: 11_000, kernel.PartLogs: 904, kernel.PartCache: 9} {
		before := pictured(t, k)
		c, err := h.Infra.Clean(t.Context(), part)
		if err != nil || c.Freed < freed || c.Freed > freed+200 || partNamed(c.Storage, part).Bytes != 0 || partNamed(c.Storage, part).Clean != 0 {
			t.Errorf("%s: got %+v, %v; want %d bytes to be freed", part, c, err, freed)
		}
		if after := pictured(t, k); after != before {
			t.Errorf("%s: the home has changed", part)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(outside, "mine.txt")); err != nil || string(raw) != "mine" {
		t.Errorf("behind a link: got %q, %v; want what was there", raw, err)
	}
	if left, err := os.ReadDir(filepath.Join(k.Home, "caches")); err != nil || len(left) != 0 {
		t.Errorf("got %v, %v; want an empty cache", left, err)
	}
	// Who holds a log open goes on writing where it can be read.
	if _, err := open.WriteString("next line\n"); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(k.Home, "logs", "serve.log")); err != nil || string(raw) != "next line\n" {
		t.Errorf("the log: got %q, %v", raw, err)
	}
	for _, part := range []string{kernel.PartConversations, kernel.PartAudit, kernel.PartKeys, kernel.PartFiles, "", "../x"} {
		if _, err := h.Infra.Clean(t.Context(), part); sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), "copies, logs, cache") {
			t.Errorf("%q: got %v, want to be told what can be cleaned", part, err)
		}
	}
	if got := verified(t, k); !got.OK {
		t.Errorf("got %+v, want a whole chain", got)
	}
}

func TestCacheInUseIsNotCleaned(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.Agent("autonomous")
	writeFile(t, filepath.Join(k.Home, "caches", "a"), "x")
	if _, err := k.Person().Infra.Clean(t.Context(), kernel.PartCache); sys.CodeOf(err) != sys.CodeBusy {
		t.Errorf("while an agent is at work: got %v, want busy", err)
	}
	if _, err := os.Stat(filepath.Join(k.Home, "caches", "a")); err != nil {
		t.Errorf("got %v, want the cache to stay", err)
	}
}
