package cli

import (
	"path/filepath"
	"testing"
	"time"

	"oxios/kernel"
)

func TestPruningShowsHowMuchGoesAndWhatIsLeftVerifiesAlone(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.must(0, "run", writes)
	if r := d.with(typing{}, "audit", "prune"); r.code == 0 {
		t.Errorf("got %+v without a time, want to be asked for one", r)
	}
	contains(t, "nothing is that old", d.must(0, "audit", "prune", "--before", "30d").err, "No record is that old")
	soon := time.Now().Add(time.Minute).Format(time.RFC3339)
	contains(t, "what would go", d.must(0, "audit", "prune", "--before", soon, "--dry-run").err, "1 stay")
	nobody := d.with(typing{}, "audit", "prune", "--before", soon)
	contains(t, "nobody to ask", nobody.err, "--yes")
	if all := decode[kernel.AuditReport](t, d.must(0, "audit", "verify", "--json").out); all.Pruned != 0 {
		t.Errorf("got %+v, want nothing pruned so far", all)
	}
	cut := decode[kernel.AuditCut](t, d.must(0, "audit", "prune", "--before", soon, "--yes", "--json").out)
	if cut.Entries == 0 || cut.Through != cut.Entries {
		t.Errorf("got %+v", cut)
	}
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	d.must(0, "audit", "export", "-o", file)
	nowhere := &desk{t: t, env: map[string]string{"OXIOS_HOME": filepath.Join(t.TempDir(), "none")}, deps: Deps{}}
	contains(t, "verify", nowhere.must(0, "audit", "verify", file).err, "a signed root stands for what was pruned")
	if r := decode[kernel.AuditReport](t, nowhere.must(0, "audit", "verify", "--json", file).out); r.Pruned != cut.Through {
		t.Errorf("got %+v, want it to begin after entry %d", r, cut.Through)
	}
}
