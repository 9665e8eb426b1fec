package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// teamScript plays an agent that forks two others, waits for both and joins what
// they say, and the two.
const teamScript = `
[[scenario]]
match = "^team"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "writer", "goal": "part one: write a note"}'
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "failer", "goal": "part two: break"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "Joined: {{result}}"

[[scenario]]
match = "^part one"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "note.txt", "content": "from a fork\n"}'
[[scenario.turn]]
text = "The note is written."

[[scenario]]
match = "^part two"
[[scenario.turn]]
status = 400
body = '{"error": {"message": "this one breaks"}}'

[[scenario]]
match = "^endless"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "child", "goal": "hang on"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "The child said: {{result}}"

[[scenario]]
match = "^leave"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "child", "goal": "slow work"}'
[[scenario.turn]]
text = "I do not wait for it."

[[scenario]]
match = "^hang on"
[[scenario.turn]]
text = "I hang"
hang = true

[[scenario]]
match = "^slow work"
[[scenario.turn]]
text = "Slowly done."
delay_ms = 400

[[scenario]]
match = "^nest (.*)"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "goal": "nest deeper", "profile": "operator"}'
[[scenario.turn]]
when = "at most 4 deep"
text = "{{result}}"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "nested: {{result}}"
`

func processes(t *testing.T, k *kerneltest.Kernel, q kernel.ProcessQuery) map[string]kernel.Process {
	t.Helper()
	list, err := k.Person().Agents.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]kernel.Process{}
	for _, p := range list {
		all[p.Name] = p
	}
	return all
}

// asking counts the model calls that have no end yet.
func asking(k *kerneltest.Kernel) (n int) {
	for _, r := range k.Demo.Requests() {
		if !r.Done {
			n++
		}
	}
	return n
}

func TestAnAgentForksOthersAndJoinsWhatTheySay(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(teamScript))
	r := k.Ask("team up")
	if r.State != "done" {
		t.Fatalf("got %s: %v", r.State, r.Error)
	}
	for _, want := range []string{"## writer: done", "The note is written.", "## failer: failed. It did not finish its part.", "this one breaks"} {
		if !strings.Contains(r.Response, want) {
			t.Errorf("the parent did not read %q in:\n%s", want, r.Response)
		}
	}
	if text, err := os.ReadFile(filepath.Join(k.Folder, "note.txt")); err != nil || string(text) != "from a fork\n" {
		t.Errorf("got %q, %v; want what the fork wrote", text, err)
	}
	all := processes(t, k, kernel.ProcessQuery{All: true})
	writer := all["writer"]
	if writer.ParentID != r.RunID || writer.Depth != 1 || writer.Profile != security.ProfileWorker || writer.Cost.Calls != 2 {
		t.Errorf("got %+v, want a worker below its parent with two model calls of its own", writer)
	}
	v, err := k.Person().State.Session(t.Context(), r.SessionID)
	if err != nil || len(v.Runs) != 1 || len(v.Messages) != 2 {
		t.Errorf("got %d runs and %d messages, %v; want one voice in the conversation", len(v.Runs), len(v.Messages), err)
	}
	if in, _ := inboxOf(t, k, false); len(in.Failed) != 0 || len(in.Finished) != 1 {
		t.Errorf("got %+v, want the parent alone", in)
	}
	spawned, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{RunID: r.RunID, Action: security.ActionAgentSpawn})
	if err != nil || len(spawned) != 4 { // intent and outcome of both
		t.Errorf("got %d records of forks, %v; want 4", len(spawned), err)
	}
	exits, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{RunID: writer.ID, Action: security.ActionAgentExit})
	if err != nil || len(exits) != 1 {
		t.Errorf("got %d records of the fork's exit, %v; want 1", len(exits), err)
	}
}

func TestAStopReachesAllThatAnAgentForked(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(teamScript))
	run := k.Say("endless work").RunID
	k.Until("the child is at work and its parent waits for it", func() bool {
		open := processes(t, k, kernel.ProcessQuery{})
		return open["child"].State == "running" && open["child"].Tool != "" && open["endless work"].Doing == "Wait for other agents"
	})
	killed, err := k.Person().Agents.Kill(t.Context(), run)
	if err != nil || killed.Runs != 2 {
		t.Fatalf("got %+v, %v; want two runs told to end", killed, err)
	}
	all := processes(t, k, kernel.ProcessQuery{All: true})
	if got := all["child"]; got.State != "stopped" || got.EndReason != "It was stopped with the agent that had forked it." {
		t.Errorf("got %+v, want the child stopped with its parent", got)
	}
	if got := all["endless work"].State; got != "stopped" {
		t.Errorf("the parent: got %s, want stopped", got)
	}
	k.Until("no model call goes on billing", func() bool { return asking(k) == 0 })
}

func TestAStopBeforeTheFirstModelCallIsAStop(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	k := open(t, kerneltest.With(func(o *kernel.Options) {
		o.Tools = func(ctx context.Context, _ *kernel.Handle, _ string) (agent.Toolset, error) {
			close(began)
			<-ctx.Done()
			return agent.Toolset{}, ctx.Err()
		}
	}))
	run := k.Say("anything").RunID
	<-began
	if _, err := k.Person().Agents.Kill(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(run); r.State != "stopped" || r.Error != nil {
		t.Errorf("got %s, %v; want stopped", r.State, r.Error)
	}
}

func TestAChildThatOutlivesItsParentEndsInTheInbox(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(teamScript))
	if r := k.Ask("leave it"); r.State != "done" {
		t.Fatalf("got %+v", r)
	}
	child := processes(t, k, kernel.ProcessQuery{All: true})["child"]
	if r := k.Wait(child.ID); r.State != "done" || r.Response != "Slowly done." {
		t.Errorf("got %+v, want the child's own answer", r)
	}
	k.Until("it is in the inbox", func() bool {
		in, _ := inboxOf(t, k, false)
		return slices.ContainsFunc(in.Finished, func(r kernel.InboxRun) bool {
			return r.Run.ID == child.ID && r.Run.Orphan && r.Answer == "Slowly done."
		})
	})
}

func TestForksEndAtTheirDepthAndNumberAndNeverWiden(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(teamScript))
	r := k.Ask("nest here")
	if r.State != "done" || !strings.Contains(r.Response, "Agents fork at most 4 deep") {
		t.Errorf("got %s %q, want the depth refused at the end and told up to the top", r.State, r.Response)
	}
	deepest := 0
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		deepest = max(deepest, p.Depth)
		if p.Profile != security.ProfileOperator {
			t.Errorf("%s got the profile %s, want that of its parent", p.Name, p.Profile)
		}
	}
	wide, err := k.Agent("guarded").Agents.Fork(t.Context(), kernel.Fork{Goal: "hang on", Profile: security.ProfileSupervisor})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := k.Person().Agents.Run(t.Context(), wide.RunID); err != nil || v.Run.Profile != security.ProfileOperator {
		t.Errorf("an operator that asked for a supervisor got %q, %v", v.Run.Profile, err)
	}
	if deepest != 4 {
		t.Errorf("got a depth of %d, want 4", deepest)
	}

	h := k.Agent("guarded")
	for i := range 33 {
		_, err = h.Agents.Fork(t.Context(), kernel.Fork{Goal: "hang on"})
		if i < 32 && err != nil {
			t.Fatalf("fork %d: %v", i+1, err)
		}
	}
	if sys.CodeOf(err) != sys.CodeRefused || !strings.Contains(err.Error(), "32 agents already") {
		t.Errorf("the 33rd fork: got %v, want it refused", err)
	}
}

func TestAForkCannotReachWhatItDidNotFork(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(teamScript))
	mine, other := k.Agent("guarded"), k.Agent("guarded")
	f, err := other.Agents.Fork(t.Context(), kernel.Fork{Goal: "hang on"})
	if err != nil {
		t.Fatal(err)
	}
	_, kill := mine.Agents.Kill(t.Context(), f.RunID)
	_, wait := mine.Agents.Wait(t.Context(), f.RunID)
	_, look := mine.Agents.Run(t.Context(), f.RunID)
	_, say := mine.Agents.Message(t.Context(), f.RunID, "hello")
	pause := mine.Agents.PauseRun(t.Context(), f.RunID, true)
	for what, err := range map[string]error{"kill": kill, "wait": wait, "look": look, "message": say, "pause": pause} {
		if sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("%s: got %v, want forbidden", what, err)
		}
	}
	if list, err := mine.Agents.List(t.Context(), kernel.ProcessQuery{}); err != nil || len(list) != 1 {
		t.Errorf("got %d runs, %v; want itself alone", len(list), err)
	}
	if _, err := mine.Agents.Fork(t.Context(), kernel.Fork{Goal: "x", Folder: "/etc"}); sys.CodeOf(err) != sys.CodeRefused && sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("a folder outside: got %v, want it refused", err)
	}
	if _, err := k.Person().Agents.Fork(t.Context(), kernel.Fork{Goal: "x"}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("the person: got %v, want invalid", err)
	}
}

func TestAPausedAgentBeginsNothingAndStaysPausedOverARestart(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(teamScript))
	run := k.Say("endless work").RunID
	k.Until("the child is at work", func() bool { return processes(t, k, kernel.ProcessQuery{})["child"].Tool != "" })
	if err := k.Person().Agents.PauseRun(t.Context(), run, true); err != nil {
		t.Fatal(err)
	}
	for name, p := range processes(t, k, kernel.ProcessQuery{}) {
		if p.State != "paused" {
			t.Errorf("%s: got %s, want paused with its tree", name, p.State)
		}
	}
	k.Restart()
	for name, p := range processes(t, k, kernel.ProcessQuery{}) {
		if p.State != "paused" {
			t.Errorf("%s after a restart: got %s, want paused", name, p.State)
		}
	}
	if err := k.Person().Agents.PauseRun(t.Context(), run, false); err != nil {
		t.Fatal(err)
	}
	k.Until("the child asks its model again", func() bool {
		return processes(t, k, kernel.ProcessQuery{})["child"].State == "running" && asking(k) > 0
	})
}

func TestAMessageToAForkIsReadByThatForkAlone(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
match = "^parent"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "child", "goal": "work"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "{{result}}"
[[scenario]]
match = "^work"
[[scenario.turn]]
text = "first"
delay_ms = 500
[[scenario.turn.call]]
tool = "ls"
args = '{}'
[[scenario.turn]]
text = "I was told nothing."
[[scenario]]
match = "^use blue"
[[scenario.turn]]
text = "Then it is blue."
`))
	sent := k.Say("parent")
	k.Until("the child is at work", func() bool { return processes(t, k, kernel.ProcessQuery{})["child"].State == "running" })
	if _, err := k.Person().Agents.Message(t.Context(), processes(t, k, kernel.ProcessQuery{})["child"].ID, "use blue"); err != nil {
		t.Fatal(err)
	}
	if q, err := k.Person().Agents.Queued(t.Context(), sent.SessionID); err != nil || len(q) != 0 {
		t.Errorf("got %+v, %v; want nothing queued in the conversation", q, err)
	}
	if r := k.Wait(sent.RunID); !strings.Contains(r.Response, "Then it is blue.") {
		t.Errorf("got %q, want what the child said to the message", r.Response)
	}
}
