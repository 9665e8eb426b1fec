package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/agent"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// sized is a model that holds so many tokens. It uses tools until turns are
// over, and summarises when it is asked to.
type sized struct {
	window  int
	turns   int
	summary string
	fails   error // of summarising

	limit     int
	uncounted bool

	seen, asked []llm.Request
	step        int
}

func (m *sized) Complete(ctx context.Context, req llm.Request, emit func(llm.Delta)) (*llm.Response, store.Cost, error) {
	if err := store.StepFrom(ctx).Start(ctx, nil); err != nil {
		return nil, store.Cost{}, err
	}
	size := 0
	for _, msg := range req.Messages {
		size += 6 + llm.Tokens(msg.Content)
		for _, c := range msg.ToolCalls {
			size += 12 + llm.Tokens(c.Args)
		}
	}
	usage := llm.Usage{Input: size, Output: 10, Reported: !m.uncounted}
	if store.StepFrom(ctx).Step().Kind == store.StepContext {
		m.asked = append(m.asked, req)
		if m.fails != nil {
			return nil, store.Cost{}, m.fails
		}
		return &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Content: m.summary}, Usage: usage}, store.Cost{Calls: 1, Input: size, Output: 10}, nil
	}
	m.seen = append(m.seen, req)
	if m.limit > 0 && size > m.limit {
		return nil, store.Cost{}, sys.Errorf(sys.CodeContextLength, "The conversation does not fit the model m.")
	}
	if m.step++; m.step > m.turns {
		return &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Content: "Done."}, FinishReason: llm.FinishStop, Usage: usage}, store.Cost{Calls: 1, Input: size, Output: 10}, nil
	}
	call := llm.ToolCall{ID: fmt.Sprintf("c%d", m.step), Name: "look", Args: fmt.Sprintf(`{"n":%d}`, m.step)}
	msg := llm.Message{Role: llm.RoleAssistant, Content: fmt.Sprintf("Look %d.", m.step), ToolCalls: []llm.ToolCall{call}}
	return &llm.Response{Message: msg, FinishReason: llm.FinishTools, Usage: usage}, store.Cost{Calls: 1, Input: size, Output: 10}, nil
}

// page is a tool result of about so many tokens.
func page(tokens int) agent.Tool {
	return tool{"look", func(ctx context.Context, args json.RawMessage) (agent.Result, error) {
		if err := store.StepFrom(ctx).Start(ctx, nil); err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Text: "page " + string(args) + strings.Repeat(" and so on", tokens/3), Title: sys.Words{EN: "Looked"}}, nil
	}}
}

func (b *bundle) compacting(t *testing.T, m *sized, change func(*agent.Spec), tools ...agent.Tool) store.Run {
	t.Helper()
	spec := agent.Spec{Run: b.run, Model: m, Toolset: agent.Toolset{Tools: tools}, System: "system", ContextLength: m.window}
	if change != nil {
		change(&spec)
	}
	run, err := b.runner.Execute(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (b *bundle) rooms(t *testing.T) (list []agent.StepView) {
	t.Helper()
	for _, s := range b.steps(t) {
		if s.Kind == store.StepContext {
			list = append(list, agent.View(s))
		}
	}
	return list
}

// wellFormed checks that each result stands behind its call, and each call has
// its result.
func wellFormed(t *testing.T, messages []llm.Message) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range messages {
		if m.Role == llm.RoleTool {
			if !open[m.ToolCallID] {
				t.Errorf("message %d is the result of %s, which was not called before it", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			t.Errorf("message %d: calls %v have no result before it", i, open)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
}

func sizeOf(req llm.Request) (n int) {
	for _, m := range req.Messages {
		n += llm.Tokens(m.Content)
	}
	return n
}

func TestRunMakesRoomWhenTheWindowIsNearlyFullAndGoesOn(t *testing.T) {
	for _, uncounted := range []bool{false, true} {
		b := setup(t)
		m := &sized{window: 6000, turns: 20, summary: "SUMMARY of the pages", uncounted: uncounted}
		pinned := agent.Pinned{
			Said: []string{"Never touch prod.yaml."}, Own: []string{"do it"}, Task: "Goal: a report\nConstraint: no network", Open: []string{"- sends a mail"},
			Decided: []string{"- denied: rm notes.md"}, Files: []string{"- report.md: written"},
		}
		run := b.compacting(t, m, func(s *agent.Spec) {
			s.Pin = func(context.Context) (agent.Pinned, error) { return pinned, nil }
		}, page(400))
		rooms := b.rooms(t)
		if run.State != store.RunDone || len(rooms) == 0 || len(rooms) > 4 {
			t.Fatalf("counted %v: got %s (%s) with %d steps that make room", !uncounted, run.State, run.EndReason, len(rooms))
		}
		made := rooms[0]
		if made.Room.After >= made.Room.Before/2 || made.Room.Before < 4800 || made.Room.Before > 6000 || made.Room.Dropped.Results == 0 {
			t.Errorf("counted %v: got room %+v, want it made at 0.8 of 6000 and to win half", !uncounted, *made.Room)
		}
		if made.Title != fmt.Sprintf("Made room: %d messages and %d tool results summarised", made.Room.Dropped.Messages, made.Room.Dropped.Results) || made.TitleKO == "" || made.Cost == nil {
			t.Errorf("got the title %q (%q), cost %v", made.Title, made.TitleKO, made.Cost)
		}
		for i, req := range m.seen {
			wellFormed(t, req.Messages)
			if n := sizeOf(req); n > 6000 {
				t.Errorf("counted %v: request %d has %d tokens", !uncounted, i, n)
			}
		}
		last := m.seen[len(m.seen)-1].Messages
		for _, want := range []string{"Never touch prod.yaml.", "do it", "Goal: a report\nConstraint: no network", "- sends a mail", "- denied: rm notes.md", "- report.md: written", "SUMMARY of the pages", b.run.ID} {
			if !strings.Contains(last[1].Content, want) {
				t.Errorf("%q is lost in:\n%s", want, last[1].Content)
			}
		}
		if n := sizeOf(m.asked[0]); n > 4500 || !strings.Contains(m.asked[0].Messages[1].Content, `page {"n":1}`) {
			t.Errorf("the summary was asked for with %d tokens:\n%.600s", n, m.asked[0].Messages[1].Content)
		}
		if len(m.asked) > 1 && !strings.Contains(m.asked[1].Messages[1].Content, "SUMMARY of the pages") {
			t.Error("the second summary does not know the first one")
		}
		want := store.Cost{}
		for _, s := range b.steps(t) {
			if v := agent.View(s); v.Cost != nil {
				want = want.Add(*v.Cost)
			}
		}
		if run.Cost != want || run.Cost.Calls != len(m.seen)+len(m.asked) {
			t.Errorf("the run cost %+v, its steps %+v", run.Cost, want)
		}
		if run.Turns != len(m.seen) {
			t.Errorf("got %d turns of %d calls: making room is none", run.Turns, len(m.seen))
		}
	}
}

func TestNothingIsPutShorterWhileTheWindowIsUnknownOrHasRoom(t *testing.T) {
	for _, window := range []int{0, 100_000} {
		b := setup(t)
		m := &sized{window: window, turns: 12}
		if run := b.compacting(t, m, nil, page(400)); run.State != store.RunDone || len(m.asked) != 0 {
			t.Errorf("window %d: got %s, %d summaries", window, run.State, len(m.asked))
		}
	}
}

func TestRefusedConversationIsPutShorterOnceAndAskedAgain(t *testing.T) {
	b := setup(t)
	m := &sized{turns: 30, summary: "short", limit: 3000, window: 100_000}
	run := b.compacting(t, m, nil, page(400))
	if run.State != store.RunDone || len(m.asked) == 0 {
		t.Fatalf("got %s (%s), %d summaries", run.State, run.EndReason, len(m.asked))
	}
	var refused, after store.Step
	steps := b.steps(t)
	i := slices.IndexFunc(steps, func(s store.Step) bool { return s.Kind == store.StepContext })
	refused, after = steps[i-1], steps[i+1]
	errs := 0
	for _, s := range steps {
		if s.Outcome == store.OutcomeError {
			errs++
		}
	}
	if errs != 1 {
		t.Errorf("it was refused %d times: one refusal tells how much the model holds", errs)
	}
	if refused.Kind != store.StepModel || refused.Outcome != store.OutcomeError || after.Kind != store.StepModel || after.Outcome != store.OutcomeOK {
		t.Errorf("got %s %s, then %s %s", refused.Kind, refused.Outcome, after.Kind, after.Outcome)
	}
}

func TestConversationThatIsRefusedAgainEndsTheRunWithAClearSentence(t *testing.T) {
	b := setup(t)
	m := &sized{turns: 9, summary: "short", limit: 250} // what stays is more
	run := b.compacting(t, m, nil, page(1500))
	if run.State != store.RunFailed || run.Error == nil || run.Error.Code != sys.CodeContextLength || run.Error.Hint == "" || run.Error.MessageKO == "" ||
		!strings.Contains(run.EndReason, "too long") || len(m.asked) > 1 || len(m.seen) > 3 {
		t.Errorf("got %s (%s), %d summaries, %d calls", run.State, run.EndReason, len(m.asked), len(m.seen))
	}
}

func TestFailedSummaryIsMadeWithoutAModel(t *testing.T) {
	b := setup(t)
	m := &sized{window: 6000, turns: 14, fails: errors.New("the model is away")}
	run := b.compacting(t, m, nil, page(400))
	rooms := b.rooms(t)
	if run.State != store.RunDone || len(rooms) == 0 {
		t.Fatalf("got %s (%s)", run.State, run.EndReason)
	}
	if r := rooms[0]; r.Outcome != store.OutcomeOK || !r.Room.Mechanical || !strings.Contains(r.Detail, "the model is away") || !strings.Contains(r.Title, "could not be asked") ||
		!strings.Contains(r.Output, "step look: Looked (ok)") || !strings.Contains(r.Output, "assistant: Look 1.") {
		t.Errorf("got %q (%s):\n%s", r.Title, r.Detail, r.Output)
	}
}

func TestResultThatAloneFillsTheWindowIsShortenedAndSaysSo(t *testing.T) {
	b := setup(t)
	m := &sized{window: 6000, turns: 3, summary: "short"}
	run := b.compacting(t, m, nil, page(7000))
	if run.State != store.RunDone {
		t.Fatalf("got %s (%s)", run.State, run.EndReason)
	}
	for i, req := range m.seen {
		wellFormed(t, req.Messages)
		if n := sizeOf(req); n > 6000 {
			t.Errorf("request %d has %d tokens", i, n)
		}
	}
	last := m.seen[len(m.seen)-1].Messages
	if text := last[len(last)-1].Content; !strings.HasPrefix(text, `page {"n":3}`) || !strings.Contains(text, "is left out where … stands") {
		t.Errorf("the last result reads %.200q", text)
	}
	steps := b.steps(t)
	told, _ := agent.Tell(agent.Plain("do it", nil), steps[:len(steps)-1], agent.Plain)
	if diff := cmp.Diff(last[1:], told.Talk(nil)); diff != "" {
		t.Errorf("taken up again it reads something else (-read +taken up):\n%s", diff)
	}
}

func TestRoomThatCannotBeMadeIsNotTriedInALoop(t *testing.T) {
	b := setup(t)
	m := &sized{window: 6000, turns: 30, summary: "short"}
	run := b.compacting(t, m, func(s *agent.Spec) {
		s.Pin = func(context.Context) (agent.Pinned, error) {
			return agent.Pinned{Task: strings.Repeat("a criterion that binds ", 1600)}, nil // more than the window holds
		}
	}, page(400))
	if run.State != store.RunFailed || run.Error.Code != sys.CodeContextLength || len(m.asked) > 1 {
		t.Errorf("got %s (%s), %d summaries", run.State, run.EndReason, len(m.asked))
	}
	b = setup(t)
	long := strings.Repeat("word for word ", 1300) // binds, and fills 0.85 of the window, which is still room
	b.run.Text = long
	m = &sized{window: 6000, turns: 3, summary: "short"}
	run = b.compacting(t, m, nil, page(40))
	if run.State != store.RunDone || len(m.asked) > 1 {
		t.Errorf("a message that fills the window: got %s (%s), %d summaries", run.State, run.EndReason, len(m.asked))
	}
}

// A kill at any place of the journal, and what the model reads then.
func TestRunThatIsTakenUpAgainReadsTheSame(t *testing.T) {
	whole := setup(t)
	m := &sized{window: 6000, turns: 16, summary: "SUMMARY"}
	whole.compacting(t, m, nil, page(400))
	steps := whole.steps(t)
	if len(m.asked) == 0 {
		t.Fatal("no room was made")
	}
	for n := 1; n < len(steps)-1; n++ {
		if steps[n].Kind == store.StepTool {
			continue // the next request stands behind the results
		}
		told, open := agent.Tell(agent.Plain("do it", nil), steps[:n], agent.Plain)
		if len(open) > 0 {
			t.Fatalf("%d: open steps %v", n, open)
		}
		asked := 0
		for _, s := range steps[:n] {
			if s.Kind == store.StepModel {
				asked++
			}
		}
		if steps[n].Kind == store.StepContext {
			continue
		}
		want := m.seen[asked].Messages[1:]
		if diff := cmp.Diff(want, told.Talk(nil)); diff != "" {
			t.Errorf("after %d steps (-read +taken up):\n%s", n, diff)
		}
	}
}

func TestRoomThatACrashCutOffIsMadeAgain(t *testing.T) {
	b := setup(t)
	m := &sized{window: 6000, turns: 14, summary: "SUMMARY"}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	down := &crashing{sized: m, stop: func() { stop(agent.ErrShutdown) }}
	run := b.execute(t, ctx, nil, func(s *agent.Spec) { s.Model, s.ContextLength = down, 6000 }, page(400))
	steps := b.steps(t)
	if last := steps[len(steps)-1]; run.State != store.RunRunning || last.Kind != store.StepContext || last.State != store.StepStarted {
		t.Fatalf("got %s, the last step %s %s", run.State, last.Kind, last.State)
	}
	b.run = run
	run = b.compacting(t, m, func(s *agent.Spec) { s.Steps = steps }, page(400))
	rooms := b.rooms(t)
	if run.State != store.RunDone || len(rooms) < 2 || rooms[0].Outcome != store.OutcomeCanceled || rooms[1].Outcome != store.OutcomeOK {
		t.Errorf("got %s (%s), %+v", run.State, run.EndReason, rooms)
	}
	for _, req := range m.seen {
		wellFormed(t, req.Messages)
	}
}

// crashing goes down when it is asked for a summary.
type crashing struct {
	*sized
	stop func()
}

func (c *crashing) Complete(ctx context.Context, req llm.Request, emit func(llm.Delta)) (*llm.Response, store.Cost, error) {
	if store.StepFrom(ctx).Step().Kind != store.StepContext {
		return c.sized.Complete(ctx, req, emit)
	}
	if err := store.StepFrom(ctx).Start(ctx, nil); err != nil {
		return nil, store.Cost{}, err
	}
	c.stop()
	return nil, store.Cost{}, ctx.Err()
}

func TestStopWhileRoomIsMadeStopsTheRun(t *testing.T) {
	b := setup(t)
	m := &sized{window: 6000, turns: 14, summary: "SUMMARY"}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	down := &crashing{sized: m, stop: func() { stop(agent.ErrStopped) }}
	run := b.execute(t, ctx, nil, func(s *agent.Spec) { s.Model, s.ContextLength = down, 6000 }, page(400))
	rooms := b.rooms(t)
	if run.State != store.RunStopped || len(rooms) != 1 || rooms[0].Outcome != store.OutcomeCanceled {
		t.Errorf("got %s, %+v", run.State, rooms)
	}
}

func TestMessagesThatAloneAreTooLongAreShortenedTheOldestFirstAndItIsSaid(t *testing.T) {
	b := setup(t)
	m := &sized{window: 6000, turns: 12, summary: "SUMMARY"}
	old, recent := "OLDEST "+strings.Repeat("blah ", 2000)+"THE END", "Recent, and short."
	b.compacting(t, m, func(s *agent.Spec) {
		s.History = []llm.Message{agent.Plain(old, nil), {Role: llm.RoleAssistant, Content: "ok"}, agent.Plain(recent, nil), {Role: llm.RoleAssistant, Content: "ok"}}
		s.Pin = func(context.Context) (agent.Pinned, error) {
			return agent.Pinned{Said: []string{old, recent}, Own: []string{"do it"}}, nil
		}
	}, page(400))
	rooms := b.rooms(t)
	if len(rooms) == 0 {
		t.Fatal("no room was made")
	}
	text := rooms[0].Output
	for _, want := range []string{"OLDEST", "THE END", fmt.Sprintf("shortened; it had %d bytes", len(old)), recent} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is lost in:\n%s", want, text)
		}
	}
}

func TestWindowIsAskedForOnceTheConversationHasGrown(t *testing.T) {
	b := setup(t)
	m := &sized{turns: 30, summary: "short"}
	asked := 0
	run := b.compacting(t, m, func(s *agent.Spec) {
		s.Window = func(context.Context) int { asked++; return 10_000 }
	}, page(600))
	if run.State != store.RunDone || asked != 1 || len(m.asked) == 0 {
		t.Errorf("got %s (%s), asked %d times, %d summaries", run.State, run.EndReason, asked, len(m.asked))
	}
	b, asked = setup(t), 0
	if run := b.compacting(t, &sized{turns: 2}, func(s *agent.Spec) {
		s.Window = func(context.Context) int { asked++; return 10_000 }
	}, page(100)); run.State != store.RunDone || asked != 0 {
		t.Errorf("a short one: got %s, asked %d times", run.State, asked)
	}
}

func TestWindowThatIsTooSmallForOxiosItselfIsSaid(t *testing.T) {
	b := setup(t)
	m := &sized{window: 400, limit: 300}
	run := b.compacting(t, m, func(s *agent.Spec) { s.System = strings.Repeat("be useful ", 200) })
	if run.State != store.RunFailed || run.Error == nil || run.Error.Code != sys.CodeContextLength || run.Error.MessageKO == "" ||
		!strings.Contains(run.Error.Message, "holds 400 tokens, and Oxios itself needs about") || !strings.Contains(run.Error.Hint, "a window of at least") {
		t.Errorf("got %s, %v (%s)", run.State, run.Error, run.EndReason)
	}
}
