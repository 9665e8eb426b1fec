package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Causes with which a run's context ends. Any other one is a [sys.Error], with
// which the run fails.
var (
	ErrStopped       = errors.New("stopped") // by a person, or by the agent that forked it
	ErrParentStopped = fmt.Errorf("%w: with its parent", ErrStopped)
	ErrShutdown      = errors.New("the kernel shuts down")
)

// Defaults of K3.
const (
	DefaultMaxTurns      = 25
	DefaultMaxConcurrent = 10
)

// Runner executes runs. All its fields are needed.
type Runner struct {
	Store *store.Store
	Bus   *event.Bus
	Log   *slog.Logger
	Clock sys.Clock

	// LeaveAfter is how long a tool may take to notice that its run was stopped,
	// before the run ends without it. The default, four seconds, is enough for a
	// command to end its processes.
	LeaveAfter time.Duration
}

// Spec is one run, with all that it may use.
type Spec struct {
	Run           store.Run
	Model         Model
	Toolset       Toolset
	System        string
	History       []llm.Message             // what was said and done in the session before this run
	Earlier       *ContextStep              // what History begins with, where that is no message but what stands for many; else nil
	ContextLength int                       // tokens, 0 when unknown
	Window        func(context.Context) int // asks for ContextLength when it is unknown and the conversation has grown; nil asks nobody
	MaxTurns      int                       // model calls with tools, then one forced answer; default 25
	MaxConcurrent int                       // tools at once; default 10
	Demo          bool                      // answers come from the scripted endpoint

	// Say makes the messages of the person; nil is [Plain].
	Say Say

	// Steps are those of an earlier sitting: the run goes on at the first open one.
	// Again says whether one that had started may be done again; nil says of none.
	Steps []store.Step
	Again func(context.Context, store.Step) bool

	// Started is called when the run's state has become running.
	Started func()

	// Gate blocks while everything is paused.
	Gate func(ctx context.Context) error

	// Queued takes the messages that were typed meanwhile, in tx.
	Queued func(tx *store.Tx) ([]store.Queued, error)

	// Came tells where what came with a message is from, and Clean takes from words
	// that others wrote what people do not see of them; nil is nothing.
	Came  func([]store.Attachment) store.Labels
	Clean func(string) string

	// Notes takes what the kernel has to tell the run; nil is nothing.
	Notes func() []Note

	// Mailbox holds what other agents write to the run; nil is an empty one.
	Mailbox Mailbox

	// Task is what the run has promised; nil for a run that promises nothing.
	Task Task

	// Pin tells what stays word for word when the run makes room in the model's
	// window; nil tells nothing.
	Pin func(ctx context.Context) (Pinned, error)

	// Recorded gives a run that is played again the step with which it made room
	// at this place; nil for every other run.
	Recorded func() (store.Step, bool, error)
}

// run is the state of one execution.
type run struct {
	*Runner
	spec    Spec
	id      string
	journal *store.Journal
	tools   map[string]Tool
	defs    []llm.Tool
	talk    []llm.Message // what the model reads next
	own     []llm.Message // what was said and done in this run, all of it
	people  []int         // the places in own of what persons said
	room    room
	said    []string
	calls   []store.ToolCall
	cost    store.Cost
	turns   int
	reason  strings.Builder
	repeats repeats
	live    *live
	stand   *llm.Stand // who made the newest call, if not the run's own model
	lacked  bool       // the newest answer was none, and the model was asked once more
}

// Execute runs spec until it ends and returns the run as it then stands. When
// ctx ended because of [ErrShutdown] the run is left as it is in the journal,
// to be taken up later. An error means that the journal could not be written.
func (r *Runner) Execute(ctx context.Context, spec Spec) (store.Run, error) {
	if spec.MaxTurns <= 0 {
		spec.MaxTurns = DefaultMaxTurns
	}
	if spec.MaxConcurrent <= 0 {
		spec.MaxConcurrent = DefaultMaxConcurrent
	}
	if spec.Say == nil {
		spec.Say = Plain
	}
	keep := context.WithoutCancel(ctx)
	journal, err := r.Store.Journal(keep, spec.Run.ID)
	if err != nil {
		return spec.Run, fmt.Errorf("open the journal of run %s: %w", spec.Run.ID, err)
	}
	x := &run{Runner: r, spec: spec, id: spec.Run.ID, journal: journal, tools: map[string]Tool{}, cost: spec.Run.Cost, turns: spec.Run.Turns}
	x.live = &live{bus: r.Bus, runID: x.id, sessionID: spec.Run.SessionID, beat: func() { sys.Beat(ctx) }}
	for _, t := range spec.Toolset.Tools {
		x.offer(t)
	}
	x.talk = append([]llm.Message{{Role: llm.RoleSystem, Content: spec.System}}, spec.History...)
	x.room.earlier = spec.Earlier
	x.hear(spec.Say(spec.Run.Text, spec.Run.Attachments))
	if err := x.begin(keep); err != nil {
		return x.spec.Run, err
	}
	end := x.loop(ctx)
	if errors.Is(context.Cause(ctx), ErrShutdown) && !end.committed {
		return x.spec.Run, nil
	}
	if !end.committed {
		if err := x.finish(keep, end, nil); err != nil {
			return x.unwritten(end, err)
		}
	}
	return x.spec.Run, nil
}

// offer lets the run use a tool from its next model call on. The first of a name stays.
func (x *run) offer(t Tool) {
	if _, there := x.tools[t.Name()]; there {
		return
	}
	x.tools[t.Name()] = t
	x.defs = append(x.defs, llm.Tool{Name: t.Name(), Description: t.Description(), Schema: t.Schema()})
}

// add puts a message behind what was said and done.
func (x *run) add(m llm.Message) {
	x.talk, x.own = append(x.talk, m), append(x.own, m)
}

// hear is add for what a person said.
func (x *run) hear(m llm.Message) {
	x.people = append(x.people, len(x.own))
	x.add(m)
}

func (x *run) begin(ctx context.Context) error {
	if x.spec.Run.State == store.RunWaiting && len(x.spec.Steps) > 0 {
		return nil // it still waits; the guard says when it goes on
	}
	now := x.Clock.Now()
	running := store.RunRunning
	patch := store.RunPatch{State: &running}
	if x.spec.Run.StartedAt == nil {
		patch.StartedAt = &now
	}
	if err := x.Store.Write(ctx, func(tx *store.Tx) error { return x.Store.UpdateRun(tx, x.id, patch) }); err != nil {
		return fmt.Errorf("start run %s: %w", x.id, err)
	}
	x.spec.Run.State = running
	if patch.StartedAt != nil {
		x.spec.Run.StartedAt = patch.StartedAt
	}
	x.publish(event.RunStarted, x.spec.Run)
	if x.spec.Started != nil {
		x.spec.Started()
	}
	return nil
}

func (x *run) loop(ctx context.Context) ending {
	end, done := x.resume(ctx)
	if done {
		return end
	}
	for {
		if err := x.pause(ctx); err != nil {
			return x.failed(ctx, err, "")
		}
		if err := x.takeQueued(ctx); err != nil {
			return x.failed(ctx, err, "")
		}
		if err := x.takeMail(ctx); err != nil {
			return x.failed(ctx, err, "")
		}
		if err := x.takeNotes(ctx); err != nil {
			return x.failed(ctx, err, "")
		}
		if err := x.makeRoom(ctx); err != nil {
			return x.failed(ctx, err, "")
		}
		forced := x.turns >= x.spec.MaxTurns
		end, calls, done := x.turn(ctx, forced)
		if done {
			return end
		}
		if end, done := x.useTools(ctx, calls); done {
			return end
		}
	}
}

func (x *run) pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.spec.Gate == nil {
		return nil
	}
	return x.spec.Gate(ctx)
}

// takeQueued makes each message that was typed meanwhile a step of its own.
func (x *run) takeQueued(ctx context.Context) error {
	if x.spec.Queued == nil || x.turns == 0 {
		return nil
	}
	keep := context.WithoutCancel(ctx)
	var taken []store.Queued
	var added []store.Message
	var steps []*store.OpenStep
	err := x.Store.Write(keep, func(tx *store.Tx) error {
		taken, added, steps = nil, nil, nil
		q, err := x.spec.Queued(tx)
		if err != nil || len(q) == 0 {
			return err
		}
		for _, m := range q {
			step := &store.Step{Kind: store.StepMessage, Name: "user", Args: mustJSON(MessageStep{Text: m.Text, Attachments: m.Attachments})}
			if x.spec.Came != nil && len(m.Attachments) > 0 {
				step.Labels = x.spec.Came(m.Attachments)
			}
			if err := x.journal.Propose(tx, step); err != nil {
				return err
			}
			msg := store.Message{ID: m.ID, SessionID: x.spec.Run.SessionID, RunID: x.id, Role: "user", Content: m.Text, At: x.Clock.Now(), Attachments: m.Attachments, Pasted: m.Pasted}
			if err := x.Store.AddMessage(tx, msg); err != nil {
				return err
			}
			taken, added, steps = append(taken, m), append(added, msg), append(steps, x.journal.Open(step))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, s := range steps {
		if err := s.Start(keep, nil); err != nil {
			return err
		}
		if err := s.Close(keep, store.OutcomeOK, s.Step().Args, nil); err != nil {
			return err
		}
		x.hear(x.spec.Say(taken[i].Text, taken[i].Attachments))
		x.publishStep(s.Step())
		x.publish(event.MessageAdded, added[i])
	}
	if len(taken) > 0 && x.spec.Run.ParentID == "" { // a fork's messages are not the conversation's
		x.publish(event.QueueChanged, []store.Queued{})
	}
	return nil
}

// turn makes one model call. It reports done when the run ends with it, else
// the tool steps that it proposed.
func (x *run) turn(ctx context.Context, forced bool) (ending, []call, bool) {
	keep := context.WithoutCancel(ctx)
	step := &store.Step{Kind: store.StepModel, Name: x.spec.Run.Model, Args: mustJSON(map[string]any{"turn": x.turns + 1, "forced": forced})}
	open := x.journal.Plan(step) // it is proposed with the guard's own record

	req := llm.Request{Model: x.spec.Run.Model, Messages: x.talk, Tools: x.defs, ContextLength: x.spec.ContextLength}
	if forced {
		req.ToolChoice = "none"
		req.Messages = append(append([]llm.Message{}, x.talk...), llm.Message{Role: "user", Content: forcedNote(x.spec.MaxTurns)})
	}
	resp, cost, err := x.spec.Model.Complete(store.WithStep(ctx, open), req, x.live.delta)
	thought := x.live.end()
	x.turns++
	x.cost = x.cost.Add(cost)
	kept := ModelStep{Cost: cost, ThoughtMS: thought.Milliseconds()}
	if resp != nil {
		kept.Text, kept.Reasoning, kept.Finish, kept.Model = resp.Message.Content, resp.Message.Reasoning, resp.FinishReason, resp.Model
		kept.FirstMS, kept.Stand, kept.Back = resp.FirstToken.Milliseconds(), resp.Stand, resp.Message.Back
		x.stand = resp.Stand
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrShutdown) {
			return ending{}, nil, true
		}
		kept.Error = err.Error()
		if code := sys.CodeOf(err); (code == sys.CodeContextLength || code == sys.CodeTooLarge) && ctx.Err() == nil {
			if x.canMakeRoom() {
				return x.refused(keep, open, kept, err)
			}
			if code == sys.CodeContextLength {
				err = x.tooLong(err)
			}
		}
		end := x.failed(ctx, err, kept.Text)
		if cerr := x.closeStep(keep, open, outcomeOf(ctx, err), mustJSON(kept), func(tx *store.Tx) error { return x.finishIn(tx, &end) }); cerr != nil {
			return x.failed(ctx, cerr, kept.Text), nil, true
		}
		x.announceEnd(end)
		end.committed = true
		return end, nil, true
	}

	calls := x.callsOf(resp.Message.ToolCalls)
	if forced {
		calls = nil
	}
	if l := x.lacking(resp); l != nil && len(calls) == 0 && !(x.lacked && x.spec.Task != nil && x.spec.Task.Active()) {
		if forced {
			l.note = Note{}
		}
		if kept.Text != "" {
			x.add(llm.Message{Role: llm.RoleAssistant, Content: kept.Text})
		}
		return x.askAgain(ctx, open, kept, l)
	}
	x.lacked = false
	if kept.Text != "" {
		x.said = append(x.said, kept.Text)
	}
	if kept.Reasoning != "" {
		x.reason.WriteString(kept.Reasoning)
	}
	kept.ToolCalls = resp.Message.ToolCalls
	msg := resp.Message
	if forced {
		msg.ToolCalls, kept.ToolCalls = nil, nil
	}
	x.add(msg)
	kept.Counted = x.room.measured(resp.Usage, len(x.talk))
	if len(calls) == 0 {
		end := ending{state: store.RunDone, reason: "answered"}
		if forced {
			end.status, end.reason = "forced", fmt.Sprintf("It reached the limit of %d turns and was asked for its answer.", x.spec.MaxTurns)
		}
		if resp.FinishReason == "length" {
			end.status, end.reason = "cut", "The answer reached the model's limit of output tokens."
		}
		if x.spec.Task != nil && x.spec.Task.Active() {
			return x.answered(ctx, open, kept, end, forced)
		}
		more := false
		err := x.closeStep(keep, open, store.OutcomeOK, mustJSON(kept), func(tx *store.Tx) (err error) {
			if more, err = x.unread(tx, end); err != nil || more {
				return err
			}
			return x.finishIn(tx, &end)
		})
		if err != nil {
			return x.failed(ctx, err, ""), nil, true
		}
		if more {
			return ending{}, nil, false
		}
		x.announceEnd(end)
		end.committed = true
		return end, nil, true
	}
	err = x.closeStep(keep, open, store.OutcomeOK, mustJSON(kept), func(tx *store.Tx) error {
		steps := make([]*store.Step, len(calls))
		for i := range calls {
			steps[i] = calls[i].step
		}
		if err := x.journal.Propose(tx, steps...); err != nil {
			return err
		}
		return x.Store.UpdateRun(tx, x.id, store.RunPatch{Turns: &x.turns, Cost: &x.cost})
	})
	if err != nil {
		return x.failed(ctx, err, ""), nil, true
	}
	for i := range calls {
		calls[i].open = x.journal.Open(calls[i].step)
		x.publishStep(calls[i].open.Step())
	}
	return ending{}, calls, false
}

func forcedNote(turns int) string {
	return fmt.Sprintf("(Oxios: this run has reached its limit of %d turns. No more tools can be used now. Say what is done, what is not, and what should come next.)", turns)
}

func (x *run) closeStep(ctx context.Context, s *store.OpenStep, outcome string, result json.RawMessage, also func(*store.Tx) error) error {
	if err := s.Close(ctx, outcome, result, also); err != nil {
		return fmt.Errorf("close step %s: %w", s.Step().ID, err)
	}
	sys.Beat(ctx)
	x.publishStep(s.Step())
	return nil
}

func (x *run) publish(kind string, data any) {
	x.Bus.Publish(event.Event{Kind: kind, RunID: x.id, SessionID: x.spec.Run.SessionID, Data: data})
}

func (x *run) publishStep(s store.Step) {
	x.publish(event.StepChanged, View(s))
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("marshal %T: %v", v, err)) // our own plain structs always marshal
	}
	return b
}
