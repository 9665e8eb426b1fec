package kernel

import (
	"context"

	"oxios/kernel/event"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// SpaceMerge says what a merge of two spaces moves, or has moved.
type SpaceMerge struct {
	ID       string `json:"id"` // to undo it; "" in a preview
	From     string `json:"from"`
	FromName string `json:"from_name"`
	Into     string `json:"into"`
	IntoName string `json:"into_name"`
	Sessions int    `json:"sessions"`
	Memories int    `json:"memories"`
	Under    int    `json:"under"` // facts about which the other space has one: that one holds, and these are its history
}

// MergePreview says what a merge would move. It changes nothing.
func (a *SpaceAPI) MergePreview(ctx context.Context, from, into string) (SpaceMerge, error) {
	return guard(ctx, a.caller, action{call: "space.mergePreview", resource: "spaces"}, func(ctx context.Context) (SpaceMerge, error) {
		s, t, err := a.k.mergePair(ctx, from, into)
		if err != nil {
			return SpaceMerge{}, err
		}
		m := SpaceMerge{From: s.ID, FromName: s.Name, Into: t.ID, IntoName: t.Name}
		return m, a.k.store.Read(ctx, func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT (SELECT count(*) FROM sessions WHERE space = ?1), (SELECT count(*) FROM memories WHERE space = ?1),
				(SELECT count(*) FROM memories m WHERE m.space = ?1 AND m.key <> '' AND m.replaced_by = '' AND EXISTS (SELECT 1 FROM memories o WHERE o.space = ?2 AND o.key = m.key AND o.replaced_by = ''))`,
				s.ID, t.ID).Scan(&m.Sessions, &m.Memories, &m.Under)
		})
	})
}

// mergePair finds two spaces that can be merged.
func (k *Kernel) mergePair(ctx context.Context, from, into string) (s, t SpaceInfo, err error) {
	if s, err = k.findSpace(ctx, from); err != nil {
		return s, t, err
	}
	if t, err = k.findSpace(ctx, into); err != nil {
		return s, t, err
	}
	switch {
	case s.ID == "" || t.ID == "":
		err = sys.Errorf(sys.CodeInvalid, "The default space cannot be merged. Nothing was changed.").WithHint("Move conversations instead: `oxios spaces move`.")
	case s.ID == t.ID:
		err = sys.Errorf(sys.CodeInvalid, "A space cannot be merged into itself. Nothing was changed.")
	default:
		_, err = k.openSpace(ctx, t.ID)
	}
	return s, t, err
}

// Merge moves all conversations and memories of a space into another, which
// gets its words and paths, and archives it. It can be undone.
func (a *SpaceAPI) Merge(ctx context.Context, from, into string) (SpaceMerge, error) {
	return guard(ctx, a.caller, action{call: "space.merge", resource: "space:" + from, meta: map[string]any{"into": into}}, func(ctx context.Context) (SpaceMerge, error) {
		return a.k.mergeSpaces(ctx, from, into)
	})
}

func (k *Kernel) mergeSpaces(ctx context.Context, from, into string) (SpaceMerge, error) {
	s, t, err := k.mergePair(ctx, from, into)
	if err != nil {
		return SpaceMerge{}, err
	}
	var m store.SpaceMerge
	err = k.store.Write(ctx, func(tx *store.Tx) error {
		m, err = k.store.MergeSpaces(tx, s.ID, t.ID)
		k.memories.Moved(tx)
		return err
	})
	if err != nil {
		return SpaceMerge{}, err
	}
	var ids []string
	for _, one := range m.Sessions {
		ids = append(ids, one.ID)
	}
	k.movedTo(ctx, t.ID, ids, []string{s.ID, t.ID})
	did := event.ChangeOf(event.Merged, s.ID, s.ID)
	did.Into = t.ID
	k.publishSpaces(did)
	if m.Active {
		k.publishActive(t.ID)
	}
	return mergeView(m, s, t), nil
}

func mergeView(m store.SpaceMerge, s, t SpaceInfo) SpaceMerge {
	out := SpaceMerge{ID: m.ID, From: s.ID, FromName: s.Name, Into: t.ID, IntoName: t.Name, Sessions: len(m.Sessions), Memories: len(m.Memories)}
	for _, one := range m.Memories {
		if one.Under != "" {
			out.Under++
		}
	}
	return out
}

// Unmerge undoes a merge, by its id or by the space that was merged away: what
// was moved goes back, as far as it is still where the merge put it, and the space is
// restored, as the active one where the merge took that from it. What came into the
// other space since stays there.
func (a *SpaceAPI) Unmerge(ctx context.Context, id string) (SpaceMerge, error) {
	return guard(ctx, a.caller, action{call: "space.unmerge", resource: "space:" + id}, func(ctx context.Context) (SpaceMerge, error) {
		k := a.k
		if s, err := k.findSpace(ctx, id); err == nil && s.ID != "" {
			id = s.ID
		}
		var m store.SpaceMerge
		var s, t SpaceInfo
		var back []string
		err := k.store.Write(ctx, func(tx *store.Tx) (err error) {
			var ok bool
			if m, ok, err = k.store.OpenMerge(tx, id); err != nil {
				return err
			}
			if !ok {
				return sys.Errorf(sys.CodeNotFound, "There is no merge %q that could be undone. Nothing was changed.", id).WithHint("Name the space that was merged away.")
			}
			if s, err = k.store.Space(tx, m.Source); err != nil {
				return err
			}
			if t, err = k.store.Space(tx, m.Target); err != nil {
				return err
			}
			k.memories.Moved(tx)
			back, err = k.store.UnmergeSpaces(tx, m)
			return err
		})
		if err != nil {
			return SpaceMerge{}, err
		}
		k.movedTo(ctx, m.Source, back, []string{m.Source, m.Target})
		k.publishSpaces(event.ChangeOf(event.Unmerged, m.Source, m.Source))
		if m.Active && t.Active {
			k.publishActive(m.Source)
		}
		out := mergeView(m, s, t)
		out.Sessions = len(back)
		return out, nil
	})
}
