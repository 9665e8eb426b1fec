package agent

import (
	"encoding/json"
	"time"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// StepView is a step as a person sees it.
type StepView struct {
	ID         string          `json:"id"`
	RunID      string          `json:"run_id"`
	Seq        int             `json:"seq"`
	Kind       store.StepKind  `json:"kind"`
	Name       string          `json:"name"`
	CallID     string          `json:"call_id,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	State      store.StepState `json:"state"`
	Outcome    string          `json:"outcome,omitempty"`
	Title      string          `json:"title,omitempty"` // one line of intent, then of what happened
	TitleKO    string          `json:"title_ko,omitempty"`
	Text       string          `json:"text,omitempty"`   // model: what it said; message: the message
	Detail     string          `json:"detail,omitempty"` // model: its reasoning; context: why it did not go as it should
	Output     string          `json:"output,omitempty"` // tool: what the model read; context: what stands in place of what was dropped
	Error      *sys.Error      `json:"error,omitempty"`  // tool: why it failed
	Note       string          `json:"note,omitempty"`   // tool: what it says of its progress while it runs; a face fills it in from events
	ThoughtMS  int64           `json:"thought_ms,omitempty"`
	Context    int             `json:"context,omitempty"` // model: tokens of the conversation with this answer; 0 unknown
	Cost       *store.Cost     `json:"cost,omitempty"`    // of a model call
	Stand      *llm.Stand      `json:"stand,omitempty"`   // model: which one answered in place of the run's
	Room       *RoomView       `json:"room,omitempty"`    // context: what came of it
	ApprovalID string          `json:"approval_id,omitempty"`
	AuditSeq   int64           `json:"audit_seq,omitempty"`
	GrantID    string          `json:"grant_id,omitempty"` // of the person, under which it ran without asking
	App        *App            `json:"app,omitempty"`      // a page that came with the result
	Labels     store.Labels    `json:"labels,omitempty"`   // where what it read came from
	ProposedAt time.Time       `json:"proposed_at"`
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	ClosedAt   *time.Time      `json:"closed_at,omitempty"`

	Attachments []store.Attachment `json:"attachments,omitempty"` // message: what came with it
	Agent       *Sender            `json:"agent,omitempty"`       // message: the agent that wrote it
}

// View makes the view of s.
func View(s store.Step) StepView {
	v := StepView{
		ID: s.ID, RunID: s.RunID, Seq: s.Seq, Kind: s.Kind, Name: s.Name, CallID: s.CallID, State: s.State, Outcome: s.Outcome,
		ApprovalID: s.ApprovalID, AuditSeq: s.AuditSeq, GrantID: s.GrantID, Labels: s.Labels.WithoutWork(), ProposedAt: s.ProposedAt, StartedAt: s.StartedAt, ClosedAt: s.ClosedAt,
	}
	switch s.Kind {
	case store.StepModel:
		var m ModelStep
		if json.Unmarshal(s.Result, &m) == nil {
			v.Text, v.Detail, v.ThoughtMS, v.Stand = m.Text, m.Reasoning, m.ThoughtMS, m.Stand
			v.Context = m.Cost.Input + m.Cost.Output - m.Cost.Reasoning // what was thought is not sent again
			if m.Cost.Calls > 0 {
				v.Cost = &m.Cost
			}
		}
	case store.StepMessage:
		var m MessageStep
		if json.Unmarshal(s.Args, &m) == nil {
			v.Text, v.Attachments, v.Agent = m.Text, m.Attachments, m.Agent
		}
	case store.StepNote:
		var n Note
		if json.Unmarshal(s.Args, &n) == nil {
			v.Text, v.Title, v.TitleKO = n.Text, n.Title.EN, n.Title.KO
		}
	case store.StepContext:
		v.room(s)
	case store.StepEvaluation:
		var e EvaluationStep
		if json.Unmarshal(s.Args, &e) == nil {
			v.Args = e.Record
		}
	case store.StepTool, store.StepCheck:
		var a CallArgs
		if json.Unmarshal(s.Args, &a) == nil {
			v.Title, v.TitleKO, v.Args = a.Title, a.TitleKO, a.Args
			if a.Args == nil && a.Raw != "" {
				v.Args = mustJSON(a.Raw)
			}
		}
		var r ToolStep
		if json.Unmarshal(s.Result, &r) == nil {
			v.Output, v.Error, v.App = r.Text, r.Error, r.App
			if r.Title != "" {
				v.Title, v.TitleKO = r.Title, r.TitleKO
			}
		}
	}
	return v
}

// RoomView is what came of making room in a model's window.
type RoomView struct {
	Before     int     `json:"before"` // tokens
	After      int     `json:"after"`
	Window     int     `json:"window"`
	Dropped    Dropped `json:"dropped"`
	Mechanical bool    `json:"mechanical,omitempty"` // no model summarised
}

func (v *StepView) room(s store.Step) {
	var args ContextArgs
	var made ContextStep
	_, _ = json.Unmarshal(s.Args, &args), json.Unmarshal(s.Result, &made)
	title := roomTitle(s, made)
	v.Title, v.TitleKO, v.Output, v.Detail, v.Context = title.EN, title.KO, made.Text, made.Error, made.After
	v.Room = &RoomView{Before: args.Before, After: made.After, Window: args.Window, Dropped: made.Dropped, Mechanical: made.Mechanical}
	if made.Cost.Calls > 0 {
		v.Cost = &made.Cost
	}
}

func roomTitle(s store.Step, made ContextStep) sys.Words {
	d := made.Dropped
	what := sys.Say("%d messages and %d tool results", d.Messages, d.Results)
	switch {
	case d.Results == 0 && d.Messages == 1:
		what = sys.Say("one message")
	case d.Results == 0:
		what = sys.Say("%d messages", d.Messages)
	}
	switch {
	case s.State != store.StepClosed:
		return sys.Say("Makes room: the conversation so far is summarised")
	case s.Outcome == store.OutcomeCanceled:
		return sys.Say("The conversation was about to be summarised")
	case s.Outcome != store.OutcomeOK:
		return sys.Say("No room could be made")
	case made.Mechanical:
		return sys.Say("Made room: %s listed, because the model could not be asked", what)
	}
	return sys.Say("Made room: %s summarised", what)
}
