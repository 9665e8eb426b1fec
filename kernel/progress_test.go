package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/schedule"
	"oxios/kernel/sys"
)

// later is a clock that a test moves forward.
type later struct{ off atomic.Int64 }

func (l *later) now() time.Time       { return time.Now().Add(time.Duration(l.off.Load())) }
func (l *later) pass(d time.Duration) { l.off.Add(int64(d)) }

func TestCommandThatPrintsForTenMinutesKeepsItsRunAlive(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a shell":                               "for i in 1 2 3 4 5 6 7 8 9 10; do until [ -e go-$i ]; do sleep 0.01; done; echo minute $i; done",
		"on standard error, without a new line": "for i in 1 2 3 4 5 6 7 8 9 10; do until [ -e go-$i ]; do sleep 0.01; done; printf . >&2; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t, kerneltest.Script(taskScript))
			if !level(t, k).Contained() {
				t.Skip("every command asks where none is contained")
			}
			h := k.Agent("autonomous")
			clock := &later{}
			var dead atomic.Bool
			s := schedule.New(schedule.Config{Clock: clock.now, Dead: func(string) { dead.Store(true) }})
			slot, err := s.Acquire(t.Context(), "run", schedule.Normal)
			if err != nil {
				t.Fatal(err)
			}
			defer slot.Release()
			beats, ended := make(chan struct{}, 100), make(chan error, 1)
			ctx := sys.WithBeat(t.Context(), func() {
				slot.Beat()
				beats <- struct{}{}
			})
			go func() {
				res, err := h.Exec.Shell(ctx, kernel.ShellArgs{Command: line, TimeoutS: 3600})
				if err == nil && res.ExitCode != 0 {
					err = fmt.Errorf("it ended with %d: %s", res.ExitCode, res.Output)
				}
				ended <- err
				close(ended)
			}()
			for i := 1; i <= 10; i++ {
				clock.pass(time.Minute)
				if err := os.WriteFile(filepath.Join(k.Folder, fmt.Sprintf("go-%d", i)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				select {
				case <-beats:
				case err := <-ended:
					if i < 10 || err != nil {
						t.Fatalf("the command ended after minute %d: %v", i, err)
					}
				}
				s.Look()
			}
			if dead.Load() {
				t.Error("a command that printed every minute counts as dead")
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			clock.pass(6 * time.Minute)
			if s.Look(); !dead.Load() {
				t.Error("six silent minutes count as progress")
			}
		})
	}
}

// hangScript plays a model that begins to answer and never goes on.
const hangScript = `
[[scenario]]
[[scenario.turn]]
text = "I think about it "
hang = true
`

func TestRunWithoutProgressIsEndedAfterTheTimeThatIsSet(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(hangScript))
	set(t, k, "zombie_timeout_secs", "2")
	k.Restart()
	run := k.Say("think").RunID
	r := k.Wait(run)
	if r.State != "failed" || sys.CodeOf(r.Error) != sys.CodeTimeout || !strings.Contains(r.Error.Message, "2 seconds (zombie_timeout_secs)") {
		t.Errorf("got %s, %v, want a run that was ended because it hung", r.State, r.Error)
	}
}

func TestRunWithoutProgressIsLeftAloneBeforeFiveMinutes(t *testing.T) {
	t.Parallel()
	clock := &later{}
	k := open(t, kerneltest.Script(hangScript), kerneltest.With(func(o *kernel.Options) { o.Clock = clock.now }))
	run := k.Say("think").RunID
	k.Until("it has begun", func() bool {
		p, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{})
		return err == nil && len(p) == 1 && p[0].State == "running"
	})
	clock.pass(280 * time.Second)
	k.Look()
	if p, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{}); err != nil || len(p) != 1 {
		t.Fatalf("got %+v, %v, want it at work after 280 seconds", p, err)
	}
	clock.pass(21 * time.Second)
	k.Look()
	if r := k.Wait(run); r.State != "failed" {
		t.Errorf("got %s after 301 seconds, want it ended", r.State)
	}
}

// manyForks is one answer that asks for sixty agents.
func manyForks() string {
	var b strings.Builder
	b.WriteString("[[scenario]]\nmatch = \"^many\"\n[[scenario.turn]]\n")
	for i := range 60 {
		fmt.Fprintf(&b, "[[scenario.turn.call]]\ntool = \"agent\"\nargs = '{\"action\": \"fork\", \"name\": \"child %d\", \"goal\": \"part %d\"}'\n", i, i)
	}
	b.WriteString("[[scenario.turn]]\ntext = \"Forked.\"\n[[scenario]]\nmatch = \"^part\"\n[[scenario.turn]]\ntext = \"Did it.\"\n")
	return b.String()
}

func TestForksOfOneAnswerAreNeverMoreThanMaxChildren(t *testing.T) {
	t.Parallel()
	for range 3 {
		k := open(t, kerneltest.Script(manyForks()))
		set(t, k, "max_children", "5")
		set(t, k, "max_tool_concurrency", "60")
		r := k.Ask("many agents")
		list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true, SessionID: r.SessionID})
		if err != nil || len(list) != 6 {
			t.Errorf("got %d runs, %v, want one and the 5 that it may fork", len(list), err)
		}
	}
}

func TestRunIsMarkedAsPausedWhileAllArePaused(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(hangScript))
	h := k.Person().Agents
	if _, err := h.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	k.Say("think")
	k.Until("it is marked", func() bool {
		p, err := h.List(t.Context(), kernel.ProcessQuery{})
		return err == nil && len(p) == 1 && p[0].Paused && p[0].State == "paused"
	})
	if _, err := h.Pause(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	k.Until("it goes on", func() bool {
		p, err := h.List(t.Context(), kernel.ProcessQuery{})
		return err == nil && len(p) == 1 && !p[0].Paused && p[0].State == "running"
	})
}

func TestTimeOfARoleBoundsItsAgent(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(hangScript))
	setRole(t, k, kernel.Role{Name: "brief", Profile: "operator", MaxExecutionTimeSecs: 1})
	r := k.Ask("think", func(m *kernel.Submit) { m.Role = "brief" })
	if r.State != "failed" || sys.CodeOf(r.Error) != sys.CodeTimeout || !strings.Contains(r.Error.Message, "role brief") {
		t.Errorf("got %s, %v, want the run ended by the time of its role", r.State, r.Error)
	}
}
