package knowledge

import (
	"context"
	"path"
	"strings"
)

// lookup finds files by name: in the index, or in the index as a change will
// leave it, where its own lists stand in for those of the index.
type lookup struct {
	ix     *index
	byKey  map[string][]*file
	folded map[string][]*file
}

func (l lookup) named(key string) []*file {
	if files, ok := l.byKey[key]; ok {
		return files
	}
	return l.ix.byKey[key]
}

func (l lookup) at(folded string) []*file {
	if files, ok := l.folded[folded]; ok {
		return files
	}
	return l.ix.folded[folded]
}

// resolve returns where a link in the note at from leads, nil when nowhere.
func (ix *index) resolve(from string, link *Link) *file {
	to, _ := lookup{ix: ix}.resolve(from, link)
	return to
}

// resolve returns where a link leads, as Obsidian does: the path as written,
// else a file of that name, in the note's own folder before one nearer to the
// top. many reports that the name alone does not decide.
func (l lookup) resolve(from string, link *Link) (to *file, many bool) {
	target := link.Target
	dotted := strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
	if dotted || link.Markdown && !strings.HasPrefix(target, "/") {
		if p := path.Join(parent(from), target); p != ".." && !strings.HasPrefix(p, "../") {
			if to, many = l.exact(p); to != nil {
				return to, many
			}
		}
		if dotted {
			return nil, false
		}
	}
	rooted := strings.HasPrefix(target, "/")
	target = strings.TrimPrefix(target, "/")
	if to, many = l.exact(target); to != nil || rooted && strings.Contains(target, "/") {
		return to, many
	}
	return l.nearest(from, target, link.key)
}

// exact finds a file by its whole path, without case.
func (l lookup) exact(p string) (to *file, many bool) {
	found := l.at(fold(stem(p)))
	for _, f := range found {
		if f.path == p || f.note && f.path == p+".md" {
			return f, false
		}
	}
	for _, f := range found {
		if to == nil || f.note && !to.note || f.note == to.note && f.path < to.path {
			to = f
		}
	}
	return to, len(found) > 1
}

// nearest finds a file by the end of its path.
func (l lookup) nearest(from, target, key string) (to *file, many bool) {
	folder := parent(from)
	end := ""
	if strings.Contains(target, "/") {
		end = "/" + fold(stem(target))
	}
	for _, f := range l.named(key) {
		if end != "" && !strings.HasSuffix("/"+fold(stem(f.path)), end) {
			continue
		}
		if to == nil {
			to = f
			continue
		}
		many = true
		if nearer(f, to, folder) {
			to = f
		}
	}
	return to, many
}

func nearer(a, b *file, folder string) bool {
	if inA, inB := parent(a.path) == folder, parent(b.path) == folder; inA != inB {
		return inA
	}
	if len(a.path) != len(b.path) {
		return len(a.path) < len(b.path)
	}
	return a.path < b.path
}

// Resolve returns the path that a link [[name]] in the note at from would lead
// to; from may be "". It fails with CodeNotFound when it leads nowhere.
func (v *Vault) Resolve(ctx context.Context, from, name string) (string, error) {
	if err := v.ready(ctx); err != nil {
		return "", err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	if to := v.ix.resolve(from, &Link{Target: name, key: keyOf(name)}); to != nil {
		return to.path, nil
	}
	return "", errNoNote(name)
}
