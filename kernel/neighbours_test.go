package kernel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// Each writes twice, and answers.
const writersScript = `
[[scenario]]
match = "^write (\\S+)"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "{{1}}-1.txt", "content": "one"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "{{1}}-2.txt", "content": "two"}'
[[scenario.turn]]
text = "Both are written."

[[scenario]]
match = "^look"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "ls"
args = '{}'
[[scenario.turn]]
text = "I have looked."

[[scenario]]
match = "^team"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "helper", "goal": "write helper"}'
[[scenario.turn.call]]
tool = "write"
args = '{"path": "team.txt", "content": "team"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "All is written."
`

// warnings are what a run and its person were told of neighbours.
func warnings(t *testing.T, k *kerneltest.Kernel, run string) (told []kernel.StepView) {
	t.Helper()
	v, err := k.Person().Agents.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range v.Steps {
		if s.Kind == "note" {
			told = append(told, s)
		}
	}
	return told
}

// pass approves what a run asks for.
func pass(t *testing.T, k *kerneltest.Kernel, run string) {
	t.Helper()
	a := k.Approval(run)
	if _, err := k.Person().Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash}); err != nil {
		t.Fatal(err)
	}
}

// halfway waits until a run has written once and asks for its second file.
func halfway(t *testing.T, k *kerneltest.Kernel, run string) {
	t.Helper()
	pass(t, k, run)
	k.Until("it asks for the second file", func() bool {
		v, err := k.Person().Agents.Run(t.Context(), run)
		return err == nil && len(v.Changes) == 1 && v.Run.State == "waiting"
	})
}

func cautious(m *kernel.Submit)  { m.Mode = "ask" }
func writingOn(m *kernel.Submit) { m.Mode = "autonomous" }

func TestConversationsThatWriteInOneFolderAreToldOfEachOtherOnce(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writersScript))
	a := k.Say("write first", cautious)
	halfway(t, k, a.RunID)
	looks := k.Ask("look around", writingOn)
	if told := warnings(t, k, looks.RunID); len(told) != 0 {
		t.Errorf("one that only looks was told %+v", told)
	}
	b := k.Ask("write other", writingOn)
	told := warnings(t, k, b.RunID)
	if b.State != "done" || len(told) != 1 || !strings.Contains(told[0].Title, "Another agent (write first) writes in") || told[0].TitleKO == "" {
		t.Fatalf("got %s and %+v, want one warning", b.State, told)
	}
	if again := replayed(t, k, kernel.ReplayQuery{RunID: b.RunID}); !again.Same {
		t.Errorf("replayed it went another way: %+v", again)
	}
	k.Restart() // what was told stays told
	pass(t, k, a.RunID)
	if r := k.Wait(a.RunID); r.State != "done" {
		t.Fatalf("got %+v", r)
	}
	if n := len(warnings(t, k, a.RunID)); n > 1 {
		t.Errorf("the first was told %d times", n)
	}
	var read int
	for _, r := range k.Demo.Requests() {
		if strings.Contains(string(r.Body), "an agent of another conversation (write first) writes in") {
			read++
		}
	}
	if read == 0 {
		t.Error("the model of the second did not read of it")
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Newest: true, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	recorded := 0
	for _, e := range list {
		if strings.HasPrefix(e.Resource, "two conversations write in ") {
			recorded++
		}
	}
	if recorded != 1 {
		t.Errorf("the chain holds it %d times, want once", recorded)
	}
}

func TestBothConversationsReadOfEachOther(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writersScript))
	write(t, filepath.Join(k.Folder, "below", "x.txt"), "x")
	a, b := k.Say("write first", cautious), k.Say("write other", cautious, func(m *kernel.Submit) { m.Folder = filepath.Join(k.Folder, "below") })
	halfway(t, k, a.RunID)
	halfway(t, k, b.RunID)
	for _, run := range []string{a.RunID, b.RunID} {
		pass(t, k, run)
		if r := k.Wait(run); r.State != "done" {
			t.Fatalf("got %+v", r)
		}
		if n := len(warnings(t, k, run)); n != 1 {
			t.Errorf("run %s was told %d times, want once: one folder lies in the other", run, n)
		}
	}
}

func TestFoldersApartAndForksAreNoNeighbours(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writersScript))
	a := k.Say("write first", cautious)
	halfway(t, k, a.RunID)
	elsewhere := t.TempDir()
	b := k.Ask("team up", writingOn, func(m *kernel.Submit) { m.Folder = elsewhere })
	if b.State != "done" {
		t.Fatalf("got %+v", b)
	}
	for _, p := range processes(t, k, kernel.ProcessQuery{All: true}) {
		if told := warnings(t, k, p.ID); len(told) != 0 {
			t.Errorf("%s was told %+v", p.Name, told)
		}
	}
}
