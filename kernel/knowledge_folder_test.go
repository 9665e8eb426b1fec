package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/sys"
)

func noteThere(t *testing.T, h *kernel.Handle, path, want string) {
	t.Helper()
	if n, err := h.Knowledge.Read(t.Context(), path); err != nil || n.Text != want {
		t.Errorf("%s: got %q, %v, want %q", path, n.Text, err, want)
	}
}

func TestAnotherVaultFolderIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	if _, err := p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "first", Text: "written in the home\n"}); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	write(t, filepath.Join(other, "second.md"), "sparrows in another folder\n")
	events, err := p.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Infra.SetConfig(t.Context(), "vault_folder", other); err != nil {
		t.Fatal(err)
	}
	noteThere(t, p, "second", "sparrows in another folder\n")
	if hits, err := p.Knowledge.Search(t.Context(), "sparrows", 5); err != nil || len(hits) != 1 {
		t.Errorf("search: got %+v, %v", hits, err)
	}
	if _, err := p.Knowledge.Read(t.Context(), "first"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("a note of the old folder: got %v", err)
	}
	if s, err := p.Knowledge.State(t.Context()); err != nil || s.History || s.Notes != 1 || s.Problem != nil {
		t.Errorf("got %+v, %v", s, err)
	}
	for e := range events {
		if e.Kind == event.VaultSwitched {
			break
		}
	}
	if _, err := p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "third", Text: "mine\n"}); err != nil {
		t.Fatal(err)
	}
	// What another program writes there is noticed.
	write(t, filepath.Join(other, "fourth.md"), "larks\n")
	k.Until("the new folder is watched", func() bool {
		hits, err := p.Knowledge.Search(t.Context(), "larks", 5)
		return err == nil && len(hits) == 1
	})
	if _, err := os.Stat(filepath.Join(other, ".git")); err == nil {
		t.Error("a repository was made in a folder of the person's")
	}
	v, err := p.Infra.SetConfig(t.Context(), "vault_folder", filepath.Join(k.Home, "knowledge"))
	if err != nil || v.Values["vault_folder"] != "" {
		t.Fatalf("got %q, %v", v.Values["vault_folder"], err)
	}
	noteThere(t, p, "first", "written in the home\n")
	if h, err := p.Knowledge.History(t.Context(), "first"); err != nil || !h.Kept || len(h.Versions) != 1 {
		t.Errorf("got %+v, %v", h, err)
	}
	if raw, err := os.ReadFile(filepath.Join(other, "third.md")); err != nil || string(raw) != "mine\n" {
		t.Errorf("what was written there: got %q, %v", raw, err)
	}
}

func TestFolderThatCannotHoldTheNotesIsRefusedAndTheOldOneStays(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	if _, err := p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "here", Text: "still\n"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(k.Home, link); err != nil {
		t.Fatal(err)
	}
	for folder, code := range map[string]sys.Code{
		filepath.Join(t.TempDir(), "gone"): sys.CodeNotFound, file: sys.CodeInvalid, "notes": sys.CodeInvalid,
		k.Home: sys.CodeRefused, filepath.Join(k.Home, "undo"): sys.CodeRefused, link: sys.CodeRefused,
	} {
		_, err := p.Infra.SetConfig(t.Context(), "vault_folder", folder)
		wantCode(t, folder, err, code)
	}
	noteThere(t, p, "here", "still\n")
	if v, err := p.Infra.Config(t.Context()); err != nil || v.Values["vault_folder"] != "" {
		t.Errorf("got %q, %v", v.Values["vault_folder"], err)
	}

	// So it is when somebody writes it into the file, and when that is mended it is used.
	gone := filepath.Join(t.TempDir(), "later")
	config := filepath.Join(k.Home, "config.toml")
	raw, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, fmt.Sprintf("%svault_folder = %q\n", raw, gone))
	k.Until("the state says so", func() bool {
		s, err := p.Knowledge.State(t.Context())
		return err == nil && s.Problem != nil && strings.Contains(s.Problem.Message, "later")
	})
	noteThere(t, p, "here", "still\n")
	if r := k.Ask("hello"); r.State != "done" {
		t.Errorf("got %+v", r)
	}
	write(t, filepath.Join(gone, "there.md"), "now\n")
	if _, err := p.Infra.SetConfig(t.Context(), "vault_folder", gone); err != nil {
		t.Fatal(err)
	}
	noteThere(t, p, "there", "now\n")
	if s, err := p.Knowledge.State(t.Context()); err != nil || s.Problem != nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestVaultFolderThatVanishesLeavesTheRestGoing(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	drive := filepath.Join(t.TempDir(), "drive")
	write(t, filepath.Join(drive, "a.md"), "on the drive\n")
	if _, err := p.Infra.SetConfig(t.Context(), "vault_folder", drive); err != nil {
		t.Fatal(err)
	}
	noteThere(t, p, "a", "on the drive\n")
	events, err := p.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(drive, drive+" off"); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if paths, ok := e.Data.([]string); ok && e.Kind == event.VaultChanged && len(paths) == 0 {
			break // the faces are told
		}
	}
	k.Until("it is noticed", func() bool {
		s, err := p.Knowledge.State(t.Context())
		return err == nil && s.Problem != nil
	})
	_, err = p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "b", Text: "lost?\n"})
	wantCode(t, "a write", err, sys.CodeUnavailable)
	if r := k.Ask("hello"); r.State != "done" {
		t.Errorf("got %+v", r)
	}
	if _, err := p.Infra.SetConfig(t.Context(), "vault_folder", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "b", Text: "kept\n"}); err != nil {
		t.Error(err)
	}
	if _, err := p.Infra.SetConfig(t.Context(), "vault_folder", drive); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestChangeThatWaitedIsNotMadeInAnotherVault(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	h := k.Agent("ask")
	done := make(chan error, 1)
	go func() {
		_, err := h.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "plan", Text: "for the old folder\n"})
		done <- err
	}()
	ap := k.Approval(h.Principal().ID)
	other := t.TempDir()
	if _, err := p.Infra.SetConfig(t.Context(), "vault_folder", other); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "the write", <-done, sys.CodeConflict)
	for _, dir := range []string{other, filepath.Join(k.Home, "knowledge")} {
		if _, err := os.Stat(filepath.Join(dir, "plan.md")); err == nil {
			t.Errorf("it was written in %s", dir)
		}
	}
}

func TestJournalSettingsHoldAtOnce(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	for key, value := range map[string]string{"journal_folder": "일지", "journal_format": "[day] DDMM", "journal_template": `# {{date}}\n\nGood morning.\n`} {
		if _, err := p.Infra.SetConfig(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	today := time.Now()
	preview, err := p.Knowledge.JournalPreview(t.Context(), "일지", "[day] DDMM", `# {{date}}\n\nGood morning.\n`)
	if err != nil || preview.There || preview.Path != "일지/day "+today.Format("0201")+".md" {
		t.Fatalf("got %+v, %v", preview, err)
	}
	c, err := p.Knowledge.Journal(t.Context(), "", "")
	if err != nil || c.Path != preview.Path {
		t.Fatalf("got %+v, %v", c, err)
	}
	noteThere(t, p, c.Path, preview.Text)
	if preview.Text != "# "+today.Format(time.DateOnly)+"\n\nGood morning.\n" {
		t.Errorf("got %q", preview.Text)
	}
	_, err = p.Infra.SetConfig(t.Context(), "journal_format", "../YYYY")
	wantCode(t, "a name outside", err, sys.CodeInvalid)
}
