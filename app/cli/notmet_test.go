package cli

import (
	"slices"
	"strings"
	"testing"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// promises is a task of two criteria of which one is never met.
const promises = `
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "the notes are sorted", "acceptance_criteria": [{"text": "no list is left", "check": {"file": "list.md", "not": true}}, {"text": "a report is there", "check": {"file": "report.md"}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
text = "Sorted."
`

func TestTaskThatDidNotPassFailsTheCommandAndIsNeverCalledDone(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(promises))
	d.must(0, "config", "set", "language", "en")
	r := d.must(exitFailed, "run", "sort the notes")
	contains(t, "the answer", r.out, "Sorted.")
	contains(t, "stderr", r.err, "Not met.", "✗ a report is there")
	if strings.Contains(r.err, "✗ no list is left") {
		t.Errorf("stderr %q names a criterion that was met", r.err)
	}

	asJSON := d.must(exitFailed, "run", "--json", "sort the notes")
	res := decode[kernel.RunResult](t, asJSON.out)
	waited := d.must(exitFailed, "wait", "--json", res.RunID)
	for which, got := range map[string]kernel.RunResult{"run": res, "wait": decode[kernel.RunResult](t, waited.out)} {
		if got.State != "done" || got.EvaluationPassed == nil || *got.EvaluationPassed || !slices.Equal(got.CriteriaMissed, []string{"a report is there"}) {
			t.Errorf("%s: got %s, passed %v, missed %q", which, got.State, got.EvaluationPassed, got.CriteriaMissed)
		}
		if got.PhaseReached != "evaluate" && got.PhaseReached != "evolve" {
			t.Errorf("%s: got the phase %q", which, got.PhaseReached)
		}
	}
	contains(t, "wait", d.must(exitFailed, "wait", res.RunID).err, "Not met.", "a report is there")

	d.must(0, "sessions", "show", res.SessionID)
	for _, args := range [][]string{{"ps", "--all"}, {"runs", "list"}, {"sessions", "list"}, {"inbox", "--all"}, {"runs", "show", res.RunID}} {
		out := d.must(0, args...).out
		contains(t, strings.Join(args, " "), out, "not met")
		if strings.Contains(strings.ReplaceAll(out, "This is not done", ""), "done") {
			t.Errorf("%v says done:\n%s", args, out)
		}
	}
}

func TestTaskThatWasNotMetStaysInTheInboxWhenItIsCleared(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(promises))
	stop := d.own()
	defer stop()
	window, err := remote.Dial(t.Context(), d.Home)
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	h := window.Handle()
	res := decode[kernel.RunResult](t, d.must(exitFailed, "run", "--json", "sort the notes").out)
	if err := h.Agents.MarkSeen(t.Context(), []string{res.RunID}, false); err != nil {
		t.Fatal(err)
	}
	d.must(0, "inbox", "clear")
	in := decode[kernel.Inbox](t, d.must(0, "inbox", "--json").out)
	if len(in.Failed) != 1 || !in.Failed[0].Run.NotMet || len(in.Finished) != 0 {
		t.Errorf("got %+v, want the run among those that need a look", in)
	}
	s, err := h.Infra.Status(t.Context())
	if err != nil || s.NotMet != 1 {
		t.Errorf("got %d not met, %v, want 1", s.NotMet, err)
	}
}

func TestTaskThatPassedAndTalkEndWithSuccess(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(strings.Replace(promises, `"file": "report.md"`, `"file": "report.md", "not": true`, 1)))
	r := decode[kernel.RunResult](t, d.must(0, "run", "--json", "sort the notes").out)
	if r.EvaluationPassed == nil || !*r.EvaluationPassed || r.CriteriaMissed == nil || len(r.CriteriaMissed) != 0 {
		t.Errorf("got %+v, want a task that passed and missed nothing", r)
	}
}
