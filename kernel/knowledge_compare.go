package kernel

import (
	"context"

	"oxios/kernel/knowledge"
	"oxios/kernel/undo"
)

// maxWriters is how many changes of a note are followed back to say who made them.
const maxWriters = 50

// VaultCompared is how what stands in a note differs from a text that somebody has
// of it.
type VaultCompared struct {
	Path    string        `json:"path"`
	Hash    string        `json:"hash"`  // of the note; "" when it is gone
	Added   int           `json:"added"` // lines that the text does not have
	Removed int           `json:"removed"`
	Diff    string        `json:"diff"` // unified, from the text to the note; "" when they are the same
	By      []VaultWriter `json:"by"`   // who made it so, the last first; empty when that was no agent
}

// VaultWriter is an agent's run that changed a note.
type VaultWriter struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id,omitempty"` // "" where the conversation was deleted
	Title     string `json:"title,omitempty"`      // of the conversation
}

// Compare says how a note differs from a text that was read of it before, and which
// agents changed it since.
func (a *KnowledgeAPI) Compare(ctx context.Context, path, text string) (VaultCompared, error) {
	return guard(ctx, a.caller, action{call: "knowledge.compare", resource: "vault"}, func(ctx context.Context) (VaultCompared, error) {
		out := VaultCompared{Path: cleanVaultName(path), By: []VaultWriter{}}
		v := a.k.vault()
		raw, err := v.Bytes(path)
		if err != nil {
			return out, err
		}
		now, _ := knowledge.Text(raw)
		out.Hash = contentHash(raw)
		out.Added, out.Removed = countChanged(text, now)
		out.Diff = capDiff(unifiedDiff(out.Path, text, now), maxDiff)
		out.By, err = a.writers(ctx, v.path(out.Path), raw, text)
		return out, err
	})
}

// writers follows a note, which lies at path, back, through what runs noted of it before they changed it,
// to a text that it had. It ends where somebody else changed it in between.
func (a *KnowledgeAPI) writers(ctx context.Context, path string, raw []byte, text string) ([]VaultWriter, error) {
	out := []VaultWriter{}
	marks, err := a.k.store.FileMarksOf(ctx, path)
	if err != nil {
		return out, err
	}
	content := undo.ID(raw)
	sessions := map[string]string{}
	seen := map[string]bool{}
	for i := len(marks) - 1; i >= 0 && i >= len(marks)-maxWriters; i-- {
		m := marks[i]
		after, aerr := undo.Parse(m.After)
		before, berr := undo.Parse(m.Before)
		if aerr != nil || berr != nil || after.Content != content {
			break // somebody else wrote after that run
		}
		if !seen[m.RunID] {
			seen[m.RunID] = true
			w := VaultWriter{RunID: m.RunID, SessionID: a.sessionOf(ctx, m.RunID, sessions)}
			if s, err := a.k.store.Session(ctx, w.SessionID); err == nil {
				w.Title = s.Title
			}
			out = append(out, w)
		}
		if content = before.Content; content == "" {
			break
		}
		was, err := a.k.undos.objects.Read(content)
		if err != nil {
			break // the undo let go of it
		}
		if old, _ := knowledge.Text(was); old == text {
			break
		}
	}
	return out, nil
}
