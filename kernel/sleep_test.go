package kernel_test

import (
	"errors"
	"sync"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// bed counts who holds the computer awake.
type bed struct {
	broken error

	mu          sync.Mutex
	held, taken int
}

func (b *bed) Hold(string) (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken++
	if b.broken != nil {
		return nil, b.broken
	}
	b.held++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.held--
	}, nil
}

func (b *bed) Check() error { return b.broken }

func (b *bed) is(held, taken int) func() bool {
	return func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.held == held && b.taken == taken
	}
}

const busyScript = `
[[scenario]]
match = "^team"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "child", "goal": "write child"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "All is written."

[[scenario]]
match = "^write (\\S+)"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "{{1}}.txt", "content": "x"}'
[[scenario.turn]]
text = "It is written."

[[scenario]]
match = "^hang"
[[scenario.turn]]
text = "I hang"
hang = true
`

func sleeper(t *testing.T, b *bed) *kerneltest.Kernel {
	t.Helper()
	return open(t, kerneltest.Script(busyScript), kerneltest.With(func(o *kernel.Options) { o.Sleep = b }))
}

func TestSleepIsHeldOffOnceWhileRunsWork(t *testing.T) {
	t.Parallel()
	b := &bed{}
	k := sleeper(t, b)
	one, two := k.Say("hang on"), k.Say("hang about")
	k.Until("both are asked", func() bool { return asking(k) == 2 })
	k.Until("it is held once", b.is(1, 1))
	for _, r := range []kernel.Submitted{one, two} {
		if !b.is(1, 1)() {
			t.Error("it is not held once while one works")
		}
		if _, err := k.Person().Agents.Kill(t.Context(), r.RunID); err != nil {
			t.Fatal(err)
		}
	}
	k.Until("it is given back", b.is(0, 1))
}

func TestARunThatWaitsForAPersonLetsTheComputerSleep(t *testing.T) {
	t.Parallel()
	b := &bed{}
	k := sleeper(t, b)
	out := k.Say("team up", func(m *kernel.Submit) { m.Mode = "ask" })
	var child string
	k.Until("the child asks", func() bool {
		for _, p := range processes(t, k, kernel.ProcessQuery{}) {
			if p.Name == "child" && p.State == "waiting" {
				child = p.ID
			}
		}
		return child != ""
	})
	k.Until("it may sleep, though the parent waits for its child", b.is(0, 1))
	pass(t, k, child)
	if r := k.Wait(out.RunID); r.State != "done" {
		t.Fatalf("got %+v", r)
	}
	k.Until("it was held again, and given back", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.held == 0 && b.taken > 1
	})
}

func TestThePersonLetsTheComputerSleepOrPausesTheRuns(t *testing.T) {
	t.Parallel()
	b := &bed{}
	k := sleeper(t, b)
	if _, err := k.Person().Infra.SetConfig(t.Context(), "keep_awake", "false"); err != nil {
		t.Fatal(err)
	}
	k.Say("hang on")
	k.Until("it is asked", func() bool { return asking(k) == 1 })
	if !b.is(0, 0)() {
		t.Error("it is held though the person turned that off")
	}
	if _, err := k.Person().Infra.SetConfig(t.Context(), "keep_awake", "true"); err != nil {
		t.Fatal(err)
	}
	k.Until("it is held", b.is(1, 1))
	if _, err := k.Person().Agents.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	k.Until("it may sleep while all is paused", b.is(0, 1))
	if _, err := k.Person().Agents.Pause(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	k.Until("it is held again", b.is(1, 2))
	k.Stop()
	if !b.is(0, 2)() {
		t.Error("it is held after the end")
	}
}

func TestASystemThatLetsNobodyHoldOffSleepIsAskedOnceAndTold(t *testing.T) {
	t.Parallel()
	b := &bed{broken: errors.New("no bus")}
	k := sleeper(t, b)
	if r := k.Ask("write a"); r.State != "done" {
		t.Fatalf("got %+v", r)
	}
	k.Until("it was asked once", b.is(0, 1))
	r, err := k.Person().Infra.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if c.Name == "sleep" && (c.State != "warn" || c.Detail.EN != "no bus") {
			t.Errorf("the doctor says %+v", c)
		}
	}
}
