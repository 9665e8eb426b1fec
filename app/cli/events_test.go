package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"oxios/kernel"
)

func TestEventsAreListedAndFollowed(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.own()
	contains(t, "nothing of it", d.must(0, "events", "--kind", "nosuch").err, "Nothing has happened")
	run := decode[kernel.RunResult](t, d.must(0, "run", "--json", "hello").out).RunID
	list := decode[[]kernel.Event](t, d.must(0, "events", "--json", "--kind", "run.ended").out)
	if len(list) != 1 || list[0].RunID != run {
		t.Fatalf("got %+v, want the end of the run", list)
	}
	contains(t, "the list", d.must(0, "events", "--run", tail(run)).out, tail(run)+"  run.started", "run.ended  hello · done")

	var out buffer
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan result, 1)
	go func() {
		ended <- d.with(typing{ctx: ctx, out: &out}, "events", "--follow", "--json", "--kind", "memory")
	}()
	d.Until("what is remembered is told", func() bool {
		d.must(0, "memory", "add", "The kite is green.")
		return strings.Contains(out.String(), `"did":"stored"`)
	})
	interrupt()
	r := <-ended
	r.check(t, exitStopped, "events", "--follow")
	line, _, _ := strings.Cut(r.out, "\n")
	var e kernel.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Kind != "memory" {
		t.Errorf("got %q, %v; want one event a line", line, err)
	}
}
