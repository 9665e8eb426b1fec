package kernel_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// chained are the entries of an action, the oldest first.
func chained(t *testing.T, k *kerneltest.Kernel, q kernel.AuditQuery) []kernel.AuditEntry {
	t.Helper()
	list, err := k.Person().Security.Audit(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhatIsRememberedAndRecalledIsNamedInTheRecord(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(rememberScript))
	first := k.Ask("From now on the invoices go into the folder Bills")
	second := k.Ask("Where do invoices go?")
	if got := chained(t, k, kernel.AuditQuery{Action: "MemoryWrite", RunID: first.RunID}); len(got) != 2 || got[0].Actor != "agent:"+first.RunID {
		t.Errorf("got %+v, want the intent and the outcome of what the agent remembered", got)
	}
	if got := chained(t, k, kernel.AuditQuery{Action: "MemoryRead", RunID: second.RunID}); len(got) != 1 || !strings.Contains(string(got[0].Metadata), `"syscall":"memory.recall"`) {
		t.Errorf("got %+v, want that memories went into the prompt", got)
	}
	p := k.Person().Memory
	all, err := p.List(t.Context(), kernel.MemoryQuery{})
	if err != nil || len(all) == 0 {
		t.Fatalf("got %+v, %v", all, err)
	}
	if _, err := p.Forget(t.Context(), []string{all[0].ID}); err != nil {
		t.Fatal(err)
	}
	if got := chained(t, k, kernel.AuditQuery{Action: "MemoryWrite", Actor: "person:"}); len(got) != 2 || !strings.Contains(string(got[0].Metadata), "memory.forget") {
		t.Errorf("got %+v, want what the person forgot", got)
	}
	if got := chained(t, k, kernel.AuditQuery{Action: "MemoryRead", Actor: "person:"}); len(got) != 0 {
		t.Errorf("got %+v, want nothing of what the person only looked at", got)
	}
}

func TestSeedsEvaluationsAndCommitsStandInTheRecord(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(taskScript))
	r := k.Ask("plain")
	if r.EvaluationPassed == nil || !*r.EvaluationPassed {
		t.Fatalf("got %+v, want a task that passed", r)
	}
	var states []string
	for _, e := range chained(t, k, kernel.AuditQuery{Resource: "seed:" + string(r.SeedID)}) {
		states = append(states, string(e.Metadata))
	}
	if len(states) != 2 || !strings.Contains(states[0], `"state":"frozen"`) || !strings.Contains(states[1], `"state":"evaluated"`) || !strings.Contains(states[1], `"passed":true`) {
		t.Errorf("got %v, want the seed and what came of it", states)
	}
	v, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID))
	if err != nil || len(v.History) == 0 {
		t.Fatalf("got %+v, %v", v, err)
	}
	commits := chained(t, k, kernel.AuditQuery{Action: "GitCommit", Resource: "workspace"})
	for _, c := range v.History {
		if !slices.ContainsFunc(commits, func(e kernel.AuditEntry) bool { return strings.Contains(string(e.Metadata), c.ID) }) {
			t.Errorf("got %+v, want the commit %s", commits, c.ID)
		}
	}
	note := filepath.Join("ideas", "one.md")
	written(t, k.Person(), note, "a first idea")
	k.Until("the note is in its history", func() bool {
		return len(chained(t, k, kernel.AuditQuery{Action: "GitCommit", Resource: "knowledge"})) > 0
	})
	if report, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !report.OK {
		t.Errorf("got %+v, %v", report, err)
	}
}
