package knowledge

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Entry is a folder, a note or another file.
type Entry struct {
	Path     string    `json:"path"`
	Name     string    `json:"name"`            // without folder and .md
	Kind     string    `json:"kind"`            // "folder", "note" or "file"
	Title    string    `json:"title,omitempty"` // of a note
	Size     int64     `json:"size,omitempty"`  // bytes
	Modified time.Time `json:"modified,omitzero"`
	Large    bool      `json:"large,omitempty"` // a note over 16 MB: neither read nor searched
}

// Tree returns all folders and files, each folder before what it holds, folders
// before files, by name without case.
func (v *Vault) Tree(ctx context.Context) ([]Entry, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	v.mu.RLock()
	out := make([]Entry, 0, len(v.ix.files)+len(v.ix.folders))
	for dir := range v.ix.folders {
		if dir != "" {
			p := norm.NFC.String(dir)
			out = append(out, Entry{Path: p, Name: path.Base(p), Kind: "folder"})
		}
	}
	for _, f := range v.ix.files {
		out = append(out, f.entry())
	}
	v.mu.RUnlock()
	// Each part of a path sorts folders first: a mark before every part that is one.
	keys := make(map[string]string, len(out))
	key := func(e Entry) string {
		k, ok := keys[e.Path]
		if !ok {
			k = "\x01" + strings.ReplaceAll(fold(e.Path), "/", "\x00\x01")
			if e.Kind != "folder" {
				i := strings.LastIndexByte(k, '\x01')
				k = k[:i] + "\x02" + k[i+1:]
			}
			keys[e.Path] = k
		}
		return k
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Or(strings.Compare(key(a), key(b)), strings.Compare(a.Path, b.Path)) })
	return slices.CompactFunc(out, func(a, b Entry) bool { return a.Path == b.Path && a.Kind == b.Kind }), nil
}

func (f *file) entry() Entry {
	e := Entry{Path: f.path, Name: path.Base(f.path), Kind: "file", Size: f.size, Modified: time.Unix(0, f.mtime), Large: f.large}
	if f.note {
		e.Kind, e.Name, e.Title = "note", stem(e.Name), f.title
	}
	return e
}

// Entries returns the notes and files of these paths that are there, in their
// order.
func (v *Vault) Entries(ctx context.Context, paths []string) ([]Entry, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := []Entry{}
	for _, p := range paths {
		if f := v.ix.files[p]; f != nil {
			out = append(out, f.entry())
		}
	}
	return out, nil
}

// TagCount is one tag with the number of notes that carry it, or one below it.
type TagCount struct {
	Tag   string `json:"tag"` // without #, as it is written most often
	Count int    `json:"count"`
}

// Tags returns all tags, the most used first. A note with project/oxios counts
// for project too.
func (v *Vault) Tags(ctx context.Context) ([]TagCount, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	count := map[string]int{}
	forms := map[string]map[string]int{}
	for _, f := range v.ix.files {
		seen := map[string]bool{}
		for _, tag := range f.tags {
			for i := 0; i <= len(tag); i++ {
				if i < len(tag) && tag[i] != '/' {
					continue
				}
				key := fold(tag[:i])
				if i == 0 || seen[key] {
					continue
				}
				seen[key] = true
				count[key]++
				if forms[key] == nil {
					forms[key] = map[string]int{}
				}
				forms[key][tag[:i]]++
			}
		}
	}
	out := make([]TagCount, 0, len(count))
	for key, n := range count {
		best := ""
		for form, times := range forms[key] {
			if best == "" || times > forms[key][best] || times == forms[key][best] && form < best {
				best = form
			}
		}
		out = append(out, TagCount{best, n})
	}
	slices.SortFunc(out, func(a, b TagCount) int { return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Tag, b.Tag)) })
	return out, nil
}

// TaskFilter chooses tasks. Its zero value chooses all.
type TaskFilter struct {
	Open bool   `json:"open,omitempty"` // only those not done
	Done bool   `json:"done,omitempty"` // only those done
	Path string `json:"path,omitempty"` // in this note, or below this folder
	Tag  string `json:"tag,omitempty"`  // with this tag on the task or on its note
	Text string `json:"text,omitempty"` // that hold this, without case
	Due  string `json:"due,omitempty"`  // due on this day (YYYY-MM-DD) or earlier
}

// Tasks returns the tasks that f chooses: those with a day first, then by path
// and line.
func (v *Vault) Tasks(ctx context.Context, f TaskFilter) ([]Task, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	text, tag := fold(f.Text), fold(strings.TrimPrefix(f.Tag, "#"))
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []Task
	for _, file := range v.ix.files {
		if len(file.tasks) == 0 || f.Path != "" && file.path != f.Path && file.path != f.Path+".md" && !strings.HasPrefix(file.path, f.Path+"/") {
			continue
		}
		noteHas := tag == "" || hasFolded(file.lowTags, tag)
		for _, t := range file.tasks {
			if f.Open && t.Done || f.Done && !t.Done || f.Due != "" && (t.Due == "" || t.Due > f.Due) {
				continue
			}
			if !noteHas && !hasTag(t.Tags, tag) || text != "" && !strings.Contains(fold(t.Text), text) {
				continue
			}
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b Task) int {
		return cmp.Or(strings.Compare(cmpOr(a.Due, "~"), cmpOr(b.Due, "~")), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return out, nil
}

// hasTag reports whether a folded tag, or one below it, is among tags.
func hasTag(tags []string, tag string) bool {
	low := make([]string, len(tags))
	for i, t := range tags {
		low[i] = fold(t)
	}
	return hasFolded(low, tag)
}

// hasFolded is [hasTag] for tags that are folded already.
func hasFolded(tags []string, tag string) bool {
	for _, t := range tags {
		if t == tag || strings.HasPrefix(t, tag) && t[len(tag)] == '/' {
			return true
		}
	}
	return false
}
