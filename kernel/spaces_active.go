package kernel

import (
	"context"

	"oxios/kernel/event"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Activate makes a space the active one, by its id or its name: new conversations
// begin in it where their first message names no other space, by a path, a tag or
// a word. "" and "default" leave none active. It stays so over a restart, until
// another one is made active or this one is archived, removed or merged away.
func (a *SpaceAPI) Activate(ctx context.Context, id string) (SpaceInfo, error) {
	return guard(ctx, a.caller, action{call: "space.activate", resource: "space:" + id}, func(ctx context.Context) (SpaceInfo, error) {
		k := a.k
		s, err := k.findSpace(ctx, id)
		if err != nil {
			return s, err
		}
		err = k.store.Write(ctx, func(tx *store.Tx) error {
			if s.ID != "" {
				if s, err = k.store.Space(tx, s.ID); err != nil {
					return err
				}
				if s.ArchivedAt != nil {
					return errArchived(s)
				}
			}
			return k.store.ActivateSpace(tx, s.ID)
		})
		if err != nil {
			return s, err
		}
		s.Active = s.ID != ""
		k.publishActive(s.ID)
		return s, nil
	})
}

func errArchived(s SpaceInfo) error {
	return sys.Errorf(sys.CodeConflict, "The space %q is archived. Nothing was changed.", s.Name).WithHint("Restore it first: `oxios spaces restore`.")
}

// activeSpace returns the id of the active space, "" where there is none.
func (k *Kernel) activeSpace(ctx context.Context) (id string, err error) {
	err = k.store.Read(ctx, func(tx *store.Tx) error {
		id, err = k.store.ActiveSpace(tx)
		return err
	})
	return id, err
}

// publishActive tells which space is the active one now; "" is none.
func (k *Kernel) publishActive(id string) {
	did := event.ChangeOf(event.Activated, id)
	if id != "" {
		did = event.ChangeOf(event.Activated, id, id)
	}
	k.publish(event.SpaceActivated, scope{}, did)
	k.publishSpaces(did)
}
