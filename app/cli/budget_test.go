package cli

import (
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
