package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
	"oxios/kernel/kerneltest/disk"
	"oxios/kernel/sys"
	"oxios/kernel/tools"
)

// powerScript changes a file that is there and makes two.
const powerScript = `
[[scenario]]
match = "^begin"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "was.txt", "content": "the agent wrote this\n"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "new/made.txt", "content": "made\n"}'
[[scenario.turn.call]]
tool = "edit"
args = '{"path": "was.txt", "old": "agent", "new": "agent itself"}'
[[scenario.turn]]
text = "All is done."
`

const (
	powerBefore = "the person wrote this\n"
	powerAfter  = "the agent itself wrote this\n"
)

// house is one Oxios whose disk may lose its power or fail.
type house struct{ home, folder, state, url, helper string }

func (h house) options() kernel.Options {
	return kernel.Options{
		Home: h.home, Helper: h.helper, Version: "test", Tools: tools.New, Catalogue: tools.Catalogue(), NoDiscovery: true, Sleep: &bed{}, Log: slog.New(slog.DiscardHandler),
		LoginEnv: func(context.Context) ([]string, error) { return os.Environ(), nil },
		Env: func(name string) string {
			return map[string]string{"OXIOS_BASE_URL": h.url, "OXIOS_API_KEY": "test-key-0123456789", "OXIOS_MODEL": kerneltest.Model, "XDG_STATE_HOME": h.state}[name]
		},
	}
}

// life is a kernel that runs, and its person.
type life struct {
	*kernel.Handle
	k    *kernel.Kernel
	stop func() error
}

func (h house) live() (*life, error) {
	k, err := kernel.Open(context.Background(), h.options())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	stop := func() error {
		cancel()
		if err := <-ended; err != nil {
			return err
		}
		return k.Close()
	}
	select {
	case <-k.Ready():
	case err := <-ended:
		ended <- err
		return nil, stop()
	}
	return &life{k.As(sys.Person("test")), k, stop}, nil
}

func init() { powered = poweredLife } //nolint:gochecknoinits // only this platform has it

// poweredLife does some of everything, and says what was acknowledged.
func poweredLife() {
	env := func(name string) string { return os.Getenv("OXIOS_POWER_" + name) }
	if env("FAILS") != "" {
		failingLife(house{env("HOME"), env("FOLDER"), env("STATE"), env("URL"), env("HELPER")}, env("FAILS") == "long")
	}
	h := house{env("HOME"), env("FOLDER"), env("STATE"), env("URL"), env("HELPER")}
	if run := env("UNDO"); run != "" {
		undoingLife(h, run)
	}
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "the life failed:", err)
			os.Exit(1)
		}
	}
	say := func(format string, args ...any) {
		_, err := os.Stdout.WriteString(fmt.Sprintf(format, args...))
		must(err)
	}
	l, err := h.live()
	must(err)
	chain := func() {
		s, err := l.Security.AuditState(ctx)
		must(err)
		say("audit %d %d", s.First, s.Last)
	}
	set := func(n int) {
		_, err := l.Infra.SetConfig(ctx, "max_depth", fmt.Sprint(n))
		must(err)
		say("depth %d", n)
	}
	set(5)
	set(6)
	chain()
	s, err := l.Agents.Submit(ctx, kernel.Submit{Text: "begin", Mode: "autonomous"})
	must(err)
	say("run %s", s.RunID)
	r, err := l.Agents.Wait(ctx, s.RunID)
	must(err)
	if r.State != "done" {
		must(fmt.Errorf("the run ended %s: %s", r.State, r.Response))
	}
	say("done %s", s.RunID)
	chain()
	for _, redo := range []bool{false, true} {
		plan, err := l.Agents.UndoPreview(ctx, kernel.UndoQuery{RunID: s.RunID, Redo: redo})
		must(err)
		how := l.Agents.Undo
		if redo {
			how = l.Agents.Redo
		}
		_, err = how(ctx, kernel.UndoInput{RunID: s.RunID, Hash: plan.Hash})
		must(err)
		chain()
	}
	cut, err := l.Security.AuditCut(ctx, time.Now().Add(time.Hour))
	must(err)
	_, err = l.Security.PruneAudit(ctx, cut.Through-4)
	must(err)
	chain()
	set(7)
	must(l.stop())
	os.Exit(0)
}

// newHouse has a file in its folder that the agent will change.
func newHouse(t *testing.T) house {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := demo.Parse([]byte(powerScript))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(demo.New(scenarios...))
	t.Cleanup(server.Close)
	h := house{home: filepath.Join(base, "home"), folder: filepath.Join(base, "folder"), state: filepath.Join(base, "state"), url: server.URL + "/v1", helper: kerneltest.Helper(t)}
	for _, dir := range h.dirs() {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(h.home, "config.toml"), fmt.Sprintf("folder = %q\nkeyring = false\n", h.folder))
	write(t, filepath.Join(h.folder, "was.txt"), powerBefore)
	return h
}

func (h house) dirs() []string { return []string{h.home, h.folder, h.state} }

func (h house) disk(t *testing.T) *disk.Disk {
	t.Helper()
	d, err := disk.New(h.dirs()...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (h house) command(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) // it is waited for as a tracer does, not by Wait
	cmd.Env = append(os.Environ(), "OXIOS_POWER_HOME="+h.home, "OXIOS_POWER_FOLDER="+h.folder, "OXIOS_POWER_STATE="+h.state, "OXIOS_POWER_URL="+h.url, "OXIOS_POWER_HELPER="+h.helper)
	cmd.Stderr = os.Stderr
	return cmd
}

// acknowledged is what a life had said before its power went.
type acknowledged struct {
	depth       int // the setting that was acknowledged
	first, last int64
	run         string
	done        bool
}

func (a *acknowledged) hear(t *testing.T, mark string) {
	t.Helper()
	var err error
	switch what, rest, _ := strings.Cut(mark, " "); what {
	case "depth":
		_, err = fmt.Sscan(rest, &a.depth)
	case "audit":
		_, err = fmt.Sscan(rest, &a.first, &a.last)
	case "run":
		a.run = rest
	case "done":
		a.done = true
	}
	if err != nil {
		t.Fatalf("%q: %v", mark, err)
	}
}

// holds opens what a power cut has left, and wants everything there that was
// acknowledged.
func (h house) holds(t *testing.T, a acknowledged, where string) {
	t.Helper()
	l, err := h.live()
	if err != nil {
		t.Errorf("%s: it does not open: %v", where, err)
		return
	}
	defer func() {
		if err := l.stop(); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}()
	ctx := t.Context()
	if r, err := l.Security.VerifyAudit(ctx); err != nil || !r.OK {
		t.Errorf("%s: the audit chain: %+v, %v", where, r, err)
	}
	if s, err := l.Security.AuditState(ctx); err != nil || s.Last < a.last || s.First < a.first {
		t.Errorf("%s: the audit chain holds %d to %d, %v, want at least what was acknowledged: %d to %d", where, s.First, s.Last, err, a.first, a.last)
	}
	c, err := l.Infra.Config(ctx)
	var depth int
	if err == nil {
		_, err = fmt.Sscan(c.Values["max_depth"], &depth)
	}
	if err != nil || c.Problem != nil || depth < a.depth {
		t.Errorf("%s: got the setting %d, %v, %v, want %d", where, depth, c.Problem, err, a.depth)
	}
	if a.run == "" {
		return
	}
	r, err := l.Agents.Wait(ctx, a.run)
	if err != nil || r.State != "done" && a.done {
		t.Errorf("%s: got the run %+v, %v", where, r, err)
		return
	}
	// Whatever was going on: what the person had written can be brought back.
	for _, redo := range []bool{true, false, true, false} {
		if plan, err := l.goBack(ctx, a.run, redo); err != nil {
			t.Errorf("%s: got %+v, %v", where, plan, err)
		}
		if a.done {
			h.has(t, redo, where)
		}
	}
	h.has(t, false, where)
}

// goBack undoes or redoes all of a run, also what is in conflict.
func (l *life) goBack(ctx context.Context, run string, redo bool) (kernel.UndoPlan, error) {
	plan, err := l.Agents.UndoPreview(ctx, kernel.UndoQuery{RunID: run, Redo: redo})
	if err != nil {
		return plan, err
	}
	in := kernel.UndoInput{RunID: run, Hash: plan.Hash}
	for _, f := range plan.Files {
		if f.Forces {
			in.Force = append(in.Force, f.Path)
		}
	}
	if plan.Impossible > 0 {
		return plan, errors.New("not all of it is possible")
	}
	if redo {
		return l.Agents.Redo(ctx, in)
	}
	return l.Agents.Undo(ctx, in)
}

// has wants the files as the agent left them, or as the person had them.
func (h house) has(t *testing.T, agents bool, where string) {
	t.Helper()
	was, want := powerBefore, ""
	if agents {
		was, want = powerAfter, "made\n"
	}
	for name, want := range map[string]string{"was.txt": was, filepath.Join("new", "made.txt"): want} {
		got, err := os.ReadFile(filepath.Join(h.folder, name))
		if err != nil && want != "" || string(got) != want {
			t.Errorf("%s: %s holds %q, %v, want %q", where, name, got, err, want)
		}
	}
}

func TestAPowerCutAtAnyMomentLosesNothingThatWasAcknowledged(t *testing.T) {
	h := newHouse(t)
	d, check := h.disk(t), h.disk(t)
	ops, err := disk.Run(h.command(t), disk.Watch{Dirs: h.dirs()})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range ops {
		check.Apply(o)
	}
	if missed := check.Killed().Unlike(h.disk(t).Killed()); len(missed) > 0 {
		t.Fatalf("what was done to %v was not seen", missed)
	}
	counts := map[disk.Kind]int{}
	for _, o := range ops {
		counts[o.Kind]++
	}
	t.Logf("%d operations: %v", len(ops), counts)
	if os.Getenv("OXIOS_POWER_SHOW") != "" {
		for i, o := range ops {
			t.Logf("%d %s", i, o)
		}
	}
	every := kerneltest.Many(1, 90)
	var a acknowledged
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same cuts each time
	seen := map[uint64]bool{}
	tried, began := 0, time.Now()
	for i, o := range ops {
		d.Apply(o)
		if o.Kind == disk.Mark {
			a.hear(t, string(o.Data))
		}
		states := []struct {
			name string
			disk.State
		}{{"all that was not flushed is gone", d.Flushed()}, {"names without contents", d.Named()}, {"killed", d.Killed()}, {"torn", d.Torn(random)}}
		for n, s := range states {
			if seen[s.Sum()] || (i+n)%every != 0 && o.Kind != disk.Mark {
				continue
			}
			seen[s.Sum()] = true
			tried++
			if err := s.Put(h.dirs()...); err != nil {
				t.Fatal(err)
			}
			h.holds(t, a, fmt.Sprintf("after operation %d (%s), %s", i, o, s.name))
			if t.Failed() {
				return // one is enough to look at
			}
		}
	}
	t.Logf("%d states of the disk in %s", tried, time.Since(began).Round(time.Millisecond))
}
