package kernel_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/blake3"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// refuses has a home refuse the backup at path, with code, and checks that
// nothing changed but the record of the attempt.
func refuses(t *testing.T, k *kerneltest.Kernel, path string, code sys.Code, says string) {
	t.Helper()
	before, files := pictured(t, k), tree(t, k.Home)
	for _, try := range []bool{true, false} {
		_, err := k.Person().Infra.Restore(t.Context(), kernel.RestoreInput{Path: path, Try: try})
		e := sys.AsError(err)
		if err == nil || e.Code != code || !strings.Contains(e.Message, says) || !strings.Contains(e.Message, "Nothing was changed") || e.Hint == "" {
			t.Errorf("%s: got %v, want %s, %q, that nothing was changed, and a hint", filepath.Base(path), err, code, says)
		}
	}
	if after := pictured(t, k); after != before {
		t.Errorf("%s: the home has changed", filepath.Base(path))
	}
	if after := tree(t, k.Home); after != files {
		t.Errorf("%s: got files\n%s\nwant\n%s", filepath.Base(path), after, files)
	}
}

// tree lists the files of a home, but for the checkpoints, which come by themselves.
func tree(t *testing.T, home string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, home)
		if err == nil && !strings.HasPrefix(d.Name(), "oxios.db-") && name != filepath.FromSlash("/audit") && name != filepath.FromSlash("/audit/checkpoints.jsonl") {
			fmt.Fprintln(&b, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// holdsTheSame reports whether two compressed files hold the same bytes, sums
// included.
func holdsTheSame(t *testing.T, a, b []byte) bool {
	t.Helper()
	var held [2][]byte
	for i, data := range [][]byte{a, b} {
		zip, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			held[i], err = io.ReadAll(zip)
		}
		if err != nil {
			return false
		}
	}
	return bytes.Equal(held[0], held[1])
}

func TestDamagedBackupIsRefusedWhereverTheDamageIs(t *testing.T) {
	t.Parallel()
	made := backup(t, lived(t))
	whole, err := os.ReadFile(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	k := kerneltest.Open(t)
	before := tree(t, k.Home)
	path := filepath.Join(t.TempDir(), "damaged.tar.gz")
	refused := func(what string, data []byte, want sys.Code) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := k.Person().Infra.Restore(t.Context(), kernel.RestoreInput{Path: path})
		if sys.CodeOf(err) != want || !strings.Contains(err.Error(), "Nothing was changed") {
			t.Errorf("%s: got %v, want %s", what, err, want)
		}
	}
	step := max(1, len(whole)/50)
	for i := 0; i < len(whole); i += step {
		data := bytes.Clone(whole)
		data[i] ^= 0xff
		if holdsTheSame(t, whole, data) {
			continue // one run of zeros was copied from another: nothing is damaged
		}
		refused(fmt.Sprintf("byte %d of %d", i, len(whole)), data, sys.CodeInvalid)
		refused(fmt.Sprintf("cut at %d of %d", i, len(whole)), whole[:i], sys.CodeInvalid)
	}
	for i := range 12 { // gzip's header and its checksums
		for _, at := range []int{i, len(whole) - 1 - i} {
			data := bytes.Clone(whole)
			data[at] ^= 1
			refused(fmt.Sprintf("bit 0 of byte %d of %d", at, len(whole)), data, sys.CodeInvalid)
		}
	}
	refused("something after its end", append(bytes.Clone(whole), 'x'), sys.CodeInvalid)
	refused("a second stream after it", append(bytes.Clone(whole), whole...), sys.CodeInvalid)
	if after := tree(t, k.Home); after != before {
		t.Errorf("got files\n%s\nwant\n%s", after, before)
	}
	list, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{})
	if err != nil || len(list) != 0 {
		t.Errorf("got %d conversations, %v; want none", len(list), err)
	}
	if got := verified(t, k); !got.OK {
		t.Errorf("got %+v, want a whole chain", got)
	}
	if r := restore(t, k, made.Path); r.Sessions.Added != 2 {
		t.Errorf("the whole one: got %+v, want 2 conversations", r)
	}
}

// part is an entry of a backup that somebody else put together.
type part struct {
	name string
	data []byte
	kind byte // tar's; a plain file by default
}

// forge writes a backup as pack does, with a manifest that fits what is in it
// but for what change does to it.
func forge(t *testing.T, parts []part, change func(map[string]any)) string {
	t.Helper()
	var listed []map[string]any
	for _, p := range parts {
		sum := blake3.Sum256(p.data)
		listed = append(listed, map[string]any{"name": p.name, "size": len(p.data), "blake3": hex.EncodeToString(sum[:]), "mode": 0o600})
	}
	m := map[string]any{"format": 1, "oxios": "99.0", "made_at": time.Now(), "node": "0123456789abcdef", "database": 1, "entries": listed}
	if change != nil {
		change(m)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(zip)
	for _, p := range append([]part{{name: "manifest.json", data: raw}}, parts...) {
		h := tar.Header{Name: p.name, Mode: 0o600, Size: int64(len(p.data)), Typeflag: tar.TypeReg}
		if p.kind != 0 {
			h.Typeflag, h.Linkname, h.Size = p.kind, "/etc/passwd", 0
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write(p.data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "forged.tar.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNewerBackupIsRefused(t *testing.T) {
	t.Parallel()
	k := lived(t)
	all := entries(t, backup(t, k).Path)
	database := part{name: "oxios.db", data: all["oxios.db"]}
	refuses(t, k, forge(t, []part{database}, func(m map[string]any) { m["format"] = 2; m["entries"] = "of another kind" }), sys.CodeNewerDatabase, "newer Oxios (99.0)")
	refuses(t, k, forge(t, []part{database}, func(m map[string]any) { m["database"] = 99 }), sys.CodeNewerDatabase, "newer Oxios (99.0)")
	// The manifest says nothing of it, but the database itself does: its version stands in bytes 60 to 63.
	newer := part{name: "oxios.db", data: bytes.Clone(database.data)}
	newer.data[63] = 99
	refuses(t, k, forge(t, []part{newer}, nil), sys.CodeNewerDatabase, "newer Oxios (99.0)")
}

func TestForgedBackupIsRefused(t *testing.T) {
	t.Parallel()
	k := lived(t)
	all := entries(t, backup(t, k).Path)
	database := part{name: "oxios.db", data: all["oxios.db"]}
	plain := func(name string) part { return part{name: name, data: []byte("x")} }
	for name, parts := range map[string][]part{
		"climbs out":             {database, plain("files/../../evil")},
		"climbs out later":       {database, plain("files/a/../../evil")},
		"an absolute path":       {database, plain("files//etc/evil")},
		"no file of a home":      {database, plain("evil")},
		"a key":                  {database, plain("files/keys/identity.txt")},
		"a key in capitals":      {database, plain("files/KEYS/identity.txt")},
		"a socket's folder":      {database, plain("files/run/lock")},
		"the database's own log": {database, plain("files/oxios.db-wal")},
		"a backslash":            {database, plain(`files/..\evil`)},
		"a link":                 {database, {name: "files/link", kind: tar.TypeSymlink}},
		"no database":            {plain("files/a")},
		"another database":       {{name: "oxios.db", data: []byte("not a database")}},
		"half a database":        {{name: "oxios.db", data: database.data[:len(database.data)/2]}},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, k, forge(t, parts, nil), sys.CodeInvalid, "damaged")
		})
	}
	for name, change := range map[string]func(map[string]any){
		"rows are missing":  func(m map[string]any) { m["rows"] = map[string]any{"sessions": 3} },
		"another chain":     func(m map[string]any) { m["audit"] = map[string]any{"entries": 4, "head": "genesis", "ok": true} },
		"no format":         func(m map[string]any) { delete(m, "format") },
		"one part too many": func(m map[string]any) { m["entries"] = m["entries"].([]map[string]any)[:1] },
		"a part is not there": func(m map[string]any) {
			m["entries"] = append(m["entries"].([]map[string]any), map[string]any{"name": "files/x", "size": 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, k, forge(t, []part{database, plain("files/a")}, change), sys.CodeInvalid, "")
		})
	}
	missing := filepath.Join(t.TempDir(), "gone.tar.gz")
	if _, err := k.Person().Infra.Restore(t.Context(), kernel.RestoreInput{Path: missing}); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("a file that is not there: got %v, want not_found", err)
	}
	if _, err := k.Person().Infra.Restore(t.Context(), kernel.RestoreInput{Path: t.TempDir()}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("a folder: got %v, want invalid", err)
	}
}

func TestLinksOfTheHomeAreNotFollowedByARestore(t *testing.T) {
	t.Parallel()
	from := lived(t)
	made := backup(t, from)
	to, outside := kerneltest.Open(t), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(to.Home, "notebook")); err != nil {
		t.Fatal(err)
	}
	r := restore(t, to, made.Path)
	left, err := os.ReadDir(outside)
	if err != nil || len(left) != 0 {
		t.Errorf("outside of the home: got %v, %v; want nothing", left, err)
	}
	if r.Files.Kept != 2 || r.Sessions.Added != 2 { // the note, and config.toml
		t.Errorf("got %+v, want the link to stay and the rest to come in", r)
	}
	if again := backup(t, to); len(again.Skipped) != 1 || again.Skipped[0] != "notebook" {
		t.Errorf("got %v, want the backup to say that it did not follow the link", again.Skipped)
	}
}

func TestFullDiskInTheMiddleOfARestoreChangesNothing(t *testing.T) {
	t.Parallel()
	from := lived(t)
	from.Ask("Look around this folder. " + strings.Repeat("And take your time. ", 20_000))
	for i := range 40 {
		writeFile(t, filepath.Join(from.Home, "notebook", fmt.Sprint(i), "note.md"), strings.Repeat("text ", 1000))
	}
	made := backup(t, from)
	to := kerneltest.Open(t)
	free := to.LimitDatabase(t, 4)
	refusedFull := func() {
		t.Helper()
		before, files := pictured(t, to), tree(t, to.Home)
		_, err := to.Person().Infra.Restore(t.Context(), kernel.RestoreInput{Path: made.Path})
		if sys.CodeOf(err) != sys.CodeDiskFull {
			t.Errorf("got %v, want disk_full", err)
		}
		if after := pictured(t, to); after != before {
			t.Error("the home has changed")
		}
		if after := tree(t, to.Home); after != files {
			t.Errorf("got files\n%s\nwant\n%s", after, files)
		}
	}
	refusedFull()
	free()
	if r := restore(t, to, made.Path); r.Sessions.Added != 3 || r.Files.Added != 41 {
		t.Errorf("after space was made: got %+v, want everything", r)
	}
}
