package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"oxios/kernel/orchestrator"
	"oxios/kernel/ouroboros"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of the protocol live in ouroboros.
type (
	Task           = ouroboros.Task
	TaskClarity    = ouroboros.Clarity
	TaskQuestion   = ouroboros.Question
	TaskCheck      = ouroboros.Check
	Criterion      = ouroboros.Criterion
	Question       = security.Question
	QuestionAnswer = security.Answers
)

// ParseTask reads a task that a model wrote, strictly, and checks it.
func ParseTask(raw []byte) (Task, error) { return ouroboros.ParseTask(raw) }

// TaskAnswer is what an agent learns when it begins a task.
type TaskAnswer struct {
	SeedID    string  `json:"seed_id,omitempty"` // "" while something is unclear
	Version   int     `json:"version,omitempty"`
	Ambiguity float64 `json:"ambiguity"`
	Text      string  `json:"text"` // in words
}

// AnswerInput is what the person says to what a run asks.
type AnswerInput struct {
	RunID      string   `json:"run_id"`
	ApprovalID string   `json:"approval_id,omitempty"` // of the questions that were shown; "" for those that are open
	Answers    []string `json:"answers,omitempty"`     // one for each question, in their order; "" leaves it open
	Text       string   `json:"text,omitempty"`        // the person's own words, about all of them
	Assume     bool     `json:"assume,omitempty"`      // start, and assume what is left open

	// To what a server of tools asks in the middle of a call: its values by name, or decline or cancel.
	Values json.RawMessage `json:"values,omitempty"`
	Action string          `json:"action,omitempty"`
}

// BeginTask says what a run is about to do. What is unclear is asked first:
// the call waits for the person, and their answers come back for the agent to
// begin again. What is clear becomes the seed that the run is evaluated by.
func (a *AgentsAPI) BeginTask(ctx context.Context, t Task) (TaskAnswer, error) {
	b := &beginning{AgentsAPI: a, task: t}
	defer b.prepare(ctx)()
	act := action{
		subject: t, card: handing(sys.Say("Begins a task: %s", sys.Shorten(t.Goal, 200)), t.Goal),
		call: "agents.beginTask", resource: "run:" + cmp.Or(a.scope.runID, "none"), effect: security.EffectRead,
		meta: map[string]any{"goal": sys.Shorten(t.Goal, 500), "criteria": len(t.Criteria), "ambiguity": b.step.Ambiguity},
	}
	if b.err == nil && len(b.step.Ask) > 0 && b.said == nil {
		act.asks, act.card = true, b.card
	}
	answer, err := guard(ctx, a.caller, act, b.begin)
	if err != nil || answer.SeedID == "" {
		return answer, err
	}
	joined, err := a.split(ctx, b.seed)
	if joined != "" {
		answer.Text += "\n\n" + joined
	}
	return answer, err
}

// beginning is one call of begin_task.
type beginning struct {
	*AgentsAPI
	task      Task
	work      *orchestrator.Task
	interview ouroboros.Interview
	step      ouroboros.Step
	seed      Seed      // that was frozen, by this very step before a crash or now
	said      *Approval // the person's answers, as this very step got them before a crash
	err       error     // why it cannot begin; told once the call is let through
}

// prepare finds out what comes next, and returns what ends the call.
func (b *beginning) prepare(ctx context.Context) (done func()) {
	done = func() {}
	if b.work = b.k.runs.task(b.scope.runID); b.work == nil {
		b.err = sys.Errorf(sys.CodeForbidden, "Only an agent at work begins a task. Nothing was done.").WithHint("Say in a message what should be done.")
		return done
	}
	if b.err = b.task.Validate(); b.err != nil {
		return done
	}
	own := stepID(ctx)
	if b.seed, b.err = b.begunBefore(ctx, own); b.err != nil || b.seed.ID != "" {
		return done
	}
	release, err := b.work.Claim()
	if err != nil {
		b.err = err
		return done
	}
	if b.interview, b.said, b.err = b.k.interview(ctx, b.scope.runID, own); b.err == nil {
		b.step, b.err = b.interview.Next(b.task)
	}
	return release
}

// begunBefore is the seed that this very step froze before Oxios went down.
func (b *beginning) begunBefore(ctx context.Context, step string) (Seed, error) {
	seed, ok := b.work.Seed()
	if !ok || step == "" {
		return Seed{}, nil
	}
	list, err := b.k.store.Seeds(ctx, store.SeedQuery{ID: seed.ID})
	if err != nil || len(list) != 1 || list[0].MadeBy != step {
		return Seed{}, err
	}
	return seed, nil
}

// interview is what a run has asked the person so far in other steps than own,
// and what they have said to own, where a crash came before it was of use.
func (k *Kernel) interview(ctx context.Context, runID, own string) (i ouroboros.Interview, said *Approval, err error) {
	list, err := k.approvals.List(ctx, security.ApprovalQuery{RunID: runID})
	for _, ap := range slices.Backward(list) {
		switch {
		case len(ap.Request.Questions) == 0:
		case ap.Request.StepID != own:
			record(&i, ap)
		case ap.State == security.ApprovalUsed:
			said = &ap
		}
	}
	return i, said, err
}

// record takes up what the person said to the questions of a request.
func record(i *ouroboros.Interview, ap Approval) {
	var said QuestionAnswer
	if ap.Answers != nil && (ap.State == security.ApprovalApproved || ap.State == security.ApprovalUsed) {
		said = *ap.Answers
	}
	i.Assumed = i.Assumed || said.Assume
	for n, q := range ap.Request.Questions {
		asked := ouroboros.Asked{Question: ouroboros.Question(q)}
		if n < len(said.Given) && said.Given[n] != "" {
			asked.Answer, asked.Answered = said.Given[n], true
		} else if said.Text != "" {
			asked.Answer, asked.Answered, asked.Free = said.Text, true, true
		}
		i.Asked = append(i.Asked, asked)
	}
}

// card is how the person sees the questions.
func (b *beginning) card(r *security.Request) {
	title := sys.Say("%d questions before it begins: %s", len(b.step.Ask), sys.Shorten(b.task.Goal, 200))
	if len(b.step.Ask) == 1 {
		title = sys.Say("A question before it begins: %s", sys.Shorten(b.task.Goal, 200))
	}
	r.Title, r.TitleKO = title.EN, title.KO
	for _, q := range b.step.Ask {
		r.Questions = append(r.Questions, Question(q))
	}
}

// begin runs when nothing is in the way, or when the person has answered.
func (b *beginning) begin(ctx context.Context) (TaskAnswer, error) {
	if b.err != nil {
		return TaskAnswer{}, b.err
	}
	if b.seed.ID != "" {
		return begun(b.seed), nil
	}
	ap := approvalOf(ctx)
	if ap == nil {
		ap = b.said
	}
	if ap != nil && ap.Answers != nil {
		answered := Approval{Request: ap.Request, Answers: ap.Answers, State: security.ApprovalApproved}
		record(&b.interview, answered)
		if ap.Answers.Text != "" || slices.ContainsFunc(ap.Answers.Given, func(s string) bool { return s != "" }) {
			return TaskAnswer{Ambiguity: b.step.Ambiguity, Text: answersText(answered)}, nil
		}
		next, err := b.interview.Next(b.task)
		if err != nil {
			return TaskAnswer{}, err
		}
		b.step = next
	}
	run, err := b.k.store.Run(ctx, b.scope.runID)
	if err != nil {
		return TaskAnswer{}, err
	}
	b.seed = ouroboros.Freeze(sys.NewID(), b.task, b.interview, b.step, run.Profile, b.k.clock.Now())
	if err := b.k.freeze(ctx, run, b.seed); err != nil {
		return TaskAnswer{}, err
	}
	b.work.Work(b.seed)
	if err := b.k.register(ctx, run); err != nil { // its card follows the goal
		return TaskAnswer{}, err
	}
	return begun(b.seed), nil
}

func begun(s Seed) TaskAnswer {
	return TaskAnswer{SeedID: s.ID, Version: s.Version, Ambiguity: s.Ambiguity, Text: s.Begun()}
}

// answersText is what the agent reads of the person's answers.
func answersText(ap Approval) string {
	return answersOf(ap) + "\nNothing has begun. Call begin_task again with what you know now."
}

// answersOf tells what the person was asked, and what they said to it.
func answersOf(ap Approval) string {
	var b strings.Builder
	b.WriteString("The person was asked:\n")
	for n, q := range ap.Request.Questions {
		answer := "(left open)"
		if n < len(ap.Answers.Given) && ap.Answers.Given[n] != "" {
			answer = ap.Answers.Given[n]
		} else if ap.Answers.Text != "" {
			answer = "(see what they wrote)"
		}
		fmt.Fprintf(&b, "- %s → %s\n", q.Text, answer)
	}
	if ap.Answers.Text != "" {
		fmt.Fprintf(&b, "They wrote: %s\n", ap.Answers.Text)
	}
	if ap.Answers.Assume {
		b.WriteString("They said: assume what is left open, and start.\n")
	}
	return strings.TrimSpace(b.String())
}

// Answer says what a run has asked. What is left open is asked again, unless it
// may be assumed.
func (a *AgentsAPI) Answer(ctx context.Context, in AnswerInput) (Approval, error) {
	return guard(ctx, a.caller, action{call: "agents.answer", resource: "run:" + in.RunID}, func(ctx context.Context) (Approval, error) {
		if form, ok, err := a.k.formOf(ctx, in.ApprovalID); err != nil || ok {
			return a.answerForm(ctx, form, in, err)
		}
		id, err := a.k.runID(ctx, in.RunID)
		if err != nil {
			return Approval{}, err
		}
		return a.answer(ctx, id, in)
	})
}

func (a *AgentsAPI) answer(ctx context.Context, runID string, in AnswerInput) (Approval, error) {
	ap, ok, err := a.k.asks(ctx, runID)
	switch {
	case err != nil:
		return ap, err
	case !ok:
		return ap, sys.Errorf(sys.CodeConflict, "That run asks nothing. Nothing was recorded.").WithHint("`oxios ps` shows what it does.")
	case in.ApprovalID != "" && in.ApprovalID != ap.ID:
		return ap, sys.Errorf(sys.CodeConflict, "The run asks something else by now. Nothing was recorded.").WithHint("Look at it again.")
	case len(in.Answers) > len(ap.Request.Questions):
		return ap, sys.Errorf(sys.CodeInvalid, "There are %d answers to %d questions. Nothing was recorded.", len(in.Answers), len(ap.Request.Questions))
	}
	said := security.Answers{Given: in.Answers, Text: in.Text, Assume: in.Assume}
	if !in.Assume && strings.TrimSpace(in.Text+strings.Join(in.Answers, "")) == "" {
		return ap, sys.Errorf(sys.CodeInvalid, "There is no answer. Nothing was recorded.").WithHint("Answer at least one question, or let the agent assume the rest and start.")
	}
	return a.k.approvals.Decide(ctx, a.who, ap.ID, security.Answer{Approve: true, Hash: ap.Request.Hash, Answers: &said}, func(tx *store.Tx, ap Approval) error {
		return a.k.recordDecision(tx, a.who.Actor(), ap)
	})
}

// asks returns the questions that a run waits for the answers of.
func (k *Kernel) asks(ctx context.Context, runID string) (Approval, bool, error) {
	list, err := k.approvals.List(ctx, security.ApprovalQuery{State: security.ApprovalPending, RunID: runID})
	for _, ap := range list {
		if len(ap.Request.Questions) > 0 {
			return ap, true, err
		}
	}
	return Approval{}, false, err
}

// answerWith takes a message for the answer when the conversation's agent waits
// for one: whoever types where the questions stand has answered them.
func (a *AgentsAPI) answerWith(ctx context.Context, m Submit) (Submitted, bool, error) {
	runID := a.k.runs.inSession(m.SessionID)
	if m.SessionID == "" || runID == "" || len(m.Attachments) > 0 || m.InsteadOf != "" || strings.TrimSpace(m.Text) == "" || len(m.Text) > 4<<10 {
		return Submitted{}, false, nil
	}
	if _, ok, err := a.k.asks(ctx, runID); err != nil || !ok {
		return Submitted{}, false, err
	}
	_, err := a.answer(ctx, runID, AnswerInput{Text: m.Text})
	if sys.CodeOf(err) == sys.CodeConflict {
		return Submitted{}, false, nil // somebody was faster: it is a message like others
	}
	return Submitted{RunID: runID, SessionID: m.SessionID, Answered: true}, true, err
}

// taskOf returns what a run has begun: nothing, or the seed that it works on.
func (k *Kernel) taskOf(ctx context.Context, run Run) (*orchestrator.Task, error) {
	if run.StartedAt == nil {
		return orchestrator.New(k.clock, nil), nil // a new one; the look into the index is spared
	}
	list, err := k.store.Seeds(ctx, store.SeedQuery{RunID: run.ID, State: store.SeedActive, Limit: 1})
	if err != nil || len(list) == 0 {
		return orchestrator.New(k.clock, nil), err
	}
	seed, err := k.readSeed(list[0].ID, list[0].Version)
	if err != nil {
		return nil, err
	}
	return orchestrator.New(k.clock, &seed), nil
}

// tellTask says how far a run has come by the protocol.
func (k *Kernel) tellTask(ctx context.Context, r *RunResult) error {
	versions, err := k.store.Seeds(ctx, store.SeedQuery{RunID: r.RunID})
	if err != nil {
		return err
	}
	asked, err := k.approvals.List(ctx, security.ApprovalQuery{RunID: r.RunID})
	if err != nil {
		return err
	}
	var newest SeedInfo
	if len(versions) > 0 {
		newest = versions[0]
		r.SeedID = OrNull(newest.ID)
		if newest.Score != nil || newest.Version > 1 {
			passed := newest.State == store.SeedPassed
			r.EvaluationPassed = &passed
		}
	}
	if r.EvaluationPassed != nil && !*r.EvaluationPassed {
		r.CriteriaMissed = k.missedOf(ctx, versions)
	}
	interviewed := slices.ContainsFunc(asked, func(a Approval) bool { return len(a.Request.Questions) > 0 })
	worked := false
	if len(versions) == 1 && newest.Score == nil {
		steps, err := k.store.Steps(ctx, r.RunID)
		if err != nil {
			return err
		}
		begun := slices.IndexFunc(steps, func(s store.Step) bool { return s.ID == newest.MadeBy })
		worked = slices.ContainsFunc(steps[begun+1:], func(s store.Step) bool {
			return s.Kind == store.StepTool && s.State != store.StepProposed
		})
	}
	r.PhaseReached = string(orchestrator.PhaseOf(interviewed, len(versions), worked, newest.Score != nil, newest.State == store.SeedPassed))
	return nil
}

// missedOf names the criteria that the last evaluation of a seed found missing.
// versions are those of the seed, the newest first.
func (k *Kernel) missedOf(ctx context.Context, versions []SeedInfo) []string {
	missed := []string{}
	at := slices.IndexFunc(versions, func(v SeedInfo) bool { return v.Score != nil })
	if at < 0 {
		return missed
	}
	var e Evaluation
	if err := k.readWork("evals", versions[at].ID, versions[at].Version, &e); err != nil {
		// That it did not pass stands in the index; only what was missed is lost.
		k.log.WarnContext(ctx, "Could not read what an evaluation missed", "seed", versions[at].ID, "error", err)
		return missed
	}
	for _, r := range e.Missed() {
		missed = append(missed, r.Criterion)
	}
	return missed
}
