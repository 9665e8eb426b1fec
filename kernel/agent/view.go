package agent

import (
	"encoding/json"
	"time"

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
	Detail     string          `json:"detail,omitempty"` // model: its reasoning
	Output     string          `json:"output,omitempty"` // tool: what the model read
	Error      *sys.Error      `json:"error,omitempty"`  // tool: why it failed
	ThoughtMS  int64           `json:"thought_ms,omitempty"`
	Context    int             `json:"context,omitempty"` // model: tokens of the conversation with this answer; 0 unknown
	Cost       *store.Cost     `json:"cost,omitempty"`    // of a model call
	ApprovalID string          `json:"approval_id,omitempty"`
	AuditSeq   int64           `json:"audit_seq,omitempty"`
	ProposedAt time.Time       `json:"proposed_at"`
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	ClosedAt   *time.Time      `json:"closed_at,omitempty"`

	Attachments []store.Attachment `json:"attachments,omitempty"` // message: what came with it
}

// View makes the view of s.
func View(s store.Step) StepView {
	v := StepView{
		ID: s.ID, RunID: s.RunID, Seq: s.Seq, Kind: s.Kind, Name: s.Name, CallID: s.CallID, State: s.State, Outcome: s.Outcome,
		ApprovalID: s.ApprovalID, AuditSeq: s.AuditSeq, ProposedAt: s.ProposedAt, StartedAt: s.StartedAt, ClosedAt: s.ClosedAt,
	}
	switch s.Kind {
	case store.StepModel:
		var m ModelStep
		if json.Unmarshal(s.Result, &m) == nil {
			v.Text, v.Detail, v.ThoughtMS = m.Text, m.Reasoning, m.ThoughtMS
			v.Context = m.Cost.Input + m.Cost.Output - m.Cost.Reasoning // what was thought is not sent again
			if m.Cost.Calls > 0 {
				v.Cost = &m.Cost
			}
		}
	case store.StepMessage:
		var m MessageStep
		if json.Unmarshal(s.Args, &m) == nil {
			v.Text, v.Attachments = m.Text, m.Attachments
		}
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
			v.Output, v.Error = r.Text, r.Error
			if r.Title != "" {
				v.Title, v.TitleKO = r.Title, r.TitleKO
			}
		}
	}
	return v
}
