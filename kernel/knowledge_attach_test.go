package kernel_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/knowledge"
	"oxios/kernel/sys"
)

func TestAFileThatIsAttachedIsShownByNotes(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person().Knowledge
	png := picture(t, 30, 20)
	c, err := p.Attach(t.Context(), kernel.VaultAttach{Name: "바다.png", Data: png})
	if err != nil || c.Path != "attachments/바다.png" || c.Hash == "" || c.Changed != 1 {
		t.Fatalf("got %+v, %v", c, err)
	}
	// One that comes in parts, under a name that is taken.
	id := ""
	for at := 0; at < len(png); at += 50 {
		if id, err = p.AttachPart(t.Context(), id, "바다.png", int64(len(png)), int64(at), png[at:min(at+50, len(png))]); err != nil {
			t.Fatal(err)
		}
	}
	c, err = p.Attach(t.Context(), kernel.VaultAttach{Name: "바다.png", Upload: id})
	if err != nil || c.Path != "attachments/바다 (2).png" {
		t.Fatalf("got %+v, %v", c, err)
	}
	if _, err := p.Attach(t.Context(), kernel.VaultAttach{Name: "again.png", Upload: id}); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("a file that was taken already: %v", err)
	}
	c, err = p.Attach(t.Context(), kernel.VaultAttach{Path: saved(t, t.TempDir(), "report.pdf", []byte("%PDF-1.7"))})
	if err != nil || c.Path != "attachments/report.pdf" {
		t.Fatalf("got %+v, %v", c, err)
	}
	written(t, k.Person(), "n", "![[바다.png|200]]\n")
	e, err := p.Embed(t.Context(), "n.md", "![[바다.png|200]]")
	if err != nil || e.Kind != "image" || e.Path != "attachments/바다.png" || e.MIME != "image/png" {
		t.Errorf("got %+v, %v", e, err)
	}
	var all []byte
	for len(all) < len(png) {
		f, err := p.File(t.Context(), e.Path, int64(len(all)), 40)
		if err != nil || f.Size != int64(len(png)) || len(f.Data) > 40 {
			t.Fatalf("got %+v, %v", f, err)
		}
		all = append(all, f.Data...)
	}
	if !bytes.Equal(all, png) {
		t.Error("its bytes are other ones")
	}
	h, err := p.History(t.Context(), e.Path)
	if err != nil || len(h.Versions) != 1 {
		t.Errorf("got %+v, %v", h, err)
	}
	gone, err := p.Delete(t.Context(), e.Path, "")
	if err != nil || gone.Trash == "" {
		t.Fatalf("got %+v, %v", gone, err)
	}
	if back, err := p.Restore(t.Context(), gone.Trash); err != nil || back.Path != e.Path {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestWhatCannotBeAttachedSaysWhyAndLeavesTheVault(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person().Knowledge
	large := filepath.Join(t.TempDir(), "large.bin")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, knowledge.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	part, err := p.AttachPart(t.Context(), "", "half.png", 100, 0, make([]byte, 50))
	if err != nil {
		t.Fatal(err)
	}
	_, tooLarge := p.AttachPart(t.Context(), "", "large.bin", knowledge.MaxFile+1, 0, nil)
	for what, c := range map[string]struct {
		err  error
		code sys.Code
	}{
		"nothing":        {second(p.Attach(t.Context(), kernel.VaultAttach{Name: "x.png"})), sys.CodeInvalid},
		"a large file":   {second(p.Attach(t.Context(), kernel.VaultAttach{Path: large})), sys.CodeTooLarge},
		"a large upload": {tooLarge, sys.CodeTooLarge},
		"half of a file": {second(p.Attach(t.Context(), kernel.VaultAttach{Name: "half.png", Upload: part})), sys.CodeConflict},
		"no upload":      {second(p.Attach(t.Context(), kernel.VaultAttach{Name: "x", Upload: "../../config.toml"})), sys.CodeNotFound},
		"a folder":       {second(p.Attach(t.Context(), kernel.VaultAttach{Path: filepath.Dir(large)})), sys.CodeInvalid},
		"a short path":   {second(p.Attach(t.Context(), kernel.VaultAttach{Path: "large.bin"})), sys.CodeInvalid},
		"a secret":       {second(p.Attach(t.Context(), kernel.VaultAttach{Path: filepath.Join(k.Home, "config.toml")})), sys.CodeRefused},
		"read outside":   {second(p.File(t.Context(), "../config.toml", 0, 10)), sys.CodeInvalid},
	} {
		if e := sys.AsError(c.err); sys.CodeOf(c.err) != c.code || e.MessageKO == "" {
			t.Errorf("%s: got %v, want %s in both languages", what, c.err, c.code)
		}
	}
	if all, err := p.Tree(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestAgentsAttachOnlyWhatTheyHandOver(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	secret := saved(t, t.TempDir(), "secret.txt", []byte("secret"))
	for call, err := range map[string]error{
		"knowledge.attachPart": second(h.Knowledge.AttachPart(t.Context(), "", "a.png", 1, 0, []byte("x"))),
		"knowledge.file":       second(h.Knowledge.File(t.Context(), "a.png", 0, 1)),
		"knowledge.embed":      second(h.Knowledge.Embed(t.Context(), "", "![[a]]")),
		"knowledge.places":     second(h.Knowledge.Places(t.Context(), "", "", "x")),
		"knowledge.anchor":     second(h.Knowledge.Anchor(t.Context(), "a", 1, "")),
		"knowledge.attach":     second(h.Knowledge.Attach(t.Context(), kernel.VaultAttach{Path: secret})),
	} {
		if sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("%s: got %v, want forbidden", call, err)
		}
	}
	c, err := h.Knowledge.Attach(t.Context(), kernel.VaultAttach{Name: "chart.png", Data: picture(t, 3, 3)})
	if err != nil || c.Path != "attachments/chart.png" {
		t.Fatalf("got %+v, %v", c, err)
	}
	changes, err := k.Person().Agents.Changes(t.Context(), h.Principal().ID)
	if err != nil || len(changes) != 1 || !changes[0].Binary || changes[0].Added != 0 {
		t.Errorf("got %+v, %v", changes, err)
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil || !strings.Contains(string(raw), "AccessDenied") || !strings.Contains(string(raw), "knowledge.anchor") || !strings.Contains(string(raw), "note:chart.png") {
		t.Errorf("the audit chain lacks it: %v", err)
	}
}

func TestABlockOfAnotherNoteGetsAnID(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person().Knowledge
	seen := written(t, k.Person(), "Trip", "# Trip\n\nBy boat.\n")
	got, err := p.Anchor(t.Context(), "Trip", 3, seen.Hash)
	if err != nil || len(got.ID) != 6 || got.Change.Changed != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if n, err := p.Read(t.Context(), "Trip"); err != nil || n.Text != "# Trip\n\nBy boat. ^"+got.ID+"\n" {
		t.Errorf("got %q, %v", n.Text, err)
	}
	if again, err := p.Anchor(t.Context(), "Trip", 3, ""); err != nil || again.ID != got.ID || again.Change.Changed != 0 {
		t.Errorf("got %+v, %v", again, err)
	}
	if _, err := p.Anchor(t.Context(), "Trip", 3, seen.Hash); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("over what somebody else wrote: %v", err)
	}
}
