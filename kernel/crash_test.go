//go:build unix

package kernel_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
	"oxios/kernel/tools"
)

// crashScript is a run of 26 steps that forks two of 9: each command leaves a
// word of its own in log.txt, and some of them wait for a person.
const crashScript = `
[[scenario]]
match = "^begin"
[[scenario.turn]]
repeat = 5
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo root-{{n}} >> log.txt"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "a", "goal": "child a"}'
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "b", "goal": "child b"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo root-asks >> log.txt", "network": true}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
repeat = 3
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo root-{{n}} >> log.txt"}'
[[scenario.turn.call]]
tool = "ls"
args = '{}'
[[scenario.turn]]
text = "All is done."

[[scenario]]
match = "^child (.)"
[[scenario.turn]]
repeat = 3
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo {{1}}-{{n}} >> log.txt"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo {{1}}-asks >> log.txt", "network": true}'
[[scenario.turn]]
text = "The child is done."
`

var crashWords = []string{
	"root-1", "root-2", "root-3", "root-4", "root-5", "root-asks", "root-9", "root-10", "root-11",
	"a-1", "a-2", "a-3", "a-asks", "b-1", "b-2", "b-3", "b-asks",
}

// crashing is the life of one Oxios: it begins the run or goes on with it,
// approves what it asks, and is killed at a commit or ends with the run.
func crashing() {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "the life failed:", err)
			os.Exit(1)
		}
	}
	env := func(name string) string { return os.Getenv("OXIOS_CRASH_" + name) }
	left, err := strconv.ParseInt(env("COMMITS"), 10, 64)
	fail(err)
	var commits atomic.Int64
	ctx := context.Background()
	k, err := kernel.Open(ctx, kernel.Options{
		Home: env("HOME"), Helper: env("HELPER"), Version: "test", Tools: tools.New, Catalogue: tools.Catalogue(), NoDiscovery: true, Sleep: &bed{},
		LoginEnv: func(context.Context) ([]string, error) { return os.Environ(), nil },
		Env: func(name string) string {
			return map[string]string{"OXIOS_BASE_URL": env("URL"), "OXIOS_API_KEY": "test-key-0123456789", "OXIOS_MODEL": kerneltest.Model}[name]
		},
		Durable: func() {
			if n := commits.Add(1); left > 0 && n >= left {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // nothing more happens in this process
			}
		},
	})
	fail(err)
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		fail(k.Run(running))
		close(ended)
	}()
	<-k.Ready()
	h := k.As(sys.Person("test"))
	all, err := h.Agents.List(ctx, kernel.ProcessQuery{All: true})
	fail(err)
	if len(all) == 0 {
		_, err = h.Agents.Submit(ctx, kernel.Submit{Text: "begin", Mode: "autonomous"})
		fail(err)
	}
	for {
		open, err := h.Agents.List(ctx, kernel.ProcessQuery{})
		fail(err)
		if len(open) == 0 {
			break
		}
		waiting, err := h.Security.Approvals(ctx, kernel.ApprovalQuery{State: "pending"})
		fail(err)
		for _, a := range waiting {
			var err error
			if len(a.Request.Questions) > 0 {
				_, err = h.Agents.Answer(ctx, kernel.AnswerInput{RunID: a.Request.RunID, ApprovalID: a.ID, Answers: []string{"blue"}})
			} else {
				_, err = h.Security.Approve(ctx, a.ID, kernel.ApproveInput{Hash: a.Request.Hash})
			}
			if code := sys.CodeOf(err); code != sys.CodeConflict && code != sys.CodeNotFound {
				fail(err)
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	stop()
	<-ended // what Run does last must not meet a closed database
	fail(k.Close())
	fmt.Println(commits.Load())
	os.Exit(0)
}

// place is where one run lives through its crashes.
type place struct {
	home, folder, url, helper string
}

func (p place) live(t *testing.T, commits int) (killed bool, did int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), "OXIOS_CRASH_HOME="+p.home, "OXIOS_CRASH_URL="+p.url, "OXIOS_CRASH_HELPER="+p.helper, fmt.Sprintf("OXIOS_CRASH_COMMITS=%d", commits))
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL && ctx.Err() == nil {
		return true, commits
	}
	if err != nil {
		t.Fatalf("a life after %d commits: %v\n%s%s", commits, err, out, said.String())
	}
	did, err = strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return false, did
}

// holds checks what three crashes have left: each command ran once, or it is
// told that nobody knows.
func (p place) holds(t *testing.T, lives []int) (unknown int) {
	t.Helper()
	k := open(t, kerneltest.At(p.home, p.folder), kerneltest.NotRunning())
	text, _ := os.ReadFile(filepath.Join(p.folder, "log.txt"))
	did := strings.Fields(string(text))
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]kernel.StepView{}
	names := []string{}
	for _, r := range list {
		names = append(names, r.Name)
		if r.State != "done" {
			t.Errorf("killed at %v: %s ended %s (%s)", lives, r.Name, r.State, r.EndReason)
		}
		v, err := k.Person().Agents.Run(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range v.Steps {
			for _, w := range crashWords {
				if s.Kind == "tool" && strings.Contains(string(s.Args), "echo "+w+" ") {
					if _, twice := told[w]; twice {
						t.Errorf("killed at %v: the step of %s stands twice in the journal", lives, w)
					}
					told[w] = s
				}
			}
		}
	}
	slices.Sort(names)
	if want := []string{"a", "b", "begin"}; !slices.Equal(names, want) {
		t.Errorf("killed at %v: got the runs %q, want %q", lives, names, want)
	}
	for _, w := range crashWords {
		n := 0
		for _, d := range did {
			if d == w {
				n++
			}
		}
		switch s := told[w]; {
		case s.Outcome == "ok" && n == 1:
		case s.Outcome == "unknown" && n <= 1 && strings.Contains(s.Output, "It is not known whether this step ran"):
			unknown++
		default:
			t.Errorf("killed at %v: %s was done %d times and is told as %q: %s", lives, w, n, s.Outcome, s.Output)
		}
	}
	if left, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"}); err != nil || len(left) != 0 {
		t.Errorf("killed at %v: %d requests are left, %v", lives, len(left), err)
	}
	if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !r.OK {
		t.Errorf("killed at %v: the audit chain: %+v, %v", lives, r, err)
	}
	return unknown
}

// places returns what makes a place for a run that plays scenarios.
func places(t *testing.T, scenarios []demo.Scenario) func(*testing.T) place {
	t.Helper()
	server := httptest.NewServer(demo.New(scenarios...))
	t.Cleanup(server.Close)
	helper := kerneltest.Helper(t)
	return func(t *testing.T) place {
		p := place{home: filepath.Join(t.TempDir(), "home"), folder: t.TempDir(), url: server.URL + "/v1", helper: helper}
		if err := os.MkdirAll(p.home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.home, "config.toml"), fmt.Appendf(nil, "folder = %q\nkeyring = false\n", p.folder), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// Each round kills Oxios three times, each time right after a commit: a run is
// put down for good after the third crash in a row.
func TestAKillAtAnyCommitLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	rounds := kerneltest.Many(75, 6)
	scenarios, err := demo.Parse([]byte(crashScript))
	if err != nil {
		t.Fatal(err)
	}
	where := places(t, scenarios)
	whole := where(t)
	_, commits := whole.live(t, 0)
	whole.holds(t, nil)
	var kills, unknown atomic.Int64
	t.Run("rounds", func(t *testing.T) {
		for i := range rounds {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				p := where(t)
				// Every boundary of the first life is met, spread over the rounds; the later ones come soon after a start.
				lives := []int{8 + i*(commits-8)/rounds, 4 + i%13, 4 + i*7%29, 0}
				for _, n := range lives {
					killed, _ := p.live(t, n)
					if !killed {
						break
					}
					kills.Add(1)
				}
				unknown.Add(int64(p.holds(t, lives)))
			})
		}
	})
	t.Logf("%d kills at commits of a run with %d: nothing was lost or done twice, %d commands are told as unknown", kills.Load(), commits, unknown.Load())
}
