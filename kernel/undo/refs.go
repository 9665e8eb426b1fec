package undo

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kept is one line of what a run did, as its commit tells it.
type Kept struct {
	Path   string `json:"path"`
	Before string `json:"before"` // a [State] in words
	After  string `json:"after"`
}

// Keep makes a commit of what a run did, which refs/oxios/RUN names: its parent has
// how things were before, itself how they were left. One that is there already
// comes before them. In each, paths.json lists the
// paths, and the content stands under its id: names of files are any bytes, those of
// git are not.
func (o *Objects) Keep(run string, list []Kept, at time.Time) error {
	parent := ""
	if raw, err := os.ReadFile(o.ref(run)); err == nil {
		parent = strings.TrimSpace(string(raw))
	}
	for _, of := range []struct {
		say  string
		pick func(Kept) string
	}{
		{"before", func(k Kept) string { return k.Before }},
		{"after", func(k Kept) string { return k.After }},
	} {
		tree, err := o.tree(list, of.pick)
		if err != nil {
			return err
		}
		who := fmt.Sprintf("Oxios <oxios@localhost> %d +0000", at.Unix())
		text := "tree " + tree + "\n"
		if parent != "" {
			text += "parent " + parent + "\n"
		}
		text += "author " + who + "\ncommitter " + who + "\n\n" + of.say + " " + run + "\n"
		if parent, err = o.put(kindCommit, []byte(text)); err != nil {
			return err
		}
	}
	return o.writeDurable(o.ref(run), []byte(parent+"\n"))
}

func (o *Objects) tree(list []Kept, pick func(Kept) string) (string, error) {
	raw, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return "", err
	}
	paths, err := o.Put(raw)
	if err != nil {
		return "", err
	}
	names := map[string]string{"paths.json": paths}
	for _, k := range list {
		s, err := Parse(pick(k))
		if err != nil {
			return "", err
		}
		if s.Content == "" {
			continue
		}
		if has, err := o.Has(s.Content); err != nil {
			return "", err
		} else if has {
			names[s.Content] = s.Content
		}
	}
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	var tree []byte
	for _, n := range sorted {
		id, err := hex.DecodeString(names[n])
		if err != nil {
			return "", err
		}
		tree = append(append(append(tree, "100644 "+n...), 0), id...)
	}
	return o.put(kindTree, tree)
}

func (o *Objects) ref(run string) string {
	return filepath.Join(o.dir, "refs", "oxios", strings.ReplaceAll(run, "/", "_"))
}

// Named reports whether a run has a commit.
func (o *Objects) Named(run string) bool {
	_, err := os.Lstat(o.ref(run))
	return err == nil
}

// Runs lists the runs that have a commit.
func (o *Objects) Runs() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(o.dir, "refs", "oxios"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// Forget takes the commit of a run away. Its content goes with [Objects.Clear].
func (o *Objects) Forget(run string) error {
	err := os.Remove(o.ref(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Clear removes the content that wanted does not name, and the commits that no run
// has any more. Nobody may put content meanwhile: the caller holds Clearing.
func (o *Objects) Clear(wanted map[string]bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := os.Stat(o.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := o.ready(); err != nil {
		return err
	}
	runs, err := o.Runs()
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for id := range wanted {
		keep[id] = true
	}
	for _, r := range runs {
		if err := o.reached(r, keep); err != nil {
			return err
		}
	}
	if err := o.clearPacks(keep); err != nil {
		return err
	}
	folders, err := os.ReadDir(filepath.Join(o.dir, "objects"))
	if err != nil {
		return err
	}
	for _, d := range folders {
		if !d.IsDir() || len(d.Name()) != 2 {
			continue
		}
		at := filepath.Join(o.dir, "objects", d.Name())
		files, err := os.ReadDir(at)
		if err != nil {
			return err
		}
		for _, f := range files {
			if keep[d.Name()+f.Name()] {
				continue
			}
			if err := os.Remove(filepath.Join(at, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// reached adds what the commit of a run names.
func (o *Objects) reached(run string, keep map[string]bool) error {
	raw, err := os.ReadFile(o.ref(run))
	if err != nil {
		return err
	}
	for id := strings.TrimSpace(string(raw)); id != ""; {
		keep[id] = true
		text, err := o.readLoose(id)
		if err != nil {
			return fmt.Errorf("read the commit of run %s: %w", run, err)
		}
		id = ""
		for line := range strings.Lines(string(text)) {
			word, what, ok := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case !ok || word == "author":
			case word == "parent":
				id = what
			case word == "tree":
				keep[what] = true
				tree, err := o.readLoose(what)
				if err != nil {
					return fmt.Errorf("read the tree of run %s: %w", run, err)
				}
				for len(tree) > 0 {
					end := slices.Index(tree, 0)
					if end < 0 || len(tree) < end+21 {
						return fmt.Errorf("the tree of run %s is damaged", run)
					}
					keep[hex.EncodeToString(tree[end+1:end+21])] = true
					tree = tree[end+21:]
				}
			}
		}
	}
	return nil
}
