package ouroboros_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/llm"
	"oxios/kernel/ouroboros"
)

// says is a model that gives one answer, and keeps what it was asked.
type says struct {
	text  string
	asked []llm.Request
}

func (m *says) Ask(_ context.Context, r llm.Request) (string, error) {
	m.asked = append(m.asked, r)
	return m.text, nil
}

func TestVerdictCountsOnlyWithAQuoteThatIsThere(t *testing.T) {
	t.Parallel()
	seed := ouroboros.Seed{Criteria: []ouroboros.Criterion{{Text: "one"}}}
	of := ouroboros.Material{Work: "step exec make\nresult: 12   tests\n passed, 1 failed", Answer: "모두 끝났습니다."}
	for name, c := range map[string]struct {
		text    string
		passed  bool
		claimed bool
	}{
		"quoted":           {`{"verdicts":[{"criterion":1,"passed":true,"quote":"12 tests passed"}]}`, true, false},
		"fenced":           {"```json\n{\"verdicts\":[{\"criterion\":1,\"passed\":true,\"quote\":\"1 failed\"}]}\n```", true, false},
		"from the answer":  {`{"verdicts":[{"criterion":1,"passed":true,"quote":"끝났습니다"}]}`, true, true},
		"invented":         {`{"verdicts":[{"criterion":1,"passed":true,"quote":"all green"}]}`, false, false},
		"part of a word":   {`{"verdicts":[{"criterion":1,"passed":true,"quote":"1 fail"}]}`, false, false},
		"empty quote":      {`{"verdicts":[{"criterion":1,"passed":true,"quote":""}]}`, false, false},
		"nothing but dots": {`{"verdicts":[{"criterion":1,"passed":true,"quote":"."}]}`, false, false},
		"no":               {`{"verdicts":[{"criterion":1,"passed":false,"quote":"1 failed"}]}`, false, false},
		"about another":    {`{"verdicts":[{"criterion":2,"passed":true,"quote":"12 tests passed"}]}`, false, false},
		"both":             {`{"verdicts":[{"criterion":1,"passed":true,"quote":"1 failed"},{"criterion":1,"passed":false}]}`, false, false},
		"cut":              {`{"verdicts":[{"criterion":1,"passed":true,"quo`, false, false},
		"words":            {`It passed.`, false, false},
		"more behind":      {`{"verdicts":[{"criterion":1,"passed":true,"quote":"1 failed"}]} and so on`, false, false},
	} {
		m := &says{text: c.text}
		got, err := ouroboros.Judge(t.Context(), m, seed, []int{0}, of)
		if err != nil || len(m.asked) != 1 {
			t.Fatalf("%s: got %v after %d calls, want one call", name, err, len(m.asked))
		}
		if r := got[0]; r.Passed != c.passed || r.Claimed != c.claimed || r.Evidence == "" {
			t.Errorf("%s: got %+v, want passed %v, claimed %v, and evidence", name, r, c.passed, c.claimed)
		}
	}
}

func FuzzJudgingAnswerNeverPassesWithoutEvidence(f *testing.F) {
	f.Add(`{"verdicts":[{"criterion":1,"passed":true,"quote":"done"}]}`, "it is done")
	f.Add("```json\n{}", "")
	f.Fuzz(func(t *testing.T, text, work string) {
		seed := ouroboros.Seed{Criteria: []ouroboros.Criterion{{Text: "one"}}}
		got, err := ouroboros.Judge(t.Context(), &says{text: text}, seed, []int{0}, ouroboros.Material{Work: work})
		if err != nil || len(got) != 1 {
			t.Fatalf("got %v, %v", got, err)
		}
		if r := got[0]; r.Passed && !strings.Contains(strings.Join(strings.Fields(work), " "), strings.Join(strings.Fields(r.Evidence), " ")) && len(work) < 20_000 {
			t.Fatalf("passed with %q, which does not stand in %q", r.Evidence, work)
		}
	})
}

func TestNextVersionSaysWhatTheOneBeforeMissed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)
	seed := ouroboros.Freeze("s", ouroboros.Task{Goal: "g", Criteria: []ouroboros.Criterion{{Text: "a"}, {Text: "b"}}}, ouroboros.Interview{}, ouroboros.Step{}, "operator", at)
	e := ouroboros.Score(seed, []ouroboros.Result{{Criterion: "a", Passed: true}, {Criterion: "b", Evidence: "no b"}}, false, at)
	if e.Passed || e.Score != 0.5 {
		t.Fatalf("got %+v, want half of it, not passed", e)
	}
	next := ouroboros.Evolve(seed, e, at)
	if diff := cmp.Diff([]ouroboros.Change{{Criterion: 2, Text: "b", Evidence: "no b"}}, next.Changes); diff != "" || next.Version != 2 || next.Parent != "s/v1" {
		t.Errorf("got version %d of %q: %s", next.Version, next.Parent, diff)
	}
	if diff := cmp.Diff(seed.Criteria, next.Criteria); diff != "" {
		t.Errorf("what was agreed on changed: %s", diff)
	}
	many := ouroboros.Seed{Criteria: make([]ouroboros.Criterion, 10)}
	results := make([]ouroboros.Result, 10)
	for i := range results {
		results[i].Passed = i > 0
	}
	if e := ouroboros.Score(many, results, false, at); e.Passed || e.Score != 0.9 {
		t.Errorf("got %+v, want 0.9 and not passed: one criterion fails", e)
	}
}
