package llm

import (
	"context"
	"encoding/json"
	"time"

	"oxios/kernel/sys"
)

// The roles of a [Message].
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// The reasons for which an answer ends. Servers may send others.
const (
	FinishStop   = "stop"           // the model was done
	FinishTools  = "tool_calls"     // the model waits for results
	FinishLength = "length"         // the token limit was reached: the answer is incomplete
	FinishFilter = "content_filter" // the provider's filter ended it
)

// Image is a picture that stands in a message.
type Image struct {
	MIME string `json:"mime"` // image/png, image/jpeg, …; "" means image/png
	Data []byte `json:"data"`
}

// ToolCall is the model's wish to run a tool. Args is the text that the model
// wrote, which should be a JSON object and may be malformed. ID is never empty
// and is unique within its message.
type ToolCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Args  string          `json:"args"`
	Extra json.RawMessage `json:"extra,omitempty"` // goes back to the provider as it came; see [Back]
}

// Message is one entry of a conversation. A message of role tool carries the
// result of the call that ToolCallID names.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content,omitempty"`
	Images     []Image    `json:"images,omitempty"`
	Reasoning  string     `json:"reasoning,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Back       Back       `json:"back,omitzero"`
}

// Tool is offered to the model. Schema is a JSON Schema of type object; empty
// means a tool without arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Request is one question to a model.
type Request struct {
	Model         string    `json:"model"`
	Messages      []Message `json:"messages"`
	Tools         []Tool    `json:"tools,omitempty"`
	MaxTokens     int       `json:"max_tokens,omitempty"`     // 0: the model's own limit
	Effort        string    `json:"effort,omitempty"`         // reasoning effort: none, minimal, low, medium, high, xhigh, max; "" is the model's default
	ContextLength int       `json:"context_length,omitempty"` // tokens; Ollama's num_ctx, other servers ignore it; 0 is the server's default
	ToolChoice    string    `json:"tool_choice,omitempty"`    // "" lets the model choose, "none" forbids tools
}

// Usage counts tokens. Input includes Cached and Written, and Output includes Reasoning.
type Usage struct {
	Input     int  `json:"input"`
	Output    int  `json:"output"`
	Cached    int  `json:"cached,omitempty"`
	Written   int  `json:"written,omitempty"` // put into the provider's cache
	Reasoning int  `json:"reasoning,omitempty"`
	Reported  bool `json:"reported"` // false: the server counted nothing that can be
}

// Response is what came back. FirstToken and Total are measured from the call
// of Complete, retries included.
type Response struct {
	Message      Message       `json:"message"`
	FinishReason string        `json:"finish_reason"`
	Usage        Usage         `json:"usage"`
	Model        string        `json:"model"` // as the server names it
	Stand        *Stand        `json:"stand,omitempty"`
	FirstToken   time.Duration `json:"first_token"`
	Total        time.Duration `json:"total"`
}

// Stand names the model that answered in place of the one that was wanted. Only
// a caller that may ask several sets it; nil: the one that was wanted answered.
type Stand struct {
	Provider string    `json:"provider"`
	Model    string    `json:"model"`
	Demo     bool      `json:"demo,omitempty"` // it is the scripted endpoint
	Why      sys.Words `json:"why,omitzero"`   // why it took the place, said once
}

// Delta is a piece of an answer while it streams. One field is set.
type Delta struct {
	Text      string    `json:"text,omitempty"`
	Reasoning string    `json:"reasoning,omitempty"`
	Tool      string    `json:"tool,omitempty"` // the name of a tool call that begins
	Retry     sys.Words `json:"retry,omitzero"` // a new attempt began, what came so far is void, and why
	Stand     sys.Words `json:"stand,omitzero"` // another model answers from now on, and why
}

// Provider is one endpoint.
//
// Complete streams an answer and returns it whole. emit may be nil; it is
// called from the goroutine that called Complete, so a slow one slows the
// stream. When an answer began and then failed, the error comes with the
// partial Response, whose ToolCalls are empty. ToolCalls are also empty when
// FinishReason is "length", because the last call may be incomplete.
//
// Models lists what the endpoint offers, sorted by ID.
type Provider interface {
	Complete(ctx context.Context, req Request, emit func(Delta)) (*Response, error)
	Models(ctx context.Context) ([]Model, error)
}

// Model describes a model of one endpoint. A nil flag and a nil price mean
// unknown.
type Model struct {
	ID            string `json:"id"`
	Provider      string `json:"provider,omitempty"`       // the endpoint's ID, or the maker's name in a catalogue
	ContextLength int    `json:"context_length,omitempty"` // tokens, 0 unknown
	Tools         *bool  `json:"tools,omitempty"`
	Images        *bool  `json:"images,omitempty"`
	Reasoning     *bool  `json:"reasoning,omitempty"`
	Price         *Price `json:"price,omitempty"`
	Local         bool   `json:"local,omitempty"` // runs on this machine and costs nothing
}

// ChatOnly reports whether the model is known to call no tools.
func (m Model) ChatOnly() bool { return m.Tools != nil && !*m.Tools }
