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
		p, err := v.known(name)
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

// Node is one note of the graph.
type Node struct {
	Path  string   `json:"path"`
	Title string   `json:"title"`
	Tags  []string `json:"tags,omitempty"`
	Links int      `json:"links"` // that lead to it, from other notes
}

// Edge says that one note links to another, at least once. From and To are
// places in [Graph.Nodes].
type Edge struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Graph is all notes, and the files they show, with their links.
type Graph struct {
	Nodes []Node `json:"nodes"` // by path
	Edges []Edge `json:"edges"`
}

// Graph returns the notes and their links. A file that is no note is a node when
// a note links to it.
func (v *Vault) Graph(ctx context.Context) (Graph, error) {
	if err := v.ready(ctx); err != nil {
		return Graph{}, err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	var files []*file
	linked := map[[2]*file]bool{}
	shown := map[*file]bool{}
	for _, f := range v.ix.files {
		if f.note && !shown[f] {
			shown[f] = true
			files = append(files, f)
		}
		for i := range f.links {
			to := v.ix.resolve(f.path, &f.links[i].Link)
			if to == nil || to == f {
				continue
			}
			linked[[2]*file{f, to}] = true
			if !shown[to] {
				shown[to] = true
				files = append(files, to)
			}
		}
	}
	slices.SortFunc(files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	at := make(map[*file]int, len(files))
	g := Graph{Nodes: make([]Node, len(files)), Edges: make([]Edge, 0, len(linked))}
	for i, f := range files {
		at[f] = i
		g.Nodes[i] = Node{Path: f.path, Title: cmpOr(f.title, f.path), Tags: f.tags}
	}
	for pair := range linked {
		e := Edge{at[pair[0]], at[pair[1]]}
		g.Nodes[e.To].Links++
		g.Edges = append(g.Edges, e)
	}
	slices.SortFunc(g.Edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return g, nil
}
