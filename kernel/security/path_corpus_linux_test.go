package security

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

type pathRow struct {
	ID, Kind, Op, Path, Expect, OS, Target, Technique string
	FS                                                []string
}

// pathTree is a folder ROOT with two neighbours that nothing may reach.
type pathTree struct{ base, abs, out string }

func newPathTree(t *testing.T, row pathRow, trees map[string][]string) pathTree {
	t.Helper()
	base := t.TempDir()
	tree := pathTree{base, filepath.Join(base, "ROOT"), filepath.Join(base, "OUT")}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(tree.abs, 0o700))
	for _, dir := range []string{"OUT/sub", "ROOT-evil"} {
		must(os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	for _, file := range []string{"OUT/secret", "ROOT-evil/secret"} {
		must(os.WriteFile(filepath.Join(base, file), []byte("SECRET"), 0o600))
	}
	var entries []string
	for _, e := range row.FS {
		if more, ok := trees[e]; ok {
			entries = append(entries, more...)
		} else {
			entries = append(entries, e)
		}
	}
	for _, e := range entries {
		e = tree.expand(e)
		name, target, isLink := strings.Cut(e, " => ")
		kind, rest, special := strings.Cut(name, ":")
		if special {
			name = rest
		}
		at := filepath.Join(tree.abs, name)
		must(os.MkdirAll(filepath.Dir(at), 0o700))
		switch {
		case special && kind == "hardlink":
			must(os.Link(target, at))
		case special && kind == "fifo":
			must(syscall.Mkfifo(at, 0o600))
		case special && kind == "sock":
			must(syscall.Mknod(at, syscall.S_IFSOCK|0o600, 0))
		case isLink:
			must(os.Symlink(target, at))
		case strings.HasSuffix(name, "/"):
			must(os.MkdirAll(at, 0o700))
		default:
			must(os.WriteFile(at, nil, 0o600))
		}
	}
	if row.Target != "" && row.Op != "mkdir" && row.Op != "link-to" && row.Op != "rename-to" && row.Op != "create" {
		at := filepath.Join(tree.abs, row.Target)
		must(os.MkdirAll(filepath.Dir(at), 0o700))
		must(os.WriteFile(at, []byte("inside"), 0o600))
	}
	return tree
}

func (p pathTree) expand(s string) string {
	return strings.NewReplacer("$ABS", p.abs, "$OUT", p.out).Replace(s)
}

// outside describes everything beside ROOT.
func (p pathTree) outside(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range []string{"OUT", "ROOT-evil"} {
		err := filepath.WalkDir(filepath.Join(p.base, dir), func(at string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			data, _ := os.ReadFile(at)
			fmt.Fprintln(&b, at, info.Mode(), info.ModTime().UnixNano(), info.Sys().(*syscall.Stat_t).Nlink, string(data))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	names, err := os.ReadDir(p.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		fmt.Fprintln(&b, n.Name())
	}
	return b.String()
}

// operate does what a row asks for through the helpers of the file tools. It
// returns what it read.
func operate(r *Root, op, p string) (string, error) {
	rel, err := r.Rel(p)
	if err != nil {
		return "", err
	}
	if err := r.root.MkdirAll("other", 0o700); err != nil && op != "open" {
		return "", err
	}
	if strings.HasSuffix(op, "-to") {
		if err := r.WriteFileAtomic("other/file", []byte("x"), 0o600); err != nil {
			return "", err
		}
	}
	switch op {
	case "open", "copy-from":
		f, _, err := r.OpenRegular(rel)
		if err != nil {
			return "", err
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		return string(data), err
	case "create", "copy-to":
		return "", r.WriteFileAtomic(rel, []byte("written"), 0o600)
	case "stat", "watch":
		_, err := r.Stat(rel)
		return "", err
	case "mkdir":
		return "", r.MkdirAll(rel, 0o700)
	case "remove":
		return "", r.Remove(rel)
	case "chmod":
		return "", r.FS().Chmod(rel, 0o640)
	case "chtimes":
		return "", r.FS().Chtimes(rel, time.Unix(1, 0), time.Unix(1, 0))
	case "rename-from":
		return "", r.FS().Rename(rel, "other/renamed")
	case "rename-to":
		return "", r.FS().Rename("other/file", rel)
	case "link-from":
		return "", r.FS().Link(rel, "other/linked")
	case "link-to":
		return "", r.FS().Link("other/file", rel)
	case "glob":
		matches, err := fs.Glob(r.FS().FS(), rel)
		if err != nil {
			return "", err
		}
		if len(matches) == 0 {
			return "", fs.ErrNotExist
		}
		for _, m := range matches {
			if _, err := r.Stat(m); err != nil {
				return "", err
			}
		}
		return "", nil
	}
	return "", fmt.Errorf("unknown operation %q", op)
}

func TestPathCorpus(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/path_fs_trees.json")
	if err != nil {
		t.Fatal(err)
	}
	var trees map[string][]string
	if err := json.Unmarshal(raw, &trees); err != nil {
		t.Fatal(err)
	}
	passed := map[string]int{}
	total := map[string]int{}
	for _, row := range readCorpus[pathRow](t, "paths.jsonl") {
		if row.Kind != "fs" && row.Kind != "string" {
			continue
		}
		total[row.Kind]++
		if t.Run(row.ID, func(t *testing.T) { gradePath(t, row, trees) }) {
			passed[row.Kind]++
		}
	}
	t.Logf("fs %d of %d, string %d of %d", passed["fs"], total["fs"], passed["string"], total["string"])
}

func gradePath(t *testing.T, row pathRow, trees map[string][]string) {
	t.Helper()
	tree := newPathTree(t, row, trees)
	r, err := OpenRoot(tree.abs)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := tree.outside(t)
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		text, err := operate(r, row.Op, tree.expand(row.Path))
		done <- outcome{text, err}
	}()
	var got outcome
	select {
	case got = <-done:
	case <-time.After(time.Second):
		t.Fatalf("%s %q: it waits", row.Op, row.Path)
	}
	if strings.Contains(got.text, "SECRET") || strings.Contains(got.text, "root:") {
		t.Errorf("%s %q read a file outside", row.Op, row.Path)
	}
	if after := tree.outside(t); after != before {
		t.Errorf("%s %q changed something outside:\n%s\nwas\n%s", row.Op, row.Path, after, before)
	}
	switch row.Expect {
	case "deny", "error":
		if got.err == nil {
			t.Errorf("%s %q (%s): got no error, want one", row.Op, row.Path, row.Technique)
		}
	case "allow":
		if got.err != nil {
			t.Errorf("%s %q (%s): got %v, want it to work", row.Op, row.Path, row.Technique, got.err)
		}
	}
}

func TestPathPolicyCorpus(t *testing.T) {
	t.Parallel()
	passed, total := 0, 0
	for _, row := range readCorpus[pathRow](t, "paths.jsonl") {
		if row.Kind != "policy" {
			continue
		}
		total++
		v := Classify(row.Path, "/home/person/project", "/home/person", "/home/person/.oxios")
		got := v.Write
		if row.Op == "read" {
			got = v.Read
		}
		want := map[string]Tier{"deny": TierRefuse, "ask": TierAsk, "allow": TierFree}[row.Expect]
		if got != want {
			t.Errorf("%s %q: got tier %d (%s), want %d", row.Op, row.Path, got, v.Reason, want)
			continue
		}
		passed++
	}
	t.Logf("policy %d of %d", passed, total)
}

func TestPathRaces(t *testing.T) {
	t.Parallel()
	for _, row := range readCorpus[pathRow](t, "paths.jsonl") {
		if row.Kind != "race" {
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			t.Parallel()
			racePath(t, row)
		})
	}
}

// racePath swaps a part of the path with a link to the outside again and again
// while the operation runs.
func racePath(t *testing.T, row pathRow) {
	t.Helper()
	tree := newPathTree(t, row, nil)
	if err := os.MkdirAll(filepath.Join(tree.out, "b/c/d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"f", "b/c/d/f"} {
		if err := os.WriteFile(filepath.Join(tree.out, f), []byte("SECRET"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := OpenRoot(tree.abs)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := tree.outside(t)
	swapped, target := filepath.Join(tree.abs, "f"), filepath.Join(tree.out, "secret")
	if row.Path != "f" {
		swapped, target = filepath.Join(tree.abs, "a"), tree.out
	}
	link := filepath.Join(tree.base, "ROOT", "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		aside := filepath.Join(tree.abs, "aside")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(swapped, aside)
			_ = os.Rename(link, swapped)
			_ = os.Rename(swapped, link)
			_ = os.Rename(aside, swapped)
		}
	}()
	for range 800 {
		text, _ := operate(r, row.Op, row.Path)
		if strings.Contains(text, "SECRET") {
			t.Errorf("%s %q read a file outside", row.Op, row.Path)
			break
		}
	}
	close(stop)
	<-stopped
	if after := tree.outside(t); after != before {
		t.Errorf("%s %q changed something outside:\n%s\nwas\n%s", row.Op, row.Path, after, before)
	}
}
