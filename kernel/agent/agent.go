// Package agent runs agents: it owns the loop in which a model answers and
// uses tools, writes each step of it to the run's journal before and after it
// happens, and ends every run in a state that says the truth.
//
// It declares what it needs of the world: a [Model] that answers and a
// [Toolset] that acts. Both are handed in already bound to the agent's rights,
// so nothing in this package can reach around the guard.
package agent

import (
	"context"
	"encoding/json"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Model answers a conversation. It streams deltas to emit while it works.
type Model interface {
	Complete(ctx context.Context, req llm.Request, emit func(llm.Delta)) (*llm.Response, store.Cost, error)
}

// Tool is one thing that an agent can do.
type Tool interface {
	Name() string
	Description() string
	Schema() json.RawMessage // JSON Schema of the arguments, an object

	// Title says in one line what a call with these arguments would do, for a
	// person: "Write notes.md". It must not fail on malformed arguments.
	Title(args json.RawMessage) sys.Words

	// Call does it. An error's text is read by the model, which should learn
	// from it how to correct itself.
	Call(ctx context.Context, args json.RawMessage) (Result, error)
}

// Result is what a tool call gave.
type Result struct {
	Text  string     // what the model reads
	Title sys.Words  // what a person reads in one line; none keeps the tool's Title
	Offer []Tool     // what the run may use from its next step on
	Cost  store.Cost // of models that were asked by what was called
	App   *App       // a page that shows it to the person
}

// App is a page of a server of tools that came with a result.
type App struct {
	Server string `json:"server"`
	ID     string `json:"id"`
	Hash   string `json:"hash"` // of the page, SHA-256
}

// Toolset is what one run may use: its tools, and what the prompt says of them.
type Toolset struct {
	Tools    []Tool
	Index    string // the capability index
	Manifest string // what the kernel offers, in words
}

// ModelStep is what the journal keeps of a closed model step.
type ModelStep struct {
	Text      string         `json:"text,omitempty"`
	Reasoning string         `json:"reasoning,omitempty"`
	ToolCalls []llm.ToolCall `json:"tool_calls,omitempty"`
	Back      llm.Back       `json:"back,omitzero"`
	Lacked    bool           `json:"lacked,omitempty"` // it was no answer, and the model was asked once more
	Finish    string         `json:"finish_reason,omitempty"`
	Model     string         `json:"model,omitempty"`
	Stand     *llm.Stand     `json:"stand,omitempty"` // another model than the run's answered
	Cost      store.Cost     `json:"cost"`
	FirstMS   int64          `json:"first_ms,omitempty"`
	ThoughtMS int64          `json:"thought_ms,omitempty"`
	Error     string         `json:"error,omitempty"`
	Code      sys.Code       `json:"code,omitempty"`    // of an error after which the run went on
	Counted   int            `json:"counted,omitempty"` // tokens of the conversation with this answer, as the provider counted; 0 unknown
}

// ToolStep is what the journal keeps of a closed tool step.
type ToolStep struct {
	Title   string     `json:"title,omitempty"`
	TitleKO string     `json:"title_ko,omitempty"`
	Text    string     `json:"text"`
	Error   *sys.Error `json:"error,omitempty"`   // when it failed
	Offered []string   `json:"offered,omitempty"` // names of tools that it found
	App     *App       `json:"app,omitempty"`     // a page that came with it
}

// MessageStep is what the journal keeps of a message that joined the run.
type MessageStep struct {
	Text        string             `json:"text"`
	Attachments []store.Attachment `json:"attachments,omitempty"`

	// Of a message that another agent wrote: who and what, and how the model
	// reads it.
	Agent *Sender `json:"agent,omitempty"`
	Read  string  `json:"read,omitempty"`
}

// Sender says which message of another agent a step is.
type Sender struct {
	ID      string `json:"id"`
	N       int64  `json:"n"`
	From    string `json:"from"` // the run; "" is the person
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Answers string `json:"answers,omitempty"`
	Made    string `json:"made,omitempty"` // by the kernel: end, failed or returned
}

// Mail is a message of another agent that joins the run.
type Mail struct {
	Labels store.Labels // where what its writer had read came from
	Step   MessageStep
	Took   func(tx *store.Tx, step string) error // one with the step that it becomes; may be nil
}

// Mailbox gives a run what other agents write to it.
type Mailbox interface {
	Take(tx *store.Tx) ([]Mail, error) // what waits, the oldest first
	Unread(tx *store.Tx) (bool, error) // whether something waits
}

// message is how a model reads a message that joined its run.
func (m MessageStep) message(say Say) llm.Message {
	if m.Agent != nil {
		return llm.Message{Role: llm.RoleUser, Content: m.Read}
	}
	return say(m.Text, m.Attachments)
}

// Say makes of what a person wrote and attached the message that a model
// reads.
type Say func(text string, attached []store.Attachment) llm.Message

// Plain says the text alone.
func Plain(text string, _ []store.Attachment) llm.Message {
	return llm.Message{Role: llm.RoleUser, Content: text}
}
