package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/memory"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// MemoryImport is one line of an import.
type MemoryImport struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Time    string `json:"time"`    // RFC 3339; "" is now
	Type    string `json:"type"`    // fact by default
	Space   string `json:"space"`   // a name; one that is missing is made; "" is the default one
	Session string `json:"session"` // what was said in one is found together
	Key     string `json:"key,omitempty"`
}

// MemoryImported says what an import did.
type MemoryImported struct {
	Added   int      `json:"added"`
	Changed int      `json:"changed"`
	Spaces  []string `json:"spaces"` // that were made
}

// MemoryImportPlan says what an import would do.
type MemoryImportPlan struct {
	Added   int           `json:"added"`
	Changed int           `json:"changed"` // another text or kind is there under that id
	Same    int           `json:"same"`    // is there already, as it comes
	Spaces  []string      `json:"spaces"`  // that would be made
	Wrong   []MemoryFault `json:"wrong"`   // while there is one, nothing is imported
}

// MemoryFault is what is wrong with one of the memories that would come in.
type MemoryFault struct {
	At   int       `json:"at"` // its place, from 1 on
	Text sys.Words `json:"text"`
}

// Import keeps what another program, or another Oxios, remembered: all of it or
// nothing. A memory whose id is there already is changed to what came.
func (a *MemoryAPI) Import(ctx context.Context, all []MemoryImport) (MemoryImported, error) {
	return guard(ctx, a.caller, action{call: "memory.import", resource: "memory", meta: map[string]any{"count": len(all)}}, func(ctx context.Context) (MemoryImported, error) {
		out := MemoryImported{Spaces: []string{}}
		spaces := map[string]string{"": ""}
		news := make([]memory.New, len(all))
		for i, m := range all {
			n, err := m.news()
			if err != nil {
				return out, sys.Errorf(sys.CodeInvalid, "Memory %d: %s Nothing was imported.", i+1, sys.TextOf(err)).WithCause(err)
			}
			id, ok := spaces[m.Space]
			if !ok {
				if id, ok, err = a.k.spaceNamed(ctx, m.Space); err != nil {
					return out, err
				}
				if !ok {
					out.Spaces = append(out.Spaces, m.Space)
				}
				spaces[m.Space] = id
			}
			n.Space = id
			news[i] = n
		}
		var err error
		if out.Added, err = a.k.memories.Import(ctx, news); err != nil {
			return out, err
		}
		out.Changed = len(all) - out.Added
		a.k.publishMemory(a.scope, event.Change{Did: event.Imported, IDs: []string{}, Count: len(all)})
		return out, nil
	})
}

// ImportPreview says what [MemoryAPI.Import] would do now. It changes nothing.
func (a *MemoryAPI) ImportPreview(ctx context.Context, all []MemoryImport) (MemoryImportPlan, error) {
	return guard(ctx, a.caller, action{call: "memory.importPreview", resource: "memory"}, func(ctx context.Context) (MemoryImportPlan, error) {
		out := MemoryImportPlan{Spaces: []string{}, Wrong: []MemoryFault{}}
		for i, m := range all {
			n, err := m.news()
			if err == nil {
				err = a.k.memories.Check(&n)
			}
			there := true
			if err == nil && !isDefault(m.Space) {
				space := store.Space{Name: m.Space}
				if err = a.k.checkSpace(&space); err == nil {
					err = a.k.store.Read(ctx, func(tx *store.Tx) (err error) {
						_, there, err = a.k.store.SpaceNamed(tx, space.Name)
						return err
					})
				}
			}
			if err != nil {
				if ctx.Err() != nil {
					return out, ctx.Err()
				}
				out.Wrong = append(out.Wrong, MemoryFault{i + 1, sys.TextOf(err)})
				continue
			}
			if !there && !slices.Contains(out.Spaces, m.Space) {
				out.Spaces = append(out.Spaces, m.Space)
			}
			old, err := a.k.memories.Get(ctx, n.ID)
			switch {
			case sys.CodeOf(err) == sys.CodeNotFound:
				out.Added++
			case err != nil:
				return out, err
			case old.Text == n.Text && old.Kind == n.Kind && old.Key == n.Key:
				out.Same++
			default:
				out.Changed++
			}
		}
		return out, nil
	})
}

// news is a line as what is to be kept, but for its space.
func (m MemoryImport) news() (memory.New, error) {
	n := memory.New{ID: m.ID, Kind: m.Type, Text: m.Text, Key: m.Key, Source: memory.FromImport, Thread: m.Session}
	if m.Time == "" {
		return n, nil
	}
	at, err := time.Parse(time.RFC3339, m.Time)
	if err != nil {
		return n, sys.Errorf(sys.CodeInvalid, "The time %q is none of RFC 3339; write it like 2026-11-23T09:00:00Z.", m.Time)
	}
	n.SaidAt = at
	return n, nil
}

// SaveExport writes what is remembered to a file, a line each as Import reads them,
// which only the person may read. path must be absolute. A file that is there is
// replaced only when replace says so.
func (a *MemoryAPI) SaveExport(ctx context.Context, path string, replace bool) (SavedFile, error) {
	return guard(ctx, a.caller, action{call: "memory.saveExport", resource: "memory", paths: namedPaths(path), meta: map[string]any{"path": path}}, func(ctx context.Context) (SavedFile, error) {
		if !filepath.IsAbs(path) {
			return SavedFile{}, sys.Errorf(sys.CodeInvalid, "%q is not an absolute path. Nothing was written.", path)
		}
		if _, err := os.Lstat(path); !replace && !errors.Is(err, fs.ErrNotExist) {
			return SavedFile{}, sys.Errorf(sys.CodeConflict, "%s is there already. It was not overwritten.", path).WithHint("Choose another name.")
		}
		var out bytes.Buffer
		part := MemoryPart{}
		for !part.Done {
			var err error
			if part, err = a.k.exportMemories(ctx, part.Next); err != nil {
				return SavedFile{}, err
			}
			out.WriteString(part.Text)
		}
		if err := security.WriteFileAtomic(path, out.Bytes(), 0o600); err != nil {
			return SavedFile{}, notWritten(err)
		}
		return SavedFile{Path: path, Bytes: int64(out.Len())}, nil
	})
}

// MemoryPart is a piece of what is remembered, as Import reads it.
type MemoryPart struct {
	Text string `json:"text"` // whole lines
	Next string `json:"next"` // the memory after which it goes on
	Done bool   `json:"done"`
}

// Export returns what is remembered, a line each as Import reads them: what
// follows the memory after, "" begins.
func (a *MemoryAPI) Export(ctx context.Context, after string) (MemoryPart, error) {
	return guard(ctx, a.caller, action{call: "memory.export", resource: "memory"}, func(ctx context.Context) (MemoryPart, error) {
		return a.k.exportMemories(ctx, after)
	})
}

// exportedAtOnce is how many memories one piece holds.
const exportedAtOnce = 1000

func (k *Kernel) exportMemories(ctx context.Context, after string) (MemoryPart, error) {
	part := MemoryPart{}
	page, err := k.memories.List(ctx, memory.Query{Every: true, Before: after, Limit: exportedAtOnce})
	if err != nil {
		return part, err
	}
	spaces, err := k.store.Spaces(ctx)
	if err != nil {
		return part, err
	}
	names := map[string]string{}
	for _, s := range spaces {
		names[s.ID] = s.Name
	}
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	for _, m := range page {
		line := MemoryImport{ID: m.ID, Text: m.Text, Time: m.SaidAt.UTC().Format("2006-01-02T15:04:05.999Z07:00"), Type: m.Kind, Space: names[m.Space], Session: m.Thread, Key: m.Key}
		if err := lines.Encode(line); err != nil {
			return part, err
		}
		part.Next = m.ID
	}
	part.Text, part.Done = out.String(), len(page) < exportedAtOnce
	return part, nil
}
