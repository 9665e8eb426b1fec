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
	Text  string    // what the model reads
	Title sys.Words // what a person reads in one line; none keeps the tool's Title
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
	Finish    string         `json:"finish_reason,omitempty"`
	Model     string         `json:"model,omitempty"`
	Cost      store.Cost     `json:"cost"`
	FirstMS   int64          `json:"first_ms,omitempty"`
	ThoughtMS int64          `json:"thought_ms,omitempty"`
	Error     string         `json:"error,omitempty"`
}

// ToolStep is what the journal keeps of a closed tool step.
type ToolStep struct {
	Title   string     `json:"title,omitempty"`
	TitleKO string     `json:"title_ko,omitempty"`
	Text    string     `json:"text"`
	Error   *sys.Error `json:"error,omitempty"` // when it failed
}

// MessageStep is what the journal keeps of a message that joined the run.
type MessageStep struct {
	Text        string             `json:"text"`
	Attachments []store.Attachment `json:"attachments,omitempty"`
}

// Say makes of what a person wrote and attached the message that a model
// reads.
type Say func(text string, attached []store.Attachment) llm.Message

// Plain says the text alone.
func Plain(text string, _ []store.Attachment) llm.Message {
	return llm.Message{Role: llm.RoleUser, Content: text}
}
