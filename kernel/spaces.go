package kernel

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// SpaceInfo is a context of work.
type SpaceInfo = store.Space

// SpaceInput is what a new space is made from. Only the name is needed.
type SpaceInput struct {
	Name         string   `json:"name"`
	Emoji        string   `json:"emoji,omitempty"`
	Folder       string   `json:"folder,omitempty"` // that its conversations work in; "" for its own in the home
	Words        []string `json:"words,omitempty"`  // tags and key words that tell messages of it
	Paths        []string `json:"paths,omitempty"`  // folders that belong to it
	Instructions string   `json:"instructions,omitempty"`
	Provider     string   `json:"provider,omitempty"`
	Model        string   `json:"model,omitempty"`
	Mode         string   `json:"mode,omitempty"`
	Role         string   `json:"role,omitempty"`
	Shared       bool     `json:"shared,omitempty"` // what is remembered in it may be given to the agents of other spaces
}

// SpacePatch changes what is not null.
type SpacePatch struct {
	Name         *string   `json:"name,omitempty"`
	Emoji        *string   `json:"emoji,omitempty"`
	Folder       *string   `json:"folder,omitempty"`
	Words        *[]string `json:"words,omitempty"`
	Paths        *[]string `json:"paths,omitempty"`
	Instructions *string   `json:"instructions,omitempty"`
	Provider     *string   `json:"provider,omitempty"`
	Model        *string   `json:"model,omitempty"`
	Mode         *string   `json:"mode,omitempty"`
	Role         *string   `json:"role,omitempty"`
	Shared       *bool     `json:"shared,omitempty"`
}

// SpaceView is a space with what follows from it.
type SpaceView struct {
	Space   SpaceInfo `json:"space"`
	Tag     string    `json:"tag"`     // "[emoji name]"; "" for the default one
	Folder  string    `json:"folder"`  // that its new conversations work in, with ~ for the home
	Gone    bool      `json:"gone"`    // that folder is not there
	Learned []string  `json:"learned"` // the words that corrections taught, those that say most first
	MergeID string    `json:"merge_id,omitempty"`
}

// List returns all spaces but the default one, archived ones too, the one that
// was used last first. An agent sees the instructions of its own alone.
func (a *SpaceAPI) List(ctx context.Context) ([]SpaceInfo, error) {
	return guard(ctx, a.caller, action{call: "space.list", resource: "spaces"}, func(ctx context.Context) ([]SpaceInfo, error) {
		all, err := a.k.store.Spaces(ctx)
		for i := range all {
			all[i] = a.seen(all[i])
		}
		return all, err
	})
}

func (a *SpaceAPI) seen(s SpaceInfo) SpaceInfo {
	if a.who.Kind == sys.KindAgent && s.ID != a.k.runs.of(a.scope.runID).scope.space {
		s.Instructions = ""
	}
	return s
}

// Get returns a space by its id or its name; "" and "default" are the default
// one.
func (a *SpaceAPI) Get(ctx context.Context, id string) (SpaceView, error) {
	return guard(ctx, a.caller, action{call: "space.get", resource: "space:" + id}, func(ctx context.Context) (SpaceView, error) {
		s, err := a.k.findSpace(ctx, id)
		if err != nil {
			return SpaceView{}, err
		}
		return a.k.spaceView(ctx, a.seen(s))
	})
}

func (k *Kernel) spaceView(ctx context.Context, s SpaceInfo) (SpaceView, error) {
	v := SpaceView{Space: s, Tag: spaceTag(s), Learned: []string{}}
	folder := k.spaceFolder(s)
	v.Folder = shortenHome(folder)
	_, err := os.Stat(folder)
	v.Gone = errors.Is(err, fs.ErrNotExist) && s.Folder != ""
	return v, k.store.Read(ctx, func(tx *store.Tx) error {
		words, err := k.store.SpaceWords(tx)
		if err != nil {
			return err
		}
		own := words[s.ID]
		slices.SortStableFunc(own, func(a, b store.SpaceWord) int { return cmp.Compare(b.Weight, a.Weight) })
		for _, w := range own {
			v.Learned = append(v.Learned, w.Word)
		}
		if s.ID == "" {
			return nil
		}
		m, ok, err := k.store.OpenMerge(tx, s.ID)
		if ok {
			v.MergeID = m.ID
		}
		return err
	})
}

// isDefault reports whether somebody names the default space.
func isDefault(name string) bool {
	return name == "" || strings.EqualFold(name, "default") || name == "기본"
}

// findSpace returns the space with this id or name, or the end of an id that
// names it alone.
func (k *Kernel) findSpace(ctx context.Context, id string) (s SpaceInfo, err error) {
	id = strings.TrimSpace(id)
	err = k.store.Read(ctx, func(tx *store.Tx) error {
		if isDefault(id) {
			s = SpaceInfo{Words: []string{}, Paths: []string{}}
			return tx.QueryRow("SELECT (SELECT count(*) FROM sessions WHERE space = '' AND discarded_at IS NULL), (SELECT count(*) FROM memories WHERE space = '' AND replaced_by = '')").Scan(&s.Sessions, &s.Memories)
		}
		if s, err = k.store.Space(tx, id); sys.CodeOf(err) != sys.CodeNotFound {
			return err
		}
		named, ok, nerr := k.store.SpaceNamed(tx, id)
		if !ok && nerr == nil && len(id) >= 4 {
			named, ok, nerr = k.store.SpaceEnding(tx, id)
		}
		if ok {
			s, err = named, nil
		}
		if nerr != nil {
			return nerr
		}
		return err
	})
	return s, err
}

// spaceByID returns a space; the zero value for the default one.
func (k *Kernel) spaceByID(ctx context.Context, id string) (s SpaceInfo, err error) {
	if id == "" {
		return s, nil
	}
	err = k.store.Read(ctx, func(tx *store.Tx) error {
		s, err = k.store.Space(tx, id)
		return err
	})
	return s, err
}

// spaceExists fails with not_found for the id of a space that there is not.
func (k *Kernel) spaceExists(ctx context.Context, id string) error {
	_, err := k.spaceByID(ctx, id)
	return err
}

// openSpace returns a space that conversations can be put into.
func (k *Kernel) openSpace(ctx context.Context, id string) (SpaceInfo, error) {
	s, err := k.spaceByID(ctx, id)
	if err == nil && s.ArchivedAt != nil {
		err = errArchived(s)
	}
	return s, err
}

// spaceTag names a space in front of an answer.
func spaceTag(s SpaceInfo) string {
	if s.ID == "" {
		return ""
	}
	return "[" + strings.TrimSpace(s.Emoji+" "+s.Name) + "]"
}

func (k *Kernel) spaceOfSession(ctx context.Context, session string) (id, tag string, err error) {
	s, err := k.store.Session(ctx, session)
	if err != nil || s.Space == "" {
		if sys.CodeOf(err) == sys.CodeNotFound {
			err = nil // the person deleted it meanwhile
		}
		return "", "", err
	}
	belongs, err := k.spaceByID(ctx, s.Space)
	return belongs.ID, spaceTag(belongs), err
}

// spaceNamed returns the id of the space with this name, and whether it was there;
// one that was not is made.
func (k *Kernel) spaceNamed(ctx context.Context, name string) (id string, there bool, err error) {
	name = strings.TrimSpace(name)
	if isDefault(name) {
		return "", true, nil
	}
	made := store.Space{Name: name}
	if err := k.checkSpace(&made); err != nil {
		return "", false, err
	}
	err = k.store.Write(ctx, func(tx *store.Tx) error {
		s, ok, err := k.store.SpaceNamed(tx, name)
		if err != nil || ok {
			id, there = s.ID, ok
			return err
		}
		err = k.store.InsertSpace(tx, &made)
		id, there = made.ID, false
		return err
	})
	if err == nil && !there {
		k.publishSpaces(event.ChangeOf(event.Created, id, id))
	}
	return id, there, err
}

// Create makes a space. Without a folder it gets one of its own in the home.
func (a *SpaceAPI) Create(ctx context.Context, in SpaceInput) (SpaceInfo, error) {
	return guard(ctx, a.caller, action{call: "space.create", resource: "spaces", paths: namedPaths(in.Folder), meta: map[string]any{"name": in.Name}}, func(ctx context.Context) (SpaceInfo, error) {
		return a.k.createSpace(ctx, in)
	})
}

func (k *Kernel) createSpace(ctx context.Context, in SpaceInput) (SpaceInfo, error) {
	s := SpaceInfo{
		Name: in.Name, Emoji: in.Emoji, Folder: in.Folder, Words: in.Words, Paths: in.Paths, Instructions: in.Instructions,
		Provider: in.Provider, Model: in.Model, Mode: in.Mode, Role: in.Role, Shared: in.Shared,
	}
	if err := k.checkSpace(&s); err != nil {
		return s, err
	}
	if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.store.InsertSpace(tx, &s) }); err != nil {
		return s, err
	}
	defer k.publishSpaces(event.ChangeOf(event.Created, s.ID, s.ID))
	return s, k.haveFolder(s, k.spaceFolder(s))
}

// Update changes a space. Conversations that it has stay as they are.
func (a *SpaceAPI) Update(ctx context.Context, id string, p SpacePatch) (SpaceInfo, error) {
	return a.change(ctx, action{call: "space.update", paths: namedPaths(*cmp.Or(p.Folder, new(string)))}, event.Edited, id, func(s *SpaceInfo) error {
		for to, from := range map[*string]*string{
			&s.Name: p.Name, &s.Emoji: p.Emoji, &s.Folder: p.Folder, &s.Instructions: p.Instructions, &s.Provider: p.Provider, &s.Model: p.Model, &s.Mode: p.Mode, &s.Role: p.Role,
		} {
			if from != nil {
				*to = *from
			}
		}
		if p.Words != nil {
			s.Words = *p.Words
		}
		if p.Paths != nil {
			s.Paths = *p.Paths
		}
		if p.Shared != nil {
			s.Shared = *p.Shared
		}
		check := *s
		if p.Folder == nil {
			check.Folder = "" // one that is gone does not hinder a change of something else
		}
		if p.Role == nil {
			check.Role = ""
		}
		if err := a.k.checkSpace(&check); err != nil {
			return err
		}
		if p.Folder == nil {
			check.Folder = s.Folder
		}
		check.Role = s.Role
		*s = check
		return nil
	})
}

// Archive takes a space out of sight: no new conversation finds it. What is in
// it stays. Where it was the active one, none is.
func (a *SpaceAPI) Archive(ctx context.Context, id string) (SpaceInfo, error) {
	return a.change(ctx, action{call: "space.archive"}, event.Archived, id, func(s *SpaceInfo) error {
		if now := a.k.clock.Now(); s.ArchivedAt == nil {
			s.ArchivedAt = &now
		}
		return nil
	})
}

// Restore brings an archived space back.
func (a *SpaceAPI) Restore(ctx context.Context, id string) (SpaceInfo, error) {
	return a.change(ctx, action{call: "space.restore"}, event.Returned, id, func(s *SpaceInfo) error {
		s.ArchivedAt, s.UsedAt = nil, a.k.clock.Now()
		return nil
	})
}

// change is a call that changes one space, by its id or name.
func (a *SpaceAPI) change(ctx context.Context, act action, did, id string, fn func(*SpaceInfo) error) (SpaceInfo, error) {
	act.resource = "space:" + id
	return guard(ctx, a.caller, act, func(ctx context.Context) (SpaceInfo, error) {
		s, err := a.k.findSpace(ctx, id)
		if err == nil && s.ID == "" {
			err = sys.Errorf(sys.CodeInvalid, "The default space is always there and has no settings. Nothing was changed.")
		}
		was := s.Active
		if err == nil {
			err = fn(&s)
		}
		if err != nil {
			return s, err
		}
		if err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.SaveSpace(tx, &s) }); err != nil {
			return s, err
		}
		a.k.publishSpaces(event.ChangeOf(did, s.ID, s.ID))
		if was && !s.Active {
			a.k.publishActive("")
		}
		return s, nil
	})
}

// ArchiveStale archives the spaces that nobody wrote in for so many days, and
// returns them.
func (a *SpaceAPI) ArchiveStale(ctx context.Context, days int) ([]SpaceInfo, error) {
	return guard(ctx, a.caller, action{call: "space.archiveStale", resource: "spaces", meta: map[string]any{"days": days}}, func(ctx context.Context) ([]SpaceInfo, error) {
		if days < 1 {
			return nil, sys.Errorf(sys.CodeInvalid, "The number of days must be at least 1. Nothing was archived.")
		}
		all, err := a.k.store.Spaces(ctx)
		if err != nil {
			return nil, err
		}
		now := a.k.clock.Now()
		out, left := []SpaceInfo{}, false
		err = a.k.store.Write(ctx, func(tx *store.Tx) error {
			out, left = out[:0], false
			for _, s := range all {
				if s.ArchivedAt != nil || now.Sub(s.UsedAt) < time.Duration(days)*24*time.Hour {
					continue
				}
				s.ArchivedAt, left = &now, left || s.Active
				if err := a.k.store.SaveSpace(tx, &s); err != nil {
					return err
				}
				out = append(out, s)
			}
			return nil
		})
		if err == nil && len(out) > 0 {
			a.k.publishSpaces(event.ChangeOf(event.Archived, "", each(out, func(s SpaceInfo) string { return s.ID })...))
			if left {
				a.k.publishActive("")
			}
		}
		return out, err
	})
}

// Remove deletes an empty space, with what it had learned. Its own folder goes if
// it is empty, too; one with files stays where it is.
func (a *SpaceAPI) Remove(ctx context.Context, id string) error {
	_, err := guard(ctx, a.caller, action{call: "space.remove", resource: "space:" + id}, func(ctx context.Context) (struct{}, error) {
		s, err := a.k.findSpace(ctx, id)
		if err == nil && s.ID == "" {
			err = sys.Errorf(sys.CodeInvalid, "The default space is always there and has no settings. Nothing was changed.")
		}
		if err != nil {
			return struct{}{}, err
		}
		if err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.DeleteSpace(tx, s.ID) }); err != nil {
			return struct{}{}, err
		}
		own := a.k.ownFolder(s.ID)
		_ = os.Remove(own) // with files in it, it stays
		_ = os.Remove(filepath.Dir(own))
		a.k.topics.forget(s.ID)
		a.k.publishSpaces(event.ChangeOf(event.Removed, s.ID, s.ID))
		if s.Active {
			a.k.publishActive("")
		}
		return struct{}{}, nil
	})
	return err
}

// publishSpaces tells that the spaces are other than they were, and in what way.
func (k *Kernel) publishSpaces(did event.Change) { k.publish(event.SpaceChanged, scope{}, did) }
