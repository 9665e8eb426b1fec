package cli

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
)

func TestFallbacksAreSetShownAndToldInARun(t *testing.T) {
	t.Parallel()
	list, err := demo.Parse([]byte("[[scenario]]\n[[scenario.turn]]\nstatus = 402\nbody = '{}'\n"))
	if err != nil {
		t.Fatal(err)
	}
	broke := httptest.NewServer(demo.New(list...))
	t.Cleanup(broke.Close)
	d := setup(t, kerneltest.With(func(o *kernel.Options) {
		config := "[[providers]]\nid = \"broke\"\nname = \"Broke\"\nbase_url = \"" + broke.URL + "/v1\"\n"
		path := filepath.Join(o.Home, "config.toml")
		old, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(old, config...), 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	contains(t, "none yet", d.must(0, "providers", "fallbacks").err, "No model answers for another one")
	ask := []string{"run", "--provider", "broke", "--model", demo.ModelID, "Hello"}
	d.must(exitFailed, ask...)
	contains(t, "set", d.must(0, "providers", "fallbacks", "broke/"+demo.ModelID, "env/"+demo.ModelID).out, "broke/"+demo.ModelID, "env/"+demo.ModelID)
	r := d.must(0, ask...)
	contains(t, "what is told", r.err, "! "+demo.ModelID+" does not answer, so "+demo.ModelID+" of ", "no credit left")
	if all := decode[[]kernel.Fallbacks](t, d.must(0, "providers", "fallbacks", "--json").out); len(all) != 1 || len(all[0].Then) != 1 {
		t.Errorf("got %+v", all)
	}
	d.must(exitUsage, "providers", "fallbacks", "broke/x")
	d.must(exitUsage, "providers", "fallbacks", "--none")
	d.must(exitFailed, "providers", "fallbacks", "broke/x", "nobody/x")
	contains(t, "cleared", d.must(0, "providers", "fallbacks", "broke/"+demo.ModelID, "--none").err, "No model answers for another one")
	d.must(exitFailed, ask...)
}
