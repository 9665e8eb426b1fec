package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// turn is what the model answers to one call.
type turn struct {
	text  string
	calls []llm.ToolCall
	err   error
	hang  func() // called when the text is out; then the call lasts until the context ends
}

// model plays turns, and starts its step as the guard would.
type model struct {
	turns []turn
	mu    sync.Mutex
	seen  []llm.Request
}

func (m *model) Complete(ctx context.Context, req llm.Request, emit func(llm.Delta)) (*llm.Response, store.Cost, error) {
	m.mu.Lock()
	n := len(m.seen)
	m.seen = append(m.seen, req)
	m.mu.Unlock()
	if err := store.StepFrom(ctx).Start(ctx, nil); err != nil {
		return nil, store.Cost{}, err
	}
	tn := turn{text: "no more turns"}
	if n < len(m.turns) {
		tn = m.turns[n]
	}
	emit(llm.Delta{Text: tn.text})
	if tn.hang != nil {
		tn.hang()
		<-ctx.Done()
		return &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Content: tn.text}}, store.Cost{Calls: 1}, ctx.Err()
	}
	resp := &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Content: tn.text, ToolCalls: tn.calls}, FinishReason: llm.FinishStop}
	if tn.err != nil {
		resp.Message.ToolCalls = nil
	}
	return resp, store.Cost{Calls: 1, Input: 10, Output: 5}, tn.err
}

// tool calls fn.
type tool struct {
	name string
	fn   func(ctx context.Context, args json.RawMessage) (agent.Result, error)
}

func (t tool) Name() string                    { return t.name }
func (t tool) Description() string             { return t.name }
func (t tool) Schema() json.RawMessage         { return json.RawMessage(`{"type":"object"}`) }
func (t tool) Title(json.RawMessage) sys.Words { return sys.Words{EN: "Use " + t.name} }
func (t tool) Call(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	return t.fn(ctx, args)
}

func echo(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	if err := store.StepFrom(ctx).Start(ctx, nil); err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Text: "echo " + string(args), Title: sys.Words{EN: "Echoed"}}, nil
}

type bundle struct {
	runner *agent.Runner
	st     *store.Store
	run    store.Run
}

func setup(t *testing.T) *bundle {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "oxios.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	b := &bundle{st: st, runner: &agent.Runner{Store: st, Bus: event.NewBus(nil), Log: slog.New(slog.DiscardHandler)}}
	session := store.Session{Title: "test"}
	err = st.Write(t.Context(), func(tx *store.Tx) error {
		if err := st.InsertSession(tx, &session); err != nil {
			return err
		}
		b.run = store.Run{SessionID: session.ID, Text: "do it", Model: "m"}
		return st.CreateRun(tx, &b.run)
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bundle) execute(t *testing.T, ctx context.Context, m *model, change func(*agent.Spec), tools ...agent.Tool) store.Run { //nolint:revive // the test comes first
	t.Helper()
	spec := agent.Spec{Run: b.run, Model: m, Toolset: agent.Toolset{Tools: tools}, System: "system"}
	if change != nil {
		change(&spec)
	}
	run, err := b.runner.Execute(ctx, spec)
	if err != nil {
		t.Fatalf("execute: %v", err)
	}
	return run
}

func (b *bundle) steps(t *testing.T) []store.Step {
	t.Helper()
	steps, err := b.st.Steps(t.Context(), b.run.ID)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func (b *bundle) answer(t *testing.T) store.Message {
	t.Helper()
	msgs, err := b.st.Messages(t.Context(), b.run.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if len(msgs) == 0 {
		return store.Message{}
	}
	return msgs[len(msgs)-1]
}

func toolResults(m *model, n int) []string {
	var out []string
	for _, msg := range m.seen[n].Messages {
		if msg.Role == llm.RoleTool {
			out = append(out, msg.Content)
		}
	}
	return out
}

func TestPlainQuestionCostsExactlyOneModelCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := &model{turns: []turn{{text: "Hello."}}}
	run := b.execute(t, t.Context(), m, nil, tool{"echo", echo})
	if run.State != store.RunDone || len(m.seen) != 1 {
		t.Errorf("got state %s after %d calls, want done after 1", run.State, len(m.seen))
	}
	if got := b.answer(t); got.Content != "Hello." || got.Status != "" {
		t.Errorf("got message %q with status %q, want Hello.", got.Content, got.Status)
	}
}

func TestCallsOfOneTurnRunSideBySideAndAnswerInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var both sync.WaitGroup
	both.Add(2)
	meet := func(ctx context.Context, args json.RawMessage) (agent.Result, error) {
		both.Done()
		both.Wait() // each waits for the other: one after the other would hang
		return echo(ctx, args)
	}
	m := &model{turns: []turn{
		{text: "Both.", calls: []llm.ToolCall{{ID: "1", Name: "meet", Args: `{"n":1}`}, {ID: "2", Name: "meet", Args: `{"n":2}`}}},
		{text: "Done."},
	}}
	run := b.execute(t, t.Context(), m, nil, tool{"meet", meet})
	if got := strings.Join(toolResults(m, 1), "|"); got != `echo {"n":1}|echo {"n":2}` {
		t.Errorf("got results %q", got)
	}
	if run.Turns != 2 || run.Cost.Input != 20 {
		t.Errorf("got %d turns and %d tokens, want 2 and 20", run.Turns, run.Cost.Input)
	}
	if got := b.answer(t); got.Content != "Both.\n\nDone." || len(got.ToolCalls) != 2 {
		t.Errorf("got %q with %d calls, want both texts merged and 2 calls", got.Content, len(got.ToolCalls))
	}
}

func TestBadCallsAreToldToTheModelAndNothingRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call llm.ToolCall
		want string
	}{
		"unknown tool":        {llm.ToolCall{ID: "1", Name: "fly", Args: `{}`}, "There is no tool"},
		"malformed arguments": {llm.ToolCall{ID: "1", Name: "boom", Args: `{"path": "a`}, "not valid JSON"},
		"panicking tool":      {llm.ToolCall{ID: "1", Name: "boom", Args: `{}`}, "failed inside Oxios"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			m := &model{turns: []turn{{calls: []llm.ToolCall{c.call}}, {text: "I see."}}}
			run := b.execute(t, t.Context(), m, nil, tool{"boom", func(context.Context, json.RawMessage) (agent.Result, error) { panic("boom") }})
			if got := strings.Join(toolResults(m, 1), ""); !strings.Contains(got, c.want) {
				t.Errorf("got result %q, want %q in it", got, c.want)
			}
			if run.State != store.RunDone {
				t.Errorf("got state %s, want done", run.State)
			}
			if s := b.steps(t)[1]; s.Outcome != store.OutcomeError || s.StartedAt != nil {
				t.Errorf("got outcome %s, started %v, want an error that never started", s.Outcome, s.StartedAt)
			}
		})
	}
}

func TestEndlessToolLoopEndsInAForcedAnswerThatSaysSo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := 0
	m := &model{}
	for range 10 {
		n++
		m.turns = append(m.turns, turn{calls: []llm.ToolCall{{ID: "x", Name: "echo", Args: `{"n":` + string(rune('0'+n%10)) + `}`}}})
	}
	m.turns[3] = turn{text: "Half of it is done.", calls: []llm.ToolCall{{ID: "x", Name: "echo", Args: `{}`}}}
	run := b.execute(t, t.Context(), m, func(s *agent.Spec) { s.MaxTurns = 3 }, tool{"echo", echo})
	if len(m.seen) != 4 || m.seen[3].ToolChoice != "none" {
		t.Fatalf("got %d calls, want 3 and a forced one without tools", len(m.seen))
	}
	if run.State != store.RunDone || !strings.Contains(run.EndReason, "limit of 3 turns") {
		t.Errorf("got %s, %q", run.State, run.EndReason)
	}
	if got := b.answer(t); got.Status != store.StatusForced {
		t.Errorf("got status %q, want forced", got.Status)
	}
}

func TestSameCallWithSameResultIsWarnedOfAndThenEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := &model{}
	for range 20 {
		m.turns = append(m.turns, turn{calls: []llm.ToolCall{{ID: "x", Name: "echo", Args: `{}`}}})
	}
	run := b.execute(t, t.Context(), m, nil, tool{"echo", echo})
	if run.State != store.RunFailed || len(m.seen) != 6 {
		t.Errorf("got %s after %d calls, want failed after 6", run.State, len(m.seen))
	}
	if got := toolResults(m, 3); !strings.Contains(got[2], "Try another way") {
		t.Errorf("got %q, want a warning with the third result", got[2])
	}
}

func TestCutStreamKeepsItsTextAndRunsNoTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := &model{turns: []turn{{text: "I will", calls: []llm.ToolCall{{ID: "1", Name: "echo", Args: `{}`}}, err: sys.Errorf(sys.CodeStreamCut, "cut")}}}
	run := b.execute(t, t.Context(), m, nil, tool{"echo", echo})
	if got := b.answer(t); got.Content != "I will" || got.Status != store.StatusCut {
		t.Errorf("got %q, status %q, want the text kept and marked cut", got.Content, got.Status)
	}
	if run.State != store.RunFailed || len(b.steps(t)) != 1 {
		t.Errorf("got %s with %d steps, want failed with the model step alone", run.State, len(b.steps(t)))
	}
}

func TestStopEndsAModelCallWithinASecondAndKeepsTheText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	var start time.Time
	m := &model{turns: []turn{{text: "Once upon", hang: func() { start = time.Now(); cancel(agent.ErrStopped) }}}}
	run := b.execute(t, ctx, m, nil)
	if run.State != store.RunStopped || time.Since(start) > time.Second {
		t.Errorf("got %s after %v, want stopped within a second", run.State, time.Since(start))
	}
	if got := b.answer(t); got.Content != "Once upon" || got.Status != store.StatusStopped {
		t.Errorf("got %q, status %q", got.Content, got.Status)
	}
}

func TestStopEndsARunWhoseToolDoesNotComeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.runner.LeaveAfter = time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	answers := make(chan struct{})
	t.Cleanup(func() { close(answers) })
	hang := func(context.Context, json.RawMessage) (agent.Result, error) { // as a disk that no longer answers
		cancel(agent.ErrStopped)
		<-answers
		return agent.Result{Text: "late"}, nil
	}
	m := &model{turns: []turn{{calls: []llm.ToolCall{{ID: "1", Name: "hang", Args: `{}`}}}}}
	if run := b.execute(t, ctx, m, nil, tool{"hang", hang}); run.State != store.RunStopped {
		t.Errorf("got %s, want stopped", run.State)
	}
	if s := b.steps(t); len(s) != 2 || s[1].Outcome != store.OutcomeCanceled {
		t.Errorf("got %+v, want the tool's step canceled", s)
	}
}

func TestShutdownLeavesTheRunOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	m := &model{turns: []turn{{calls: []llm.ToolCall{{ID: "1", Name: "wait", Args: `{}`}}}}}
	wait := func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
		if err := store.StepFrom(ctx).Wait(ctx, "approval", nil); err != nil {
			return agent.Result{}, err
		}
		cancel(agent.ErrShutdown)
		<-ctx.Done()
		return agent.Result{}, context.Cause(ctx)
	}
	run := b.execute(t, ctx, m, nil, tool{"wait", wait})
	if run.State.Ended() {
		t.Errorf("got %s, want a run that is still open", run.State)
	}
	if s := b.steps(t)[1]; s.State != store.StepWaiting {
		t.Fatalf("got step %s, want waiting", s.State)
	}

	// The next sitting goes on at the open step; the model call is not repeated.
	again := &model{turns: []turn{{text: "Now it is done."}}}
	run = b.execute(t, t.Context(), again, func(s *agent.Spec) { s.Steps = b.steps(t) }, tool{"wait", echo})
	if run.State != store.RunDone || len(again.seen) != 1 {
		t.Errorf("got %s after %d calls, want done after 1", run.State, len(again.seen))
	}
	if got := toolResults(again, 0); len(got) != 1 || got[0] != "echo {}" {
		t.Errorf("got results %q, want that of the step that waited", got)
	}
}

func TestStepOfUnknownOutcomeIsToldAndNeverRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	m := &model{turns: []turn{{calls: []llm.ToolCall{{ID: "1", Name: "push", Args: `{}`}, {ID: "2", Name: "wait", Args: `{}`}}}}}
	started := make(chan struct{})
	push := func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
		if err := store.StepFrom(ctx).Start(ctx, nil); err != nil {
			return agent.Result{}, err
		}
		close(started)
		<-ctx.Done()
		return agent.Result{}, context.Cause(ctx)
	}
	wait := func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
		if err := store.StepFrom(ctx).Wait(ctx, "approval", nil); err != nil {
			return agent.Result{}, err
		}
		<-started
		cancel(agent.ErrShutdown)
		<-ctx.Done()
		return agent.Result{}, context.Cause(ctx)
	}
	b.execute(t, ctx, m, nil, tool{"push", push}, tool{"wait", wait})

	again := &model{turns: []turn{{text: "Then I look first."}}}
	pushed := false
	b.execute(t, t.Context(), again, func(s *agent.Spec) { s.Steps = b.steps(t) },
		tool{"push", func(context.Context, json.RawMessage) (agent.Result, error) {
			pushed = true
			return agent.Result{}, nil
		}}, tool{"wait", echo})
	if pushed {
		t.Error("the step of unknown outcome was repeated")
	}
	if got := toolResults(again, 0); len(got) != 2 || !strings.Contains(got[0], "not known whether") || got[1] != "echo {}" {
		t.Errorf("got results %q, want the first told as unknown and the second run", got)
	}
}

func TestMessageTypedMeanwhileJoinsBeforeTheNextModelCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := &model{turns: []turn{{calls: []llm.ToolCall{{ID: "1", Name: "echo", Args: `{}`}}}, {text: "In blue, then."}}}
	err := b.st.Write(t.Context(), func(tx *store.Tx) error {
		return b.st.Enqueue(tx, &store.Queued{SessionID: b.run.SessionID, Text: "make it blue"})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.execute(t, t.Context(), m, func(s *agent.Spec) {
		s.Queued = func(tx *store.Tx) ([]store.Queued, error) { return b.st.TakeQueued(tx, b.run.SessionID, "", 0) }
	}, tool{"echo", echo})
	last := m.seen[1].Messages[len(m.seen[1].Messages)-1]
	if last.Role != llm.RoleUser || last.Content != "make it blue" {
		t.Errorf("got last message %q, want the one typed meanwhile", last.Content)
	}
	if kinds := b.steps(t); kinds[2].Kind != store.StepMessage {
		t.Errorf("got step %s, want a message step before the second model call", kinds[2].Kind)
	}
}

func TestWaitingCallGivesItsSlotToTheOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	freed := make(chan struct{})
	waits := func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
		back := sys.Park(ctx)
		defer back()
		select {
		case <-freed:
			return agent.Result{Text: "went on"}, nil
		case <-time.After(5 * time.Second):
			return agent.Result{}, errors.New("the other call never ran")
		}
	}
	frees := func(context.Context, json.RawMessage) (agent.Result, error) {
		close(freed)
		return agent.Result{Text: "freed"}, nil
	}
	m := &model{turns: []turn{{calls: []llm.ToolCall{{ID: "1", Name: "waits", Args: `{}`}, {ID: "2", Name: "frees", Args: `{}`}}}, {text: "ok"}}}
	b.execute(t, t.Context(), m, func(s *agent.Spec) { s.MaxConcurrent = 1 }, tool{"waits", waits}, tool{"frees", frees})
	if got := toolResults(m, 1); got[0] != "went on" || got[1] != "freed" {
		t.Errorf("got %q", got)
	}
}

func TestWhatWaitsBesideACallTakesNoSlotOfAnother(t *testing.T) {
	t.Parallel()
	b := setup(t)
	both, ended := make(chan struct{}), make(chan func(), 1)
	var inside context.Context
	asks := func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
		one, two := sys.Park(ctx), sys.Park(ctx) // what its server asks, twice at a time
		<-both
		one()
		two()
		inside = ctx
		return agent.Result{Text: "asked"}, nil
	}
	other := func(context.Context, json.RawMessage) (agent.Result, error) {
		close(both)
		return agent.Result{Text: "ran"}, nil
	}
	m := &model{turns: []turn{{calls: []llm.ToolCall{{ID: "1", Name: "asks", Args: `{}`}, {ID: "2", Name: "other", Args: `{}`}}}, {text: "ok"}}}
	b.execute(t, t.Context(), m, func(s *agent.Spec) { s.MaxConcurrent = 1 }, tool{"asks", asks}, tool{"other", other})
	if got := toolResults(m, 1); got[0] != "asked" || got[1] != "ran" {
		t.Errorf("got %q", got)
	}
	go func() { ended <- sys.Park(inside) }() // asked once more, when the call is over
	select {
	case back := <-ended:
		back()
	case <-time.After(30 * time.Second):
		t.Error("what outlasted its call waits for ever")
	}
}

func TestACallThatEndsWhileSomethingWaitsFreesNoSlotTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var back func()
	leaves := func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
		back = sys.Park(ctx)
		return agent.Result{Text: "left"}, nil
	}
	m := &model{turns: []turn{
		{calls: []llm.ToolCall{{ID: "1", Name: "leaves", Args: `{}`}}}, {calls: []llm.ToolCall{{ID: "2", Name: "leaves", Args: `{}`}}}, {text: "ok"},
	}}
	b.execute(t, t.Context(), m, func(s *agent.Spec) { s.MaxConcurrent = 1 }, tool{"leaves", leaves})
	if got := toolResults(m, 1); got[0] != "left" {
		t.Errorf("got %q", got)
	}
	back()
}

func TestPromptTellsTheSpaceAndWhatThePersonWantsInIt(t *testing.T) {
	t.Parallel()
	in := agent.PromptInput{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), OS: "linux", Folder: "/f"}
	if got := agent.Prompt(in); strings.Contains(got, "space") {
		t.Errorf("the default space is told: %q", got)
	}
	in.SpaceName = "Garden"
	if got := agent.Prompt(in); !strings.Contains(got, `belongs to the space "Garden"`) || strings.Contains(got, "<space>") {
		t.Errorf("got %q", got)
	}
	in.SpaceInstructions = "Say it with flowers."
	if got := agent.Prompt(in); !strings.Contains(got, "<space>\nSay it with flowers.\n</space>") {
		t.Errorf("got %q", got)
	}
}

func TestPromptIsPure(t *testing.T) {
	t.Parallel()
	in := agent.PromptInput{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), OS: "linux", Folder: "/home/minji/Oxios", Toolset: agent.Toolset{Index: "<index/>", Manifest: "### exec"}}
	a, b := agent.Prompt(in), agent.Prompt(in)
	if a != b || !strings.Contains(a, "Saturday, 21 November 2026") || !strings.Contains(a, "<index/>") || !strings.Contains(a, "names with @") {
		t.Errorf("got %q", a)
	}
}
