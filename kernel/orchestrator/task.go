// Package orchestrator leads one run from a message to a result: it holds the
// task that the run has begun, says what comes next, and never lets work count
// as done that was not found to be done.
//
// A run only talks until its model begins a task. Then it is interviewed until
// the task is clear, the task is frozen as a seed, the run executes it, the
// result is evaluated, and what failed makes the next version of the seed, a
// few times. Effects go through the interfaces that the package declares.
package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"oxios/kernel/llm"
	"oxios/kernel/ouroboros"
	"oxios/kernel/sys"
)

// MaxEvolutions is how often a seed evolves at most.
const MaxEvolutions = 3

// Phase is how far a run has come.
type Phase string

// The phases, in their order.
const (
	PhaseChat      Phase = "chat"
	PhaseInterview Phase = "interview" // the person is asked
	PhaseSeed      Phase = "seed"      // the seed is frozen, and nothing was done for it yet
	PhaseExecute   Phase = "execute"   // it is worked on
	PhaseEvaluate  Phase = "evaluate"  // it was evaluated once
	PhaseEvolve    Phase = "evolve"    // it did not pass in its first version
)

// PhaseOf says how far a run has come: whether it asked, how many versions its
// seed has, whether anything was done for it, and whether the newest of them was
// evaluated, and passed.
func PhaseOf(asked bool, versions int, worked, evaluated, passed bool) Phase {
	switch {
	case versions == 0 && !asked:
		return PhaseChat
	case versions == 0:
		return PhaseInterview
	case evaluated && passed, evaluated && versions == 1:
		return PhaseEvaluate
	case versions > 1:
		return PhaseEvolve
	case !worked:
		return PhaseSeed
	}
	return PhaseExecute
}

// Checker runs the check of a criterion and says whether it holds.
type Checker interface {
	Check(ctx context.Context, number int, c ouroboros.Criterion) (ouroboros.Result, error)
}

// Task is what one run has begun. It is safe for concurrent use.
type Task struct {
	clock sys.Clock

	mu    sync.Mutex
	busy  bool // a call begins a task right now
	seed  *ouroboros.Seed
	ended bool // the seed was evaluated for the last time
}

// New returns the task of a run; seed is the version that it works on, nil if
// it only talks.
func New(clock sys.Clock, seed *ouroboros.Seed) *Task { return &Task{clock: clock, seed: seed} }

// Claim makes the caller the one that begins a task, until it calls release. A
// run works on one seed.
func (t *Task) Claim() (release func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.seed != nil && t.ended:
		return nil, sys.Errorf(sys.CodeConflict, "This run has finished its task (seed %s) already. Nothing was begun.", t.seed.Name()).
			WithHint("Answer the person.")
	case t.seed != nil:
		return nil, sys.Errorf(sys.CodeConflict, "This run works on a task already (seed %s). Nothing new was begun, and that one stays as it is.", t.seed.Name()).
			WithHint("Finish it: work with your tools, then answer.")
	case t.busy:
		return nil, sys.Errorf(sys.CodeConflict, "Another call begins a task in this run already. Nothing was done by this one.").
			WithHint("Call begin_task once, and wait for its answer.")
	}
	t.busy = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.busy = false
	}, nil
}

// Work has the run work on a seed.
func (t *Task) Work(s ouroboros.Seed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seed, t.ended = &s, false
}

// End has the run work on nothing any more.
func (t *Task) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// Seed returns the version that the run works on.
func (t *Task) Seed() (ouroboros.Seed, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seed == nil || t.ended {
		return ouroboros.Seed{}, false
	}
	return *t.seed, true
}

// Outcome is what an evaluation found, and what comes next.
type Outcome struct {
	Seed       ouroboros.Seed // that was evaluated
	Evaluation ouroboros.Evaluation
	Next       *ouroboros.Seed // the version to work on now; nil: it is over
	Text       string          // what the model reads
	Said       string          // what the person reads below the answer when it did not pass
}

// Evaluate finds out which criteria of the seed hold: by their checks first,
// then in at most one call of a judge. Those of a share that was not done do
// not hold. last says that the run cannot go on.
func (t *Task) Evaluate(ctx context.Context, c Checker, judge ouroboros.Model, of ouroboros.Material, shares []Share, last bool) (Outcome, error) {
	seed, ok := t.Seed()
	if !ok {
		return Outcome{}, sys.Errorf(sys.CodeInternal, "There is no task to evaluate.")
	}
	results := make([]ouroboros.Result, len(seed.Criteria))
	var undecided []int
	lost := lost(seed, shares)
	for i, criterion := range seed.Criteria {
		if r, ok := lost[i]; ok {
			results[i] = r
			continue
		}
		if criterion.Check == nil {
			undecided = append(undecided, i)
			continue
		}
		r, err := c.Check(ctx, i+1, criterion)
		if err != nil {
			return Outcome{}, err
		}
		results[i] = r
	}
	if len(undecided) > 0 {
		judged, err := ouroboros.Judge(ctx, judge, seed, undecided, of)
		if err != nil {
			if ctx.Err() != nil {
				return Outcome{}, context.Cause(ctx)
			}
			judged = unjudged(seed, undecided, err)
		}
		for i, r := range judged {
			results[i] = r
		}
	}
	o := Outcome{Seed: seed, Evaluation: ouroboros.Score(seed, results, len(undecided) > 0, t.clock.Now())}
	switch {
	case o.Evaluation.Passed:
	case !last && seed.Version <= MaxEvolutions:
		next := ouroboros.Evolve(seed, o.Evaluation, t.clock.Now())
		o.Next, o.Text = &next, ouroboros.Again(next, o.Evaluation, MaxEvolutions)
	default:
		o.Said = seed.NotPassed(o.Evaluation)
		o.Text = fmt.Sprintf("(Oxios: the evaluation did not pass, and the run has ended.\n%s)", o.Said)
	}
	return o, nil
}

// lost are the criteria of shares that were not done.
func lost(s ouroboros.Seed, shares []Share) map[int]ouroboros.Result {
	out := map[int]ouroboros.Result{}
	for _, one := range shares {
		if !one.Missed() {
			continue
		}
		why := sys.Say("The agent that worked on it did not finish: %s", one.Failed)
		for _, i := range one.Criteria {
			out[i] = ouroboros.Result{Criterion: s.Criteria[i].Text, How: ouroboros.HowAgent, Evidence: why.EN, EvidenceKO: why.KO}
		}
	}
	return out
}

// unjudged are criteria that a judge could not be asked about.
func unjudged(s ouroboros.Seed, numbers []int, err error) map[int]ouroboros.Result {
	out := map[int]ouroboros.Result{}
	why := sys.Say("It is undecided, because the model could not be asked: %v", err)
	for _, n := range numbers {
		out[n] = ouroboros.Result{Criterion: s.Criteria[n].Text, How: ouroboros.HowJudge, Evidence: why.EN, EvidenceKO: why.KO}
	}
	return out
}

// MaterialOf tells a judge what an agent did: its steps and what came of them,
// each shortened.
func MaterialOf(talk []llm.Message, answer string) ouroboros.Material {
	calls := map[string]llm.ToolCall{}
	var b strings.Builder
	for _, m := range talk {
		for _, c := range m.ToolCalls {
			calls[c.ID] = c
		}
		c, ok := calls[m.ToolCallID]
		if m.Role != llm.RoleTool || !ok || c.Name == "begin_task" { // a promise is no evidence that it was kept
			continue
		}
		if strings.HasPrefix(m.Content, "Error (") { // what it wanted to do did not happen
			fmt.Fprintf(&b, "step %s failed: %s\n", c.Name, cut(m.Content, 2000))
			continue
		}
		fmt.Fprintf(&b, "step %s %s\nresult: %s\n", c.Name, cut(c.Args, 2000), cut(m.Content, 2000))
	}
	return ouroboros.Material{Answer: answer, Work: b.String()}
}

// cut keeps the beginning and the end of a text.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n/2], "") + " … " + strings.ToValidUTF8(s[len(s)-n/2:], "")
}
