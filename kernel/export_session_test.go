package kernel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const exportScript = `
[[scenario]]
match = 'Write'
[[scenario.turn]]
text = "I write it."
[[scenario.turn.call]]
tool = "write"
args = '{"path": "a.md", "content": "# A\n"}'
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "sudo ls"}'
[[scenario.turn]]
text = "It is **written**."

[[scenario]]
[[scenario.turn]]
text = "The key is test-key-0123456789, with \"quotes\" and \\ too."
`

func TestExportTellsWhoSaidAndDidWhatAndWhatItCost(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(exportScript))
	h := k.Person()
	said := k.Ask("Write a.md, please.")
	k.Ask("Tell me the key.", func(m *kernel.Submit) { m.SessionID = said.SessionID })
	md, err := h.State.ExportSession(t.Context(), said.SessionID, "md")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"# Write a.md, please", "- Folder: `", "- Model: `oxios-demo`", "- Cost: free, ",
		"## You · 20", "Write a.md, please.", "## Agent (oxios-demo) · 20", "- ✓ write: `", "- ✗ exec: `", "(denied)", "It is **written**.",
		"Files changed:", "- created `a.md` (+1 −0)", " tokens in (", "## You · 20", "Tell me the key.",
	} {
		i := strings.Index(md[at:], want)
		if i < 0 {
			t.Fatalf("got\n%s\nwant %q after byte %d", md, want, at)
		}
		at += i + len(want)
	}
	raw, err := h.State.ExportSession(t.Context(), said.SessionID, "json")
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Session  kernel.Session
		Messages []kernel.Message
		Runs     []struct {
			Run     kernel.Run
			Steps   []kernel.StepView
			Changes []kernel.Change
		}
		Queued    []kernel.Queued
		Approvals []kernel.Approval
	}
	if err := json.Unmarshal([]byte(raw), &x); err != nil {
		t.Fatalf("got %v, want JSON", err)
	}
	if len(x.Messages) != 4 || len(x.Runs) != 2 || len(x.Runs[0].Changes) != 1 || !strings.Contains(x.Runs[0].Changes[0].Diff, "+# A") || x.Queued == nil || x.Approvals == nil {
		t.Errorf("got %+v, want all of it", x)
	}
	for name, text := range map[string]string{"md": md, "json": raw} {
		if strings.Contains(text, "test-key-0123456789") {
			t.Errorf("%s holds a secret", name)
		}
	}
	if _, err := h.State.ExportSession(t.Context(), said.SessionID, "pdf"); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want invalid", err)
	}
}

func TestExportSpeaksThePersonsLanguage(t *testing.T) {
	t.Parallel()
	k := open(t)
	said := k.Ask("Write a hello file.")
	if _, err := k.Person().Infra.SetConfig(t.Context(), "language", "ko"); err != nil {
		t.Fatal(err)
	}
	md, err := k.Person().State.ExportSession(t.Context(), said.SessionID, "md")
	if err != nil || !strings.Contains(md, "## 나 · ") || !strings.Contains(md, "바뀐 파일:") || !strings.Contains(md, "무료, 입력 ") {
		t.Errorf("got %q, %v; want Korean", md, err)
	}
}

func TestSavedExportReplacesOnlyWhatItMay(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Person()
	said := k.Ask("Write a hello file.")
	path := filepath.Join(t.TempDir(), "talk.md")
	saved, err := h.State.SaveSession(t.Context(), said.SessionID, "md", path, false)
	if err != nil {
		t.Fatal(err)
	}
	text, err := h.State.ExportSession(t.Context(), said.SessionID, "md")
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != text || saved.Bytes != int64(len(raw)) {
		t.Errorf("got %q, %v; want the export", raw, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want 0600", info.Mode(), err)
	}
	if _, err := h.State.SaveSession(t.Context(), said.SessionID, "json", path, false); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("a name that is taken: got %v, want conflict", err)
	}
	if _, err := h.State.SaveSession(t.Context(), said.SessionID, "json", path, true); err != nil {
		t.Error(err)
	}
	if _, err := h.State.SaveSession(t.Context(), said.SessionID, "md", "talk.md", true); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("a relative path: got %v, want invalid", err)
	}
	if _, err := h.State.SaveSession(t.Context(), said.SessionID, "md", filepath.Join(t.TempDir(), "none", "talk.md"), true); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("a folder that is not there: got %v, want unavailable", err)
	}
}
