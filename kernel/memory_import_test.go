package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func TestImportOfMemoriesSaysBeforeWhatItWouldDo(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	if _, err := p.Memory.Import(t.Context(), []kernel.MemoryImport{{ID: "a", Text: "Tea, no coffee"}, {ID: "b", Text: "The old address"}}); err != nil {
		t.Fatal(err)
	}
	all := []kernel.MemoryImport{
		{ID: "a", Text: "Tea, no coffee"},
		{ID: "b", Text: "The new address"},
		{ID: "c", Text: "Go 1.26", Space: "Work"},
		{Text: "Rides a bicycle", Space: "Work"},
	}
	plan, err := p.Memory.ImportPreview(t.Context(), all)
	if err != nil || plan.Added != 2 || plan.Changed != 1 || plan.Same != 1 || len(plan.Spaces) != 1 || len(plan.Wrong) != 0 {
		t.Fatalf("got %+v, %v", plan, err)
	}
	if spaces, err := p.Space.List(t.Context()); err != nil || len(spaces) != 0 {
		t.Errorf("looking made a space: %+v, %v", spaces, err)
	}
	bad := append(all, kernel.MemoryImport{Text: " "}, kernel.MemoryImport{Text: "x", Time: "yesterday"}, kernel.MemoryImport{Text: "x", Type: "dream"})
	plan, err = p.Memory.ImportPreview(t.Context(), bad)
	if err != nil || len(plan.Wrong) != 3 || plan.Wrong[0].At != 5 || !strings.Contains(plan.Wrong[1].Text.EN, "yesterday") || !strings.Contains(plan.Wrong[2].Text.EN, "dream") {
		t.Errorf("got %+v, %v", plan, err)
	}
	if _, err := p.Memory.Import(t.Context(), bad); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v", err)
	}
	done, err := p.Memory.Import(t.Context(), all)
	if err != nil || done.Added != 2 || done.Changed != 2 {
		t.Errorf("got %+v, %v", done, err)
	}
}

func TestWhatIsRememberedIsExportedAsImportReadsIt(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	if _, err := p.Memory.Import(t.Context(), []kernel.MemoryImport{{ID: "a", Text: "Tea & no <coffee>", Time: "2026-11-23T09:00:00Z", Space: "Home"}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "memories.jsonl")
	if _, err := p.Memory.SaveExport(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), `"text":"Tea & no <coffee>","time":"2026-11-23T09:00:00Z","type":"fact","space":"Home"`) {
		t.Errorf("got %s, %v", raw, err)
	}
	part, err := p.Memory.Export(t.Context(), "")
	if err != nil || !part.Done || part.Text != string(raw) {
		t.Errorf("got %+v, %v", part, err)
	}
	_, err = p.Memory.SaveExport(t.Context(), path, false)
	wantCode(t, "a name that is taken", err, sys.CodeConflict)
	_, err = k.Agent("autonomous").Memory.Export(t.Context(), "")
	wantCode(t, "an agent", err, sys.CodeForbidden)
}
