package agent

import (
	"encoding/json"
	"time"

	"oxios/kernel/store"
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
	Title      string          `json:"title,omitempty"`  // one line of intent, then of what happened
	Text       string          `json:"text,omitempty"`   // model: what it said; message: the message
	Detail     string          `json:"detail,omitempty"` // model: its reasoning; tool: the error's code
	Output     string          `json:"output,omitempty"` // tool: what the model read
	ThoughtMS  int64           `json:"thought_ms,omitempty"`
	ApprovalID string          `json:"approval_id,omitempty"`
	AuditSeq   int64           `json:"audit_seq,omitempty"`
	ProposedAt time.Time       `json:"proposed_at"`
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	ClosedAt   *time.Time      `json:"closed_at,omitempty"`
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
		}
	case store.StepMessage:
		var m MessageStep
		if json.Unmarshal(s.Args, &m) == nil {
			v.Text = m.Text
		}
	case store.StepTool:
		var a CallArgs
		if json.Unmarshal(s.Args, &a) == nil {
			v.Title, v.Args = a.Title, a.Args
			if a.Args == nil && a.Raw != "" {
				v.Args = mustJSON(a.Raw)
			}
		}
		var r ToolStep
		if json.Unmarshal(s.Result, &r) == nil {
			v.Output, v.Detail = r.Text, r.Code
			if r.Title != "" {
				v.Title = r.Title
			}
		}
	}
	return v
}
