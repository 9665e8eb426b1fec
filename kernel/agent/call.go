package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// call is one tool call on its way through the journal.
type call struct {
	llm.ToolCall
	step *store.Step
	open *store.OpenStep
}

// CallArgs is what the journal keeps of a tool call's arguments.
type CallArgs struct {
	Title   string          `json:"title,omitempty"`
	TitleKO string          `json:"title_ko,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Raw     string          `json:"raw,omitempty"` // the model's text, when it is no JSON
}

func (x *run) callsOf(tc []llm.ToolCall) []call {
	var calls []call
	for _, t := range tc {
		kept := CallArgs{Title: t.Name}
		if raw := []byte(strings.TrimSpace(t.Args)); json.Valid(raw) {
			kept.Args = raw
		} else {
			kept.Raw = t.Args
		}
		if tool, ok := x.tools[t.Name]; ok {
			title := tool.Title(kept.Args)
			kept.Title, kept.TitleKO = title.EN, title.KO
		}
		calls = append(calls, call{ToolCall: t, step: &store.Step{Kind: store.StepTool, Name: t.Name, CallID: t.ID, Args: mustJSON(kept)}})
	}
	return calls
}

// useTools runs the calls side by side, at most MaxConcurrent at once, and adds
// their results to the conversation in the order in which they were asked for.
func (x *run) useTools(ctx context.Context, calls []call) (ending, bool) {
	return x.settle(ctx, calls, x.useAll(ctx, calls))
}

func (x *run) useAll(ctx context.Context, calls []call) []outcome {
	results := make([]outcome, len(calls))
	slots := make(chan struct{}, x.spec.MaxConcurrent)
	var wg sync.WaitGroup
	waiting := &parking{ctx: ctx, slots: slots}
	for i, c := range calls {
		wg.Go(func() {
			slots <- struct{}{}
			seat := &seat{all: waiting}
			defer seat.end()
			results[i] = x.use(sys.WithPark(ctx, seat.leave), c)
		})
	}
	wg.Wait()
	return results
}

// parking lets a call that waits for a person give its slot to the run's other
// calls, and, with the first that waits, the run's slot to other runs.
type parking struct {
	ctx   context.Context
	slots chan struct{}

	mu   sync.Mutex
	n    int
	back func()
}

func (p *parking) leave() {
	<-p.slots
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		p.back = sys.Park(p.ctx)
	}
}

// over says that a call waits no more. Its own slot it has not back yet.
func (p *parking) over() {
	p.mu.Lock()
	back := p.back
	p.n--
	last := p.n == 0
	p.mu.Unlock()
	if last {
		back()
	}
}

// seat is the slot of one call. What a server asks in the middle of it waits
// beside it, more than once at a time, and may outlast it.
type seat struct {
	all *parking

	mu    sync.Mutex
	away  int // how many wait
	ended bool
}

func (s *seat) leave() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return func() {}
	}
	if s.away++; s.away == 1 {
		s.all.leave()
	}
	return s.enter
}

func (s *seat) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away--; s.away > 0 || s.ended {
		return
	}
	s.all.over()
	s.all.slots <- struct{}{}
}

// end gives the slot up for good.
func (s *seat) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; s.away > 0 {
		s.all.over()
		return
	}
	<-s.all.slots
}

// outcome is how one tool call ended.
type outcome struct {
	result Result
	err    error
	kind   string // store.Outcome…
	fatal  error  // the journal could not be written
	open   bool   // the kernel goes down; the step stays as it is
}

// settle adds results to the conversation and decides whether the run goes on.
func (x *run) settle(ctx context.Context, calls []call, results []outcome) (ending, bool) {
	for i, c := range calls {
		o := results[i]
		switch {
		case o.open:
			return ending{}, true
		case o.fatal != nil:
			return x.failed(ctx, o.fatal, ""), true
		}
		text := o.result.Text
		if n := x.repeats.seen(c.Name, c.Args, text); n >= giveUpAfter {
			return ending{
				state: store.RunFailed, status: "failed", reason: fmt.Sprintf("The same step gave the same result %d times.", n),
				err: sys.Errorf(sys.CodeRefused, "The same step (%s) gave the same result %d times, so the run was ended. What was done before is kept.", c.Name, n).
					WithHint("Say what should be done differently, then continue."),
			}, true
		} else if n >= warnAfter {
			text += fmt.Sprintf("\n\n(Oxios: this same call has now given this same result %d times. Try another way, or answer with what you know.)", n)
		}
		x.cost = x.cost.Add(o.result.Cost)
		x.add(llm.Message{Role: "tool", ToolCallID: c.ID, Content: text})
		for _, t := range o.result.Offer {
			x.offer(t)
		}
		x.calls = append(x.calls, store.ToolCall{ID: c.ID, Name: c.Name, Args: jsonOrNil(c.Args), Outcome: o.kind, Summary: o.result.Title.EN})
	}
	if ctx.Err() != nil {
		return x.failed(ctx, context.Cause(ctx), ""), true
	}
	return ending{}, false
}

func jsonOrNil(s string) json.RawMessage {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return nil
}

// use runs one tool call and closes its step.
func (x *run) use(ctx context.Context, c call) outcome {
	keep := context.WithoutCancel(ctx)
	var o outcome
	if err := ctx.Err(); err != nil {
		o = outcome{err: context.Cause(ctx)}
	} else {
		o.result, o.err = x.invoke(store.WithStep(ctx, c.open), c)
		if x.spec.Clean != nil && c.open.Step().Labels.Untrusted() {
			o.result.Text = x.spec.Clean(o.result.Text)
		}
	}
	if o.err != nil && errors.Is(context.Cause(ctx), ErrShutdown) {
		return outcome{open: true}
	}
	o.kind = store.OutcomeOK
	kept := ToolStep{Title: o.result.Title.EN, TitleKO: o.result.Title.KO, Text: o.result.Text, App: o.result.App}
	for _, t := range o.result.Offer {
		kept.Offered = append(kept.Offered, t.Name())
	}
	if o.err != nil {
		o.kind = outcomeOf(ctx, o.err)
		kept.Text = ErrorText(o.err)
		if o.kind == store.OutcomeUnknown {
			o.result.Text = ""
		} else {
			kept.Error = sys.AsError(o.err)
		}
		if o.result.Text != "" { // what came before the failure is worth reading
			kept.Text += "\n\n" + o.result.Text
		}
		o.result.Text = kept.Text
	}
	o.fatal = x.closeStep(keep, c.open, o.kind, mustJSON(kept), nil)
	return o
}

// ErrUnknown is the error of a tool whose effect nobody knows.
var ErrUnknown = errors.New("the outcome is not known")

// ErrorText is how a model reads a failure.
func ErrorText(err error) string {
	switch {
	case errors.Is(err, ErrStopped):
		return "It was stopped before it ended."
	case errors.Is(err, ErrUnknown):
		return unknownText
	}
	e := sys.AsError(err)
	text := "Error (" + string(e.Code) + "): " + e.Message
	if e.Hint != "" {
		text += " " + e.Hint
	}
	return text
}

func (x *run) invoke(ctx context.Context, c call) (res Result, err error) {
	tool, ok := x.tools[c.Name]
	if !ok {
		names := make([]string, 0, len(x.tools))
		for n := range x.tools {
			names = append(names, n)
		}
		slices.Sort(names)
		return Result{}, sys.Errorf(sys.CodeNotFound, "There is no tool %q. Nothing was done.", c.Name).
			WithHint("The tools are: %s.", strings.Join(names, ", "))
	}
	var args CallArgs
	if err := json.Unmarshal(c.step.Args, &args); err != nil {
		return Result{}, fmt.Errorf("read the arguments of %s: %w", c.Name, err)
	}
	if args.Args == nil {
		if strings.TrimSpace(args.Raw) != "" {
			var v any
			detail := json.Unmarshal([]byte(args.Raw), &v)
			return Result{}, sys.Errorf(sys.CodeInvalid, "The arguments of %s are not valid JSON: %v. Nothing was done.", c.Name, detail).
				WithHint("Send one JSON object that fits the tool's schema.")
		}
		args.Args = json.RawMessage("{}")
	}
	return x.stoppable(ctx, c.Name, func() (res Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				x.Log.Error("Tool panicked", "tool", c.Name, "run_id", x.id, "panic", p, "stack", string(debug.Stack()))
				err = sys.Errorf(sys.CodeInternal, "The tool %s failed inside Oxios: %v.", c.Name, p).WithHint("Try another way.")
			}
		}()
		return tool.Call(ctx, args.Args)
	})
}

// stoppable makes a call that a stop of the run ends at any rate. One that does
// not come back, as from a disk that no longer answers, is left behind: it can
// have no further effect, because the guard begins none in a run that was stopped.
func (x *run) stoppable(ctx context.Context, name string, call func() (Result, error)) (Result, error) {
	type answer struct {
		res Result
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := call()
		done <- answer{res, err}
	}()
	select {
	case a := <-done:
		return a.res, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(cmp.Or(x.LeaveAfter, 4*time.Second))
	defer late.Stop()
	select {
	case a := <-done:
		return a.res, a.err
	case <-late.C:
		x.Log.WarnContext(ctx, "A tool did not come back after its run was stopped", "tool", name, "run_id", x.id)
		return Result{}, errors.Join(ErrUnknown, context.Cause(ctx))
	}
}

// How often the same call may give the same result.
const (
	warnAfter   = 3
	giveUpAfter = 6
)

// repeats counts how often the newest call has given the same result in a row.
type repeats struct {
	key   []byte
	count int
}

func (r *repeats) seen(name, args, result string) int {
	key := []byte(name + "\x00" + args + "\x00" + result)
	if bytes.Equal(key, r.key) {
		r.count++
	} else {
		r.key, r.count = key, 1
	}
	return r.count
}
