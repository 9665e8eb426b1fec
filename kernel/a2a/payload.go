package a2a

import (
	"encoding/json"
	"fmt"
	"strings"

	"oxios/kernel/sys"
)

// The bounds of messages.
const (
	MaxText    = 64 << 10 // bytes that one text of a message may have
	MaxWaiting = 100      // messages that wait for one agent
)

// Kind says what a message is.
type Kind string

// The kinds of messages, and their payloads.
const (
	KindDelegation Kind = "task_delegation"  // [TaskDelegation]
	KindStatus     Kind = "status_update"    // [StatusUpdate]
	KindResult     Kind = "result_sharing"   // [ResultSharing]
	KindQuery      Kind = "capability_query" // [CapabilityQuery]
	KindHandshake  Kind = "handshake"        // [Handshake]
)

// Payload is what a message says.
type Payload interface {
	Kind() Kind
	Text() string // for a reader
	check() error // why it cannot be sent
}

// TaskDelegation asks another agent to do something.
type TaskDelegation struct {
	TaskID      string `json:"task_id"`
	Description string `json:"description"`
	Priority    string `json:"priority,omitempty"` // low, normal, high or critical
}

// StatusUpdate says how things stand.
type StatusUpdate struct {
	TaskID   string `json:"task_id,omitempty"`
	Progress int    `json:"progress,omitempty"` // percent
	Message  string `json:"message"`
}

// ResultSharing is what came of a task, and the answer to any question.
type ResultSharing struct {
	TaskID  string `json:"task_id,omitempty"`
	Result  string `json:"result"`
	Summary string `json:"summary,omitempty"`
}

// CapabilityQuery asks what an agent can do.
type CapabilityQuery struct {
	Query    string   `json:"query"`
	Required []string `json:"required_capabilities,omitempty"`
}

// Handshake introduces an agent. The kernel fills it in from the sender's card.
type Handshake struct {
	AgentID      string   `json:"agent_id"`
	Name         string   `json:"name"`
	Capabilities []string `json:"capabilities"`
	Message      string   `json:"message,omitempty"`
}

func (TaskDelegation) Kind() Kind  { return KindDelegation }
func (StatusUpdate) Kind() Kind    { return KindStatus }
func (ResultSharing) Kind() Kind   { return KindResult }
func (CapabilityQuery) Kind() Kind { return KindQuery }
func (Handshake) Kind() Kind       { return KindHandshake }

// Text is the task.
func (p TaskDelegation) Text() string { return p.Description }

// Text is the message, with how far it is.
func (p StatusUpdate) Text() string {
	if p.Progress > 0 {
		return fmt.Sprintf("(%d %%) %s", p.Progress, p.Message)
	}
	return p.Message
}

// Text is the result.
func (p ResultSharing) Text() string { return p.Result }

// Text is the question, with the capabilities that are asked for.
func (p CapabilityQuery) Text() string {
	if len(p.Required) > 0 {
		return strings.TrimSpace(fmt.Sprintf("%s [%s]", p.Query, strings.Join(p.Required, ", ")))
	}
	return p.Query
}

// Text is who the agent is.
func (p Handshake) Text() string {
	return strings.TrimSpace(fmt.Sprintf("%s [%s] %s", p.Name, strings.Join(p.Capabilities, ", "), p.Message))
}

func (p TaskDelegation) check() error { return checkText(p.Description) }

func (p StatusUpdate) check() error {
	if p.Progress < 0 || p.Progress > 100 {
		return sys.Errorf(sys.CodeInvalid, "A progress is 0 to 100 percent, not %d. Nothing was sent.", p.Progress)
	}
	return checkText(p.Message)
}

func (p ResultSharing) check() error {
	if len(p.Summary) > MaxText {
		return checkText(p.Summary)
	}
	return checkText(p.Result)
}

func (p CapabilityQuery) check() error { return checkText(p.Text()) }

func (p Handshake) check() error { return checkText(p.Text()) }

func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return sys.Errorf(sys.CodeInvalid, "The message is empty. Nothing was sent.")
	case len(text) > MaxText:
		return sys.Errorf(sys.CodeTooLarge, "The message has %d KB; %d KB is the most between agents. Nothing was sent.", len(text)>>10, MaxText>>10).
			WithHint("Put the material into a file and name the file.")
	}
	return nil
}

// Decode reads a payload.
func Decode(kind Kind, raw json.RawMessage) (p Payload, err error) {
	switch kind {
	case KindDelegation:
		p, err = decode[TaskDelegation](raw)
	case KindStatus:
		p, err = decode[StatusUpdate](raw)
	case KindResult:
		p, err = decode[ResultSharing](raw)
	case KindQuery:
		p, err = decode[CapabilityQuery](raw)
	case KindHandshake:
		p, err = decode[Handshake](raw)
	default:
		return nil, sys.Errorf(sys.CodeInvalid, "There is no kind of message %q. Nothing was sent.", kind).
			WithHint("Use one of %s.", "task_delegation, status_update, result_sharing, capability_query, handshake")
	}
	if err != nil {
		return nil, fmt.Errorf("read a message of kind %s: %w", kind, err)
	}
	return p, nil
}

func decode[P Payload](raw json.RawMessage) (P, error) {
	var p P
	err := json.Unmarshal(raw, &p)
	return p, err
}
