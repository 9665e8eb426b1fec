package cli

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const agentsScript = `
[[scenario]]
match = "^team"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "helper", "goal": "part"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "Joined: {{result}}"

[[scenario]]
match = "^part"
[[scenario.turn]]
text = "I think"
hang = true

[[scenario]]
match = "^quick"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "a.txt", "content": "a"}'
[[scenario.turn]]
text = "Written."
`

func TestAgentsAreSeenPausedToldWaitedForAndStoppedFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(agentsScript))
	contains(t, "in the background without an owner", d.must(exitFailed, "run", "--background", "team").err, "nobody would go on", "oxios serve")
	stop := d.own()
	defer stop()
	sent := decode[kernel.Submitted](t, d.must(0, "run", "--background", "--json", "team").out)
	var tree string
	d.Until("the helper works below its parent", func() bool {
		tree = d.must(0, "ps", "--tree").out
		return strings.Contains(tree, "  helper") && strings.Contains(tree, "Wait for other agents")
	})
	if p, c := strings.Index(tree, "team"), strings.Index(tree, "  helper"); p < 0 || c < p {
		t.Errorf("got the tree\n%s", tree)
	}
	list := decode[[]kernel.Process](t, d.must(0, "ps", "--json").out)
	if len(list) != 2 {
		t.Fatalf("got %+v, want two agents", list)
	}
	contains(t, "pause", d.must(0, "pause", sent.RunID).out, "is paused")
	contains(t, "paused", d.must(0, "ps").out, "paused")
	contains(t, "resume", d.must(0, "resume", sent.RunID).out, "goes on")
	contains(t, "pause all", d.must(0, "pause").out, "All agents are paused")
	contains(t, "resume all", d.must(0, "resume").out, "Agents go on")
	helper := list[0]
	if helper.ParentID == "" {
		helper = list[1]
	}
	contains(t, "message", d.must(0, "message", helper.ID, "use", "blue").out, "reads it before its next step")
	contains(t, "a message to nobody", d.must(exitFailed, "message", "99999", "x").err, "oxios ps")
	contains(t, "kill", d.must(0, "kill", sent.RunID).out, "with 1 below it")
	contains(t, "wait", d.must(exitFailed, "wait", sent.RunID).err, "stopped")
	contains(t, "pause what has ended", d.must(exitFailed, "pause", sent.RunID).err, "nothing to pause")

	quick := decode[kernel.Submitted](t, d.must(0, "run", "--background", "--json", "quick").out)
	contains(t, "wait for an answer", d.must(0, "wait", quick.RunID).out, "Written.")
	if r := decode[kernel.RunResult](t, d.must(0, "wait", "--json", quick.RunID).out); r.State != "done" {
		t.Errorf("got %+v", r)
	}
	contains(t, "the list of runs", d.must(0, "runs", "list").out, "quick", "done", "stopped")
	contains(t, "one run", d.must(0, "runs", "show", quick.RunID).out, "Wrote a.txt", "asks ", "changed")
	contains(t, "resume an old one", d.must(0, "runs", "resume", sent.RunID).out, "goes on")

	contains(t, "replay", d.must(0, "replay", quick.RunID).err, "The loop came to the same.")
	policy := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(policy, []byte("mode = \"ask\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, "replay under a policy", d.must(0, "replay", quick.RunID, "--policy", policy).out, "Wrote a.txt", "free", "ask")
	if err := os.WriteFile(policy, []byte("moode = \"ask\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, "a policy with a mistake", d.must(exitUsage, "replay", quick.RunID, "--policy", policy).err, "not understood")
}

func TestRunsAreListedByTimeAndPageAfterPage(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	d := setup(t, kerneltest.Script(inboxScript), kerneltest.With(func(o *kernel.Options) {
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	}))
	later.Store(int64(-40 * 24 * time.Hour))
	d.must(0, "run", "the old one")
	later.Store(0)
	d.must(0, "run", "the first")
	d.must(0, "run", "the second")
	names := func(args ...string) string {
		var out []string
		for _, p := range decode[[]kernel.Process](t, d.must(0, append([]string{"runs", "list", "--json"}, args...)...).out) {
			out = append(out, p.Name)
		}
		return strings.Join(out, ", ")
	}
	for args, want := range map[string]string{
		"":                   "the second, the first, the old one",
		"--limit 2":          "the second, the first",
		"--since 30d":        "the second, the first",
		"--since 1000h":      "the second, the first, the old one",
		"--since 2000-01-02": "the second, the first, the old one",
		"--all":              "the second, the first, the old one",
	} {
		if got := names(strings.Fields(args)...); got != want {
			t.Errorf("runs list %s: got %q, want %q", args, got, want)
		}
	}
	contains(t, "no time", d.must(exitUsage, "runs", "list", "--since", "lately").err, "is no time", "30d")
	contains(t, "no number", d.must(exitUsage, "runs", "list", "--limit", "0").err, "--all")
	stop := d.own()
	defer stop()
	l, err := remote.Dial(t.Context(), d.Home)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var pages []string
	for q := (kernel.ProcessQuery{All: true, Limit: 1}); ; {
		page, err := l.Handle().Agents.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		pages, q.Before = append(pages, page[0].Name), page[0].PID
	}
	if got := strings.Join(pages, ", "); got != "the second, the first, the old one" {
		t.Errorf("got %q page after page", got)
	}
}
