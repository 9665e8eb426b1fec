package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// written writes a note, over what is there.
func written(t *testing.T, h *kernel.Handle, path, text string) kernel.VaultChange {
	t.Helper()
	n, _ := h.Knowledge.Read(t.Context(), path)
	c, err := h.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: path, Text: text, Base: n.Hash})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHistoryOfANoteSaysWhoWroteWhatUnderEveryNameItHad(t *testing.T) {
	t.Parallel()
	k := open(t)
	p, h := k.Person(), k.Agent("guarded")
	written(t, p, "계획", "one\n")
	if _, err := p.Knowledge.History(t.Context(), "계획"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Knowledge.Append(t.Context(), "계획", "by an agent"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Knowledge.Move(t.Context(), "계획", "일/나중 계획"); err != nil {
		t.Fatal(err)
	}
	written(t, p, "일/나중 계획", "three\n")
	got, err := p.Knowledge.History(t.Context(), "나중 계획")
	if err != nil || !got.Kept || got.More || len(got.Versions) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	v := got.Versions
	if !v[0].Now || v[0].Path != "일/나중 계획.md" || v[0].RunID != "" || v[0].Added != 1 || v[0].Removed < 2 {
		t.Errorf("the newest is %+v", v[0])
	}
	if v[1].Now || v[1].Path != "계획.md" || v[1].RunID != h.Principal().ID || v[1].SessionID == "" || v[1].Added == 0 {
		t.Errorf("that of the agent is %+v", v[1])
	}
	if v[2].Path != "계획.md" || v[2].RunID != "" || v[2].Added != 1 || v[2].Size != 4 {
		t.Errorf("the oldest is %+v", v[2])
	}
	old, err := p.Knowledge.Version(t.Context(), "나중 계획", v[2].ID[:8])
	if err != nil || old.Text != "one\n" || !strings.Contains(old.Diff, "-one\n+three\n") {
		t.Errorf("got %+v, %v", old, err)
	}
	for _, id := range []string{"", "HEAD", "0123456789"} {
		if _, err := p.Knowledge.Version(t.Context(), "나중 계획", id); sys.CodeOf(err) != sys.CodeNotFound {
			t.Errorf("version %q: %v", id, err)
		}
	}
	if _, err := h.Knowledge.History(t.Context(), "나중 계획"); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent gets %v", err)
	}
	for _, name := range []string{"nobody", "../oxios.db", ".git/config"} {
		if _, err := p.Knowledge.History(t.Context(), name); sys.CodeOf(err) != sys.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVaultOfThePersonShowsWhatTheUndoOfAgentsHolds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "Obsidian")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	k := open(t)
	if _, err := k.Person().Infra.SetConfig(t.Context(), "vault_folder", dir); err != nil {
		t.Fatal(err)
	}
	k.Restart()
	p, h := k.Person(), k.Agent("guarded")
	if got, err := p.Knowledge.History(t.Context(), "a"); err != nil || got.Kept || len(got.Versions) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := h.Knowledge.Append(t.Context(), "a", "theirs"); err != nil {
		t.Fatal(err)
	}
	written(t, p, "a", "mine again\n")
	got, err := p.Knowledge.History(t.Context(), "a")
	if err != nil || len(got.Versions) != 2 || got.Versions[0].RunID != h.Principal().ID || got.Versions[0].Now || !got.Versions[1].Found || got.Versions[1].RunID != "" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if old, err := p.Knowledge.Version(t.Context(), "a", got.Versions[1].ID); err != nil || old.Text != "mine\n" || old.Diff == "" {
		t.Errorf("got %+v, %v", old, err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		t.Error("something was written into the folder")
	}
}

func TestDeletedNoteIsInTheTrashUntilItIsRestoredOrForgotten(t *testing.T) {
	t.Parallel()
	k := open(t)
	p, h := k.Person(), k.Agent("guarded")
	written(t, p, "sub/a", "text\n")
	written(t, p, "b", "other\n")
	if err := os.WriteFile(filepath.Join(k.Home, "knowledge", "pic.png"), []byte{0, 1, 2}, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Knowledge.Delete(t.Context(), "sub/a", ""); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "pic.png"} {
		if c, err := p.Knowledge.Delete(t.Context(), name, ""); err != nil || c.Trash == "" || c.Hash != "" {
			t.Fatalf("got %+v, %v", c, err)
		}
	}
	all, err := p.Knowledge.Trash(t.Context())
	if err != nil || len(all) != 3 || all[0].Path != "pic.png" || all[0].RunID != "" || all[2].Path != "sub/a.md" || all[2].RunID != h.Principal().ID || all[2].SessionID == "" {
		t.Fatalf("got %+v, %v", all, err)
	}
	back, err := p.Knowledge.Restore(t.Context(), all[2].ID)
	if err != nil || back.Path != "sub/a.md" || back.Hash == "" {
		t.Errorf("got %+v, %v", back, err)
	}
	if n, err := p.Knowledge.Read(t.Context(), "sub/a"); err != nil || n.Text != "text\n" {
		t.Errorf("got %+v, %v", n, err)
	}
	if back, err := p.Knowledge.Restore(t.Context(), all[0].ID); err != nil || back.Path != "pic.png" {
		t.Errorf("got %+v, %v", back, err)
	}
	if raw, err := os.ReadFile(filepath.Join(k.Home, "knowledge", "pic.png")); err != nil || string(raw) != "\x00\x01\x02" {
		t.Errorf("got %q, %v", raw, err)
	}
	done, err := p.Knowledge.Forget(t.Context(), []string{all[1].ID})
	if err != nil || done.Files != 1 || len(done.Notes) != 2 {
		t.Errorf("got %+v, %v", done, err)
	}
	for _, w := range done.Notes {
		if w.KO == "" {
			t.Errorf("%q has no Korean", w.EN)
		}
	}
	if all, err := p.Knowledge.Trash(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v", all, err)
	}
	if _, err := p.Knowledge.Restore(t.Context(), all[1].ID); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v", err)
	}
	if got, err := p.Knowledge.History(t.Context(), "b.md"); err != nil || len(got.Versions) != 1 {
		t.Errorf("the history of what is gone is %+v, %v", got, err)
	}
	if _, err := h.Knowledge.Forget(t.Context(), nil); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent gets %v", err)
	}
}

func TestMoveIsForetoldAndAMentionBecomesALink(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	written(t, p, "제주", "바다\n")
	written(t, p, "a", "[[제주]] [[제주|섬]]\n")
	written(t, p, "b", "제주에 간다\n")
	m, err := p.Knowledge.MovePreview(t.Context(), "제주", "여행/제주도")
	if err != nil || m.To != "여행/제주도.md" || m.Links != 2 || len(m.In) != 1 || m.In[0] != (kernel.VaultMoveChange{Path: "a.md", Links: 2}) {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := p.Knowledge.Read(t.Context(), "제주.md"); err != nil {
		t.Errorf("the preview moved it: %v", err)
	}
	if _, err := p.Knowledge.MovePreview(t.Context(), "제주", "a"); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v", err)
	}
	found, err := p.Knowledge.Unlinked(t.Context(), "제주")
	if err != nil || len(found) != 1 || found[0].Path != "b.md" {
		t.Fatalf("got %+v, %v", found, err)
	}
	n, err := p.Knowledge.Read(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Knowledge.Link(t.Context(), "b", found[0].Line, "제주", n.Hash); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Knowledge.Read(t.Context(), "b"); err != nil || n.Text != "[[제주]]에 간다\n" {
		t.Errorf("got %q, %v", n.Text, err)
	}
	g, err := p.Knowledge.Graph(t.Context(), kernel.VaultGraphOf{Path: "제주"})
	if err != nil || len(g.Nodes) != 3 || len(g.Edges) != 2 {
		t.Errorf("got %+v, %v", g, err)
	}
}
