package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// The scripted endpoint reports 2000 tokens in and 500 out for each call.
const countedScript = `
[[scenario]]
name = "count"
loop = true
[[scenario.turn]]
text  = "Counted."
usage = [2000, 500, 1000, 0]
chunk_ms = 1
`

// The same with a tool call first, so that a run makes two calls.
const twiceScript = `
[[scenario]]
name = "twice"
[[scenario.turn]]
usage = [2000, 500, 0, 0]
[[scenario.turn.call]]
tool = "ls"
args = '{}'
[[scenario.turn]]
text  = "Two things are there."
usage = [3000, 100, 0, 0]
`

// Prices of the model tariff-1: a dollar for a thousand calls of countedScript's
// input, to the token.
const prices = `
[[model]]
id = "tariff-1"
input = 2.0
cached_input = 1.0
output = 8.0
`

// paid opens a kernel whose model costs money.
func paid(t *testing.T, script, model, settings string, options ...kerneltest.Option) *kerneltest.Kernel {
	t.Helper()
	k := open(t, append(options, kerneltest.Script(script), kerneltest.With(func(o *kernel.Options) {
		url := o.Env("OXIOS_BASE_URL")
		o.Env = func(string) string { return "" }
		config, err := os.ReadFile(filepath.Join(o.Home, "config.toml"))
		if err != nil {
			t.Fatal(err)
		}
		// The endpoint is elsewhere, behind a proxy: what runs here is free.
		text := fmt.Sprintf("%sprovider = \"paid\"\nmodel = %q\n%s\n[[providers]]\nid = \"paid\"\nbase_url = \"http://models.test/v1\"\nproxy_url = %q\n",
			config, model, settings, strings.TrimSuffix(url, "/v1"))
		write(t, filepath.Join(o.Home, "config.toml"), text)
		write(t, filepath.Join(o.Home, "models.toml"), prices)
	}))...)
	k.Demo.Models = []string{model}
	return k
}

func usd(v float64) *float64 { return &v }
func count(v int64) *int64   { return &v }

func today(t *testing.T, k *kerneltest.Kernel) kernel.Cost {
	t.Helper()
	s, err := k.Person().Infra.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Today
}

func waitsForLimit(t *testing.T, k *kerneltest.Kernel, run string) kernel.Reached {
	t.Helper()
	var got kernel.Reached
	k.Until("run "+run+" waits for a limit", func() bool {
		s, err := k.Person().Infra.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Reached {
			if r.RunID == run {
				got = r
			}
		}
		return got.RunID != ""
	})
	return got
}

func state(t *testing.T, k *kerneltest.Kernel, run string) kernel.RunState {
	t.Helper()
	v, err := k.Person().Agents.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return v.Run.State
}

// Fifty runs at once under one budget that is enough for some of them: what the
// endpoint counted never exceeds the limit, and the ledger says what it counted.
func TestFiftyRunsNeverSpendMoreThanTheDayAllows(t *testing.T) {
	t.Parallel()
	const limit = 0.20 // a call costs 0.003 + 0.004 = 0.007
	k := paid(t, countedScript, "tariff-1", "day_usd = \"0.20\"\nmax_concurrent = 50\n")
	runs := make([]string, 50)
	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() {
			runs[i] = k.Say(fmt.Sprintf("Count %d", i), func(m *kernel.Submit) { m.Via = "terminal" }).RunID
		})
	}
	wg.Wait()
	var done, ended int
	for _, id := range runs {
		switch r := k.Wait(id); {
		case r.State == "done":
			done++
		case r.Error != nil && r.Error.Code == sys.CodeBudget:
			ended++
		default:
			t.Errorf("run %s: got %s, %v", id, r.State, r.Error)
		}
	}
	counted, cost := k.Demo.Counted(), today(t, k)
	if cost.Calls != counted.Calls || cost.Input != counted.Input || cost.Output != counted.Output {
		t.Errorf("the ledger says %+v, the endpoint counted %+v", cost, counted)
	}
	if cost.USD > limit+1e-9 || done != counted.Calls {
		t.Errorf("got $%v spent by %d calls and %d runs done, want at most $%v", cost.USD, counted.Calls, done, limit)
	}
	t.Logf("%d of 50 runs done with $%v of $%v; the endpoint counted %+v", done, cost.USD, limit, counted)
	// Little is left: the next call could have cost more than that.
	if left := limit - cost.USD; done == 0 || ended == 0 || left > 0.10 {
		t.Errorf("got %d done, %d ended by the limit and $%v left", done, ended, left)
	}
	view, err := k.Person().Infra.Costs(t.Context(), kernel.CostQuery{Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	var sum kernel.Cost
	for _, r := range view.Runs {
		sum = sum.Add(r.Cost)
	}
	if sum.Input != cost.Input || sum.Calls != cost.Calls || view.Total != cost || view.Stopped != ended {
		t.Errorf("costs: the runs come to %+v, the days to %+v, %d stopped; want %+v and %d", sum, view.Total, view.Stopped, cost, ended)
	}
	if want := float64(cost.Cached) / 1e6; view.Saved < want-1e-9 || view.Saved > want+1e-9 {
		t.Errorf("got $%v saved, want $%v", view.Saved, want)
	}
}

func TestRunThatReachesItsLimitWaitsAndGoesOnWhenItIsRaised(t *testing.T) {
	t.Parallel()
	k := paid(t, twiceScript, "tariff-1", "")
	run := k.Say("Look", func(m *kernel.Submit) { m.MaxUSD = usd(0.02) }).RunID
	first := waitsForLimit(t, k, run)
	if first.Scope != kernel.ScopeRun || first.Of != run || first.Kind != "usd" || first.Limit != 0.02 {
		t.Errorf("got %+v, want the run's own limit of money", first)
	}
	for _, want := range []string{"$0.02 a run", "Nothing more was sent"} {
		if !strings.Contains(first.Message, want) {
			t.Errorf("got %q, want %q in it", first.Message, want)
		}
	}
	if first.MessageKO == "" {
		t.Error("the sentence has no Korean")
	}
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{})
	if err != nil || len(list) != 1 || list[0].State != "waiting" || list[0].WaitingFor != first.Message {
		t.Errorf("ps: got %+v, %v", list, err)
	}
	before := k.Demo.Counted().Calls
	view, err := k.Person().Infra.SetBudget(t.Context(), kernel.BudgetChange{Scope: kernel.ScopeRun, RunID: run, Limits: kernel.Limits{USD: usd(5)}})
	if err != nil || len(view.Runs) != 1 || !view.Runs[0].Own {
		t.Fatalf("raise: got %+v, %v", view, err)
	}
	r := k.Wait(run)
	if r.State != "done" || r.Cost.Calls != 2 || k.Demo.Counted().Calls != 2 || before > 1 {
		t.Errorf("got %s after %d calls (%d before it was raised), want done after 2", r.State, r.Cost.Calls, before)
	}
	if s, err := k.Person().Infra.Status(t.Context()); err != nil || len(s.Reached) != 0 {
		t.Errorf("got %+v, want nobody waiting", s.Reached)
	}
}

func TestLimitOfZeroSendsNothingAndSaysSo(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		`day_usd = "0"`:    "The limit of $0.00 a day allows nothing. Nothing was sent.",
		`run_tokens = "0"`: "The limit of 0 tokens a run allows nothing. Nothing was sent.",
		`day_calls = "0"`:  "The limit of 0 model calls a day allows nothing. Nothing was sent.",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			k := paid(t, countedScript, "tariff-1", setting)
			r := k.Ask("Count", func(m *kernel.Submit) { m.Via = "terminal" })
			if r.State != "failed" || r.Error == nil || r.Error.Code != sys.CodeBudget || r.Error.Message != want || r.Error.Hint == "" || r.Error.MessageKO == "" {
				t.Errorf("got %s, %+v, want %q", r.State, r.Error, want)
			}
			if n := k.Demo.Served(); n != 0 {
				t.Errorf("the endpoint was asked %d times", n)
			}
			run := k.Say("Count again").RunID
			waitsForLimit(t, k, run)
			if _, err := k.Person().Agents.Kill(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			if got := state(t, k, run); got != "stopped" {
				t.Errorf("got %s after a kill, want stopped", got)
			}
		})
	}
}

func TestUnknownPriceUnderALimitOfMoneyIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	k := paid(t, countedScript, "nobody-knows", `day_usd = "5"`)
	r := k.Ask("Count")
	if r.State != "failed" || r.Error == nil || !strings.Contains(r.Error.Message, "price of nobody-knows is not known") || !strings.Contains(r.Error.Hint, "models.toml") {
		t.Errorf("got %s, %+v", r.State, r.Error)
	}
	if n := k.Demo.Served(); n != 0 {
		t.Errorf("the endpoint was asked %d times", n)
	}
}

func TestFreeModelIsNotHeldByALimitOfMoney(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(countedScript))
	if _, err := k.Person().Infra.SetBudget(t.Context(), kernel.BudgetChange{Scope: kernel.ScopeDay, Limits: kernel.Limits{USD: usd(0)}}); err != nil {
		t.Fatal(err)
	}
	if r := k.Ask("Count"); r.State != "done" {
		t.Errorf("got %s, %v", r.State, r.Error)
	}
}

func TestAccountAndWaitingRunSurviveARestart(t *testing.T) {
	t.Parallel()
	k := paid(t, twiceScript, "tariff-1", `day_calls = "1"`)
	run := k.Say("Look").RunID
	waitsForLimit(t, k, run)
	spent := today(t, k)
	k.Restart()
	if got := waitsForLimit(t, k, run); got.Kind != "calls" || got.Scope != kernel.ScopeDay {
		t.Errorf("got %+v", got)
	}
	if got := today(t, k); got != spent || got.Calls != 1 {
		t.Errorf("got %+v after the restart, %+v before", got, spent)
	}
	if got := k.Demo.Counted().Calls; got != 1 {
		t.Errorf("the endpoint was asked %d times", got)
	}
	k.Stop()
	// The person raises the limit in the file while nobody runs.
	path := filepath.Join(k.Home, "config.toml")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(raw), `day_calls = "1"`, `day_calls = "2"`, 1))
	k.Restart()
	if r := k.Wait(run); r.State != "done" || r.Cost.Calls != 2 {
		t.Errorf("got %s after %d calls, want done after 2", r.State, r.Cost.Calls)
	}
}

func TestLimitOfTokensHoldsForAnswersThatAreLong(t *testing.T) {
	t.Parallel()
	k := paid(t, `
[[scenario]]
name = "long"
[[scenario.turn]]
text = "`+strings.Repeat("long words ", 20_000)+`"
`, "tariff-1", "")
	if _, err := k.Person().Infra.SetBudget(t.Context(), kernel.BudgetChange{Scope: kernel.ScopeDay, Limits: kernel.Limits{Tokens: count(27_000)}}); err != nil {
		t.Fatal(err)
	}
	r := k.Ask("Tell", func(m *kernel.Submit) { m.Via = "terminal" })
	c := today(t, k)
	if got := c.Input + c.Output; got > 27_000 || got == 0 {
		t.Errorf("got %d tokens, want at most 27000", got)
	}
	if r.State != "failed" || r.Error == nil || r.Error.Code != sys.CodeBudget || r.Response == "" {
		t.Errorf("got %s, %+v with %d bytes, want what came and the limit as the reason", r.State, r.Error, len(r.Response))
	}
}

func TestServerThatCountsNothingIsCountedAtItsMost(t *testing.T) {
	t.Parallel()
	for what, says := range map[string]string{"no counts": "no_usage = true", "zeros": "usage = [0, 0, 0, 0]"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := paid(t, `
[[scenario]]
name = "silent"
any = ["Tell"]
[[scenario.turn]]
text = "Nobody counts this."
`+says+`
`, "tariff-1", `day_usd = "1"`)
			k.Ask("Tell")
			c := today(t, k)
			if c.Input == 0 || c.Output == 0 || c.USD == 0 || !c.Unknown {
				t.Fatalf("got %+v, want its bounds, marked unknown", c)
			}
			if _, err := k.Person().Infra.SetConfig(t.Context(), "day_usd", fmt.Sprint(c.USD)); err != nil {
				t.Fatal(err)
			}
			served := k.Demo.Served()
			again := k.Say("Tell more")
			waitsForLimit(t, k, again.RunID)
			if k.Demo.Served() != served {
				t.Error("the model was asked beyond the limit")
			}
		})
	}
}

func TestLimitsThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	k := open(t)
	for name, c := range map[string]kernel.BudgetChange{
		"negative money": {Scope: kernel.ScopeDay, Limits: kernel.Limits{USD: usd(-1)}},
		"negative count": {Scope: kernel.ScopeDay, Limits: kernel.Limits{Calls: count(-1)}},
		"other scope":    {Scope: "week"},
		"other run":      {Scope: kernel.ScopeRun, RunID: "none"},
	} {
		if _, err := k.Person().Infra.SetBudget(t.Context(), c); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for _, value := range []string{"-1", "five", "NaN", "Inf", "1e99"} {
		if _, err := k.Person().Infra.SetConfig(t.Context(), "day_usd", value); sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("day_usd = %q: got %v", value, err)
		}
	}
	if _, err := k.Agent("auto").Infra.SetBudget(t.Context(), kernel.BudgetChange{Scope: kernel.ScopeDay}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent set the budget: %v", err)
	}
}

func TestAgentSeesItsOwnRestAndOnlyWhileALimitHolds(t *testing.T) {
	t.Parallel()
	k := open(t)
	has := func(name string) bool {
		for _, tool := range k.Toolset(k.Agent("auto")).Tools {
			if tool.Name() == name {
				return true
			}
		}
		return false
	}
	if has("budget") || has("resource") {
		t.Error("an operator without a limit is offered budget or resource")
	}
	if _, err := k.Person().Infra.SetBudget(t.Context(), kernel.BudgetChange{Scope: kernel.ScopeDay, Limits: kernel.Limits{Calls: count(7)}}); err != nil {
		t.Fatal(err)
	}
	if !has("budget") {
		t.Error("budget is not offered while a limit holds")
	}
	k.Agent("auto")
	v, err := k.Agent("auto").Infra.Budget(t.Context())
	if err != nil || len(v.Runs) != 1 || *v.Day.Limits.Calls != 7 {
		t.Errorf("got %+v, %v, want its own run alone", v, err)
	}
	if _, err := k.Agent("auto").Infra.Resources(t.Context()); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an operator read the machine's load: %v", err)
	}
}

func TestLimitsOfTheDayHoldForTheWindowThatThePersonChose(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(inboxScript))
	p := k.Person()
	for _, wrong := range []string{"100", "-900", "1801", "9999999"} {
		if _, err := p.Infra.SetConfig(t.Context(), "window_secs", wrong); sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("got %v for %s, want it refused", err, wrong)
		}
	}
	if _, err := p.Infra.SetConfig(t.Context(), "window_secs", "1800"); err != nil {
		t.Fatal(err)
	}
	one := int64(1)
	v, err := p.Infra.SetBudget(t.Context(), kernel.BudgetChange{Scope: kernel.ScopeDay, Limits: kernel.Limits{Calls: &one}})
	if err != nil || v.Until.Sub(v.From) != 30*time.Minute || time.Now().Before(v.From) || !time.Now().Before(v.Until) {
		t.Errorf("got %s to %s, %v, want the half hour of now", v.From, v.Until, err)
	}
	if s, err := p.Infra.Status(t.Context()); err != nil || s.Window == nil || s.Window.Secs != 1800 {
		t.Errorf("got %+v, %v, want the window in the status", s.Window, err)
	}
}

func TestAReachedLimitNamesItsWindow(t *testing.T) {
	t.Parallel()
	for secs, want := range map[string]string{"900": "15 minutes", "3600": "1 hour", "21600": "6 hours", "172800": "48 hours"} {
		k := paid(t, countedScript, "tariff-1", "day_usd = \"0\"\nwindow_secs = "+secs)
		r := k.Ask("Count", func(m *kernel.Submit) { m.Via = "terminal" })
		if r.Error == nil || r.Error.Message != "The limit of $0.00 in "+want+" allows nothing. Nothing was sent." || strings.Contains(r.Error.Hint, "midnight") {
			t.Errorf("got %+v, want a limit in %s", r.Error, want)
		}
		waitsForLimit(t, k, k.Say("Count again").RunID)
		s, err := k.Person().Infra.Status(t.Context())
		if err != nil || len(s.Held) != 1 || !strings.Contains(s.Held[0].Hint, "begins anew at") {
			t.Errorf("got %+v, %v, want to hear when the window ends", s.Held, err)
		}
	}
}
