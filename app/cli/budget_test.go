package cli

import (
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const countsTokens = `
[[scenario]]
loop = true
[[scenario.turn]]
text  = "Counted."
usage = [2000, 500, 0, 0]
`

func TestBudgetIsSetShownAndKept(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(countsTokens))
	d.must(0, "budget", "set", "day", "--calls", "1", "--usd", "5")
	d.must(0, "run", "Count")
	r := d.must(1, "run", "Count again")
	contains(t, "stderr", r.err, "The limit of 1 model call a day is reached", "oxios budget set day")
	contains(t, "stdout", d.must(0, "budget", "show").out, "1 of 1", "$0.0000 of $5")
	d.must(0, "budget", "set", "day", "--calls", "none")
	v := decode[kernel.BudgetView](t, d.must(0, "budget", "show", "--json").out)
	if v.Day.Limits.Calls != nil || v.Day.Limits.USD == nil || *v.Day.Limits.USD != 5 || v.Day.Used.Calls != 1 {
		t.Errorf("got %+v, want the limit of calls lifted and that of money kept", v.Day)
	}
	d.must(0, "run", "Count once more")
	c := decode[kernel.CostView](t, d.must(0, "cost", "--json").out)
	if c.Total.Calls != 2 || len(c.Runs) != 2 || c.Days[13].Input != 4000 {
		t.Errorf("got %+v", c)
	}
	contains(t, "stdout", d.must(0, "cost").out, "Count once more", "5000", "free")
	d.must(0, "config", "set", "window_secs", "3600")
	if out := d.must(0, "budget", "show").out; strings.Contains(out, "a day") || !strings.Contains(out, "until 2") {
		t.Errorf("got %q, want the end of the window", out)
	}
}

func TestRunInTheBackgroundWaitsForALimitAndSaysWhatRaisesIt(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(countsTokens))
	stop := d.own()
	defer stop()
	d.must(0, "budget", "set", "day", "--calls", "0")
	sent := decode[kernel.Submitted](t, d.must(0, "run", "--background", "--json", "Count").out)
	d.Until("it waits", func() bool { return len(decode[kernel.Inbox](t, d.must(0, "inbox", "--json").out).Held) == 1 })
	r := d.must(0, "inbox")
	contains(t, "the inbox", r.out, "limit reached", "Count", "allows nothing")
	contains(t, "what raises it", r.err, "`oxios budget set day --calls 2`")
	follow := func(args ...string) (<-chan result, *buffer) {
		said, ended := &buffer{}, make(chan result, 1)
		go func() { ended <- d.with(typing{err: said}, args...) }()
		return ended, said
	}
	waited, waits := follow("wait", sent.RunID)
	joined, joins := follow("run", "--session", sent.SessionID, "And once more")
	for _, said := range []*buffer{waits, joins} {
		d.Until("the terminal says what it waits for", func() bool {
			return strings.Contains(said.String(), "waits: The limit of 0 model calls a day") && strings.Contains(said.String(), "`oxios budget set day --calls 2`")
		})
	}
	d.must(0, "budget", "set", "day", "--calls", "2")
	contains(t, "stdout of wait", (<-waited).out, "Counted.")
	contains(t, "stdout of run", (<-joined).out, "Counted.")
	if list := decode[kernel.Inbox](t, d.must(0, "inbox", "--json").out).Held; len(list) != 0 {
		t.Errorf("got %+v, want it gone", list)
	}
}

func TestMaxCostEndsTheRunWithItsReason(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(countsTokens))
	// The scripted model is free, so that no amount of money holds it.
	d.must(0, "run", "--max-cost", "0", "Count")
	contains(t, "stderr", d.must(1, "run", "--max-cost", "-1", "Count").err, "no amount")
}

func TestLimitsThatAreNoneAreUsageErrors(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "stderr", d.must(2, "budget", "set", "day").err, "No limit is named")
	contains(t, "stderr", d.must(2, "budget", "set", "day", "--usd", "much").err, "is no limit")
	contains(t, "stderr", d.must(1, "budget", "set", "day", "--usd", "-1").err, "Nothing was changed")
	d.must(2, "cost", "--days", "0")
}

func TestResourcesShowTheMachine(t *testing.T) {
	t.Parallel()
	d := setup(t)
	v := decode[kernel.ResourceView](t, d.must(0, "resources", "--json").out)
	if v.Now.MemoryTotal == 0 || v.Now.DiskFree == 0 || len(v.History) == 0 {
		t.Errorf("got %+v", v)
	}
	contains(t, "stdout", d.must(0, "resources").out, "processors", "memory free")
}
