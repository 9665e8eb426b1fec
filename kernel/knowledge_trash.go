package kernel

import (
	"context"
	"errors"

	"oxios/kernel/knowledge"
	"oxios/kernel/sys"
)

// VaultForgotten says what became of files of the trash that were deleted for good.
type VaultForgotten struct {
	Files int         `json:"files"`
	Notes []sys.Words `json:"notes"` // where else they may still be, each a sentence
}

// Trash returns what was deleted and can come back, the newest first.
func (a *KnowledgeAPI) Trash(ctx context.Context) ([]VaultTrashed, error) {
	return guard(ctx, a.caller, action{call: "knowledge.trash", resource: "vault"}, func(ctx context.Context) ([]VaultTrashed, error) { return a.k.vault().Trash(ctx) })
}

// Restore puts a file of the trash back where it lay, or under a free name beside
// it, which the change says.
func (a *KnowledgeAPI) Restore(ctx context.Context, id string) (VaultChange, error) {
	from := a.k.vault()
	t, _, _ := from.Discarded(id) // what is wrong with it the plan says
	out, err := a.change(ctx, "knowledge.restore", t.Path, sys.Say("Restore %s", t.Path), id, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		return v.PlanRestore(ctx, id)
	})
	if err == nil {
		if err := from.Forget(id); err != nil && sys.CodeOf(err) != sys.CodeNotFound {
			a.k.log.WarnContext(ctx, "A file that was restored stays in the trash too", "error", err)
		}
	}
	return out, err
}

// Forget deletes files of the trash for good, by their ids. It says where else
// they may still be. What fails leaves the others deleted.
func (a *KnowledgeAPI) Forget(ctx context.Context, ids []string) (VaultForgotten, error) {
	act := action{call: "knowledge.forget", resource: "vault", meta: map[string]any{"files": len(ids)}}
	return guard(ctx, a.caller, act, func(ctx context.Context) (VaultForgotten, error) {
		v := a.k.vault()
		out := VaultForgotten{Notes: []sys.Words{}}
		var inHistory, inUndo bool
		var failed error
		for _, id := range ids {
			t, _, _ := v.Discarded(id)
			if err := v.Forget(id); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			out.Files++
			if t.Path == "" {
				continue
			}
			if v.log != nil && !inHistory {
				list, _, err := v.log.Versions(ctx, t.Path, 1, movedBy)
				inHistory = err != nil || len(list) > 0
			}
			if !inUndo {
				marks, err := a.k.store.FileMarksOf(ctx, v.path(t.Path))
				inUndo = err != nil || len(marks) > 0
			}
		}
		if out.Files == 0 {
			return out, failed
		}
		if inHistory {
			out.Notes = append(out.Notes, sys.Say("The history of the notes still holds what they said."))
		}
		if inUndo {
			out.Notes = append(out.Notes, sys.Say("The undo of agents' runs holds it for up to %d days.", a.k.config.get().UndoDays))
		}
		out.Notes = append(out.Notes, sys.Say("Backups that were made before may hold it too."))
		return out, failed
	})
}
