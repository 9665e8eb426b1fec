package kernel

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/store"
	"oxios/kernel/undo"
)

// ChangeTotal says to how many files a run did the same.
type ChangeTotal struct {
	Kind    string `json:"kind"` // created, modified or deleted
	Files   int    `json:"files"`
	Folders int    `json:"folders"` // in which these are
}

// TotalsOf counts changes by their kind.
func TotalsOf(changes []ChangeSummary) []ChangeTotal {
	kinds := map[string]string{}
	for _, c := range changes {
		kinds[filepath.ToSlash(c.Path)] = c.Kind
	}
	return totals(kinds)
}

func totals(kinds map[string]string) (out []ChangeTotal) {
	folders := map[[2]string]bool{}
	for p, kind := range kinds {
		i := slices.IndexFunc(out, func(t ChangeTotal) bool { return t.Kind == kind })
		if i < 0 {
			out = append(out, ChangeTotal{Kind: kind})
			i = len(out) - 1
		}
		out[i].Files++
		if at := [2]string{kind, path.Dir(p)}; !folders[at] {
			folders[at] = true
			out[i].Folders++
		}
	}
	slices.SortFunc(out, func(a, b ChangeTotal) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// totals counts all that a run changed, where its list of changes may not have it
// all: of one command not more than [maxShownOf] are listed.
func (k *Kernel) totals(ctx context.Context, runID string, listed int) ([]ChangeTotal, error) {
	if listed < maxShownOf {
		return nil, nil
	}
	marks, err := k.store.FileMarks(ctx, runID)
	if err != nil {
		return nil, err
	}
	first, last := map[string]string{}, map[string]string{}
	for _, m := range marks {
		if _, ok := first[m.Path]; !ok {
			first[m.Path] = m.Before
		}
		last[m.Path] = m.After
	}
	kinds := map[string]string{}
	for p := range last {
		was, err := undo.Parse(first[p])
		if err != nil {
			return nil, err
		}
		is, err := undo.Parse(last[p])
		if err != nil {
			return nil, err
		}
		switch {
		case was == is, was.Kind == undo.Folder, is.Kind == undo.Folder:
		case was.Kind == undo.Absent:
			kinds[p] = store.ChangeCreated
		case is.Kind == undo.Absent:
			kinds[p] = store.ChangeDeleted
		default:
			kinds[p] = store.ChangeModified
		}
	}
	return totals(kinds), nil
}
