package kernel

import (
	"context"
	"strings"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// spaceExists fails with not_found for the id of a space that there is not.
func (k *Kernel) spaceExists(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	all, err := k.store.Spaces(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.ID == id {
			return nil
		}
	}
	return sys.Errorf(sys.CodeNotFound, "There is no space %q.", id).WithHint("`oxios spaces list` shows those that there are.")
}

// spaceNamed returns the id of the space with this name, and whether it was there;
// one that was not is made.
func (k *Kernel) spaceNamed(ctx context.Context, name string) (id string, there bool, err error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", true, nil
	}
	if len(name) > 200 {
		return "", false, sys.Errorf(sys.CodeInvalid, "The name of a space has at most 200 bytes. Nothing was changed.")
	}
	err = k.store.Write(ctx, func(tx *store.Tx) error {
		s, ok, err := k.store.SpaceNamed(tx, name)
		if err != nil || ok {
			id, there = s.ID, ok
			return err
		}
		made := store.Space{Name: name}
		err = k.store.InsertSpace(tx, &made)
		id, there = made.ID, false
		return err
	})
	return id, there, err
}

// SpaceInfo is a context of work.
type SpaceInfo = store.Space

// List returns all spaces, archived ones too, the one that was used last first.
func (a *SpaceAPI) List(ctx context.Context) ([]SpaceInfo, error) {
	return guard(ctx, a.caller, action{call: "space.list", resource: "spaces"}, func(ctx context.Context) ([]SpaceInfo, error) {
		return a.k.store.Spaces(ctx)
	})
}
