package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Backlink is a place that links to a note, or names it.
type Backlink struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Line  int    `json:"line"` // from 1
	Text  string `json:"text"` // the line, of at most about 200 bytes
}

// Backlinks returns the links that lead to a file, by path and line. The result
// belongs to the vault: do not change it.
func (v *Vault) Backlinks(ctx context.Context, name string) ([]Backlink, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	v.mu.RLock()
	f := v.ix.files[name]
	if f == nil {
		v.mu.RUnlock()
		p, err := v.named(ctx, name)
		if err != nil {
			return nil, err
		}
		v.mu.RLock()
		f = v.ix.files[p]
	}
	if f == nil { // it went in this moment
		v.mu.RUnlock()
		return nil, errNoNote(name)
	}
	back, ok := v.ix.back[f.key]
	v.mu.RUnlock()
	if !ok {
		v.mu.Lock()
		back = v.ix.backlinks(f.key)
		v.mu.Unlock()
	}
	return back[f.path], nil
}

// known returns the path of a file that is in the index.
func (v *Vault) known(name string) (string, error) {
	p, err := clean(name)
	if err != nil {
		return "", err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.ix.files[p] != nil {
		return p, nil
	}
	if v.ix.files[p+".md"] != nil {
		return p + ".md", nil
	}
	return "", errNoNote(p)
}

// named returns the path of a file by its path, or by a name that a link would
// find it by.
func (v *Vault) named(ctx context.Context, name string) (string, error) {
	p, err := v.known(name)
	if err != nil {
		if to, rerr := v.Resolve(ctx, "", name); rerr == nil {
			return to, nil
		}
	}
	return p, err
}

// backlinks groups all links of one name by where they lead, and keeps the answer
// until a file of that name, or a note with such a link, changes.
func (ix *index) backlinks(key string) map[string][]Backlink {
	if back, ok := ix.back[key]; ok {
		return back
	}
	back := map[string][]Backlink{}
	for _, f := range ix.incoming[key] {
		for i := range f.links {
			l := &f.links[i]
			if l.key != key {
				continue
			}
			if to := ix.resolve(f.path, &l.Link); to != nil && to != f {
				back[to.path] = append(back[to.path], Backlink{f.path, f.title, l.Line, l.text})
			}
		}
	}
	for p, list := range back {
		slices.SortFunc(list, func(a, b Backlink) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
		})
		back[p] = slices.Compact(list) // two links in one line show it once
	}
	ix.back[key] = back
	return back
}
