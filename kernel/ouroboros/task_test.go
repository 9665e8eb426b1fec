package ouroboros_test

import (
	"encoding/json"
	"strings"
	"testing"

	"oxios/kernel/ouroboros"
	"oxios/kernel/sys"
)

func TestAmbiguityIsTheWeighedRestOfTheClarity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   ouroboros.Clarity
		want float64
	}{
		{ouroboros.Clarity{Goal: 1, Constraints: 1, Criteria: 1}, 0},
		{ouroboros.Clarity{}, 1},
		{ouroboros.Clarity{Goal: 0.9, Constraints: 0.6, Criteria: 0.6}, 0.28},
		{ouroboros.Clarity{Goal: 0.5, Constraints: 1, Criteria: 1}, 0.2},
		{ouroboros.Clarity{Goal: 1, Constraints: 1, Criteria: 0.5}, 0.15},
		{ouroboros.Clarity{Goal: 2, Constraints: 2, Criteria: 2}, 0},
	} {
		if got := c.of.Ambiguity(); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.of, got, c.want)
		}
	}
}

func clear(questions ...ouroboros.Question) ouroboros.Task {
	return ouroboros.Task{
		Goal: "g", Criteria: []ouroboros.Criterion{{Text: "c"}}, Questions: questions,
		Clarity: ouroboros.Clarity{Goal: 1, Constraints: 1, Criteria: 1},
	}
}

func TestOpenQuestionNeverCountsAsClear(t *testing.T) {
	t.Parallel()
	for _, part := range []string{ouroboros.PartGoal, ouroboros.PartConstraints, ouroboros.PartCriteria} {
		q := ouroboros.Question{Text: "Which?", Part: part}
		step, err := ouroboros.Interview{}.Next(clear(q))
		if err != nil || len(step.Ask) != 1 || step.Ambiguity <= ouroboros.Threshold {
			t.Errorf("%s: got %+v, %v, want it asked", part, step, err)
		}
		// A model that leaves it out the next time does not make it clear.
		asked := ouroboros.Interview{Asked: []ouroboros.Asked{{Question: q}}}
		if step, _ := asked.Next(clear()); len(step.Ask) != 1 {
			t.Errorf("%s: got %+v, want the old question asked again", part, step)
		}
		asked.Assumed = true
		if step, _ := asked.Next(clear()); len(step.Ask) != 0 || len(step.Assume) != 1 || step.Ambiguity <= ouroboros.Threshold {
			t.Errorf("%s: got %+v, want it assumed, and still not called clear", part, step)
		}
		asked.Asked[0].Answered, asked.Assumed = true, false
		if step, _ := asked.Next(clear(q)); len(step.Ask) != 0 || step.Ambiguity != 0 {
			t.Errorf("%s: got %+v, want what was answered not asked again", part, step)
		}
		asked.Asked[0].Free = true
		if step, _ := asked.Next(clear(q)); len(step.Ask) != 1 {
			t.Errorf("%s: got %+v, want it asked again: their own words left it open", part, step)
		}
	}
}

func TestUnclearTaskWithoutAQuestionIsAnError(t *testing.T) {
	t.Parallel()
	task := clear()
	task.Clarity.Goal = 0
	if _, err := (ouroboros.Interview{}).Next(task); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want an error that the model can act on", err)
	}
}

func TestTaskThatCannotBeBegunSaysWhatToCorrect(t *testing.T) {
	t.Parallel()
	const ok = `"clarity":{"goal":1,"constraints":1,"criteria":1}}`
	for name, c := range map[string]struct{ raw, want string }{
		"no goal":        {`{"goal":" ","acceptance_criteria":["a"],` + ok, "the goal is empty"},
		"no criterion":   {`{"goal":"g","acceptance_criteria":[],` + ok, "no acceptance criterion"},
		"null criterion": {`{"goal":"g","acceptance_criteria":[{"text":""}],` + ok, "criterion 1 is empty"},
		"same":           {`{"goal":"g","acceptance_criteria":["A b","a  B"],` + ok, "criteria 1 and 2 are the same"},
		"after nothing":  {`{"goal":"g","acceptance_criteria":[{"text":"a","after":[7]}],` + ok, "which does not exist"},
		"cycle":          {`{"goal":"g","acceptance_criteria":[{"text":"a","after":[2]},{"text":"b","after":[1]}],` + ok, "comes after itself"},
		"empty check":    {`{"goal":"g","acceptance_criteria":[{"text":"a","check":{"command":" "}}],` + ok, "neither a command nor a file"},
		"two checks":     {`{"goal":"g","acceptance_criteria":[{"text":"a","check":{"command":"x","file":"y"}}],` + ok, "at once"},
		"opposite commands": {
			`{"goal":"g","acceptance_criteria":[{"text":"a","check":{"command":"make  test"}},{"text":"b","check":{"command":"make test","not":true}}],` + ok,
			"cannot both hold",
		},
		"contains and not there": {
			`{"goal":"g","acceptance_criteria":[{"text":"a","check":{"file":"f","not":true}},{"text":"b","check":{"file":"./f","contains":"x"}}],` + ok,
			"cannot both hold",
		},
		"clarity":   {`{"goal":"g","acceptance_criteria":["a"],"clarity":{"goal":1.1,"constraints":1,"criteria":1}}`, "must be from 0 to 1"},
		"part":      {`{"goal":"g","acceptance_criteria":["a"],"questions":[{"text":"q","part":"colour"}],` + ok, "must be about goal"},
		"field":     {`{"goal":"g","acceptance_criteria":[{"text":"a","cheque":1}],` + ok, "cheque"},
		"cut":       {`{"goal":"g","acceptance_cri`, "not as the schema says"},
		"list":      {`[]`, "not as the schema says"},
		"two":       {`{"goal":"g","acceptance_criteria":["a"],` + ok + `{}`, "follows"},
		"too large": {`{"goal":"` + strings.Repeat("g", 70_000) + `"}`, "65536"},
	} {
		if _, err := ouroboros.ParseTask([]byte(c.raw)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
	for name, raw := range map[string]string{
		"texts":               `{"goal":"g","acceptance_criteria":["a"],"questions":["q?"],` + ok,
		"another text absent": `{"goal":"g","acceptance_criteria":[{"text":"a","check":{"file":"f","contains":"hell"}},{"text":"b","check":{"file":"f","contains":"hello","not":true}}],` + ok,
	} {
		if _, err := ouroboros.ParseTask([]byte(raw)); err != nil {
			t.Errorf("%s: got %v, want a task", name, err)
		}
	}
}

func FuzzTaskIsReadOrRefused(f *testing.F) {
	f.Add([]byte(`{"goal":"g","acceptance_criteria":[{"text":"a","check":{"command":"x"},"after":[1]},"b"],"clarity":{"goal":1,"constraints":1,"criteria":1},"questions":["q",{"text":"r","part":"goal"}]}`))
	f.Add([]byte(`{"goal":"g","acceptance_criteria":[{"te`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		task, err := ouroboros.ParseTask(raw)
		if err != nil {
			if code := sys.CodeOf(err); code != sys.CodeInvalid && code != sys.CodeTooLarge {
				t.Fatalf("got the code %q for %q", code, raw)
			}
			return
		}
		step, err := ouroboros.Interview{}.Next(task)
		if err == nil && len(step.Ask) == 0 && len(task.Questions) > 0 {
			t.Fatalf("begins with open questions: %q", raw)
		}
		again, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) < 60_000 {
			if _, err := ouroboros.ParseTask(again); err != nil {
				t.Fatalf("what was read is refused when it is written: %v", err)
			}
		}
	})
}
