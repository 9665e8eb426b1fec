package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Sample is what a server asks of the model. It sees nothing of the conversation.
type Sample struct {
	Server    string          `json:"server"`
	System    string          `json:"system,omitempty"`
	Messages  []SampleMessage `json:"messages"`
	MaxTokens int64           `json:"max_tokens"`
}

// SampleMessage is one message of a [Sample].
type SampleMessage struct {
	Role string `json:"role"` // user or assistant
	Text string `json:"text"`
}

// Sampled is what the model said to it.
type Sampled struct {
	Text  string
	Model string
	Cut   bool // it had no more tokens
	Cost  store.Cost
}

// The bounds of what a server may ask of the model.
const (
	maxSample       = 64 << 10 // bytes
	maxSampleTokens = 4096
)

// Words is what is asked, for the person who decides about it.
func (s Sample) Words() string {
	var parts []string
	if s.System != "" {
		parts = append(parts, "system: "+s.System)
	}
	for _, m := range s.Messages {
		parts = append(parts, m.Role+": "+m.Text)
	}
	return strings.Join(parts, "\n\n")
}

// sampleOf reads what a server asks of the model.
func sampleOf(server string, p *sdk.CreateMessageParams) (Sample, error) {
	s := Sample{Server: server, System: p.SystemPrompt, MaxTokens: min(max(p.MaxTokens, 16), maxSampleTokens)}
	for _, m := range p.Messages {
		text, ok := m.Content.(*sdk.TextContent)
		if !ok || m.Role != "user" && m.Role != "assistant" {
			return s, errors.New("only text can be asked of the model")
		}
		s.Messages = append(s.Messages, SampleMessage{Role: string(m.Role), Text: strings.ToValidUTF8(text.Text, "�")})
	}
	if n := len(s.Words()); n > maxSample || len(s.Messages) == 0 {
		return s, fmt.Errorf("a request to the model has from one message to %d bytes", maxSample)
	}
	return s, nil
}

// sample has the model answer a server, if the person lets this server ask it and approves this very request.
func (l *live) sample(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	u := l.call(ctx)
	if u == nil || !u.mayAsk() {
		return nil, errors.New("no call is under way for which the model could be asked")
	}
	if def, err := l.s.server(l.name); err != nil || !def.Sampling {
		return nil, errors.New("this server may not ask the model")
	}
	s, err := sampleOf(l.name, r.Params)
	if err != nil {
		return nil, err
	}
	defer u.park()()
	both, stop := u.and(ctx)
	defer stop()
	out, err := l.s.c.Complete(both, u.c, s)
	u.spend(out.Cost)
	if err != nil {
		u.deny(sys.Errorf(sys.CodeDenied, "The server %s could not ask the model: %w", l.name, err))
		return nil, errors.New("the request to the model was not made")
	}
	reason := "endTurn"
	if out.Cut {
		reason = "maxTokens"
	}
	return &sdk.CreateMessageResult{Content: &sdk.TextContent{Text: out.Text}, Model: out.Model, Role: "assistant", StopReason: reason}, nil
}

// spend adds what the model cost that was asked for a call.
func (u *underway) spend(c store.Cost) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.cost = u.cost.Add(c)
}

// deny notes why a call cannot end as its server wanted.
func (u *underway) deny(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.denied = err
}

// spent is what the model cost, nil for nothing, and denied why the server did not get what it wanted.
func (u *underway) spent() (*store.Cost, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.cost.Calls == 0 {
		return nil, u.denied
	}
	c := u.cost
	return &c, u.denied
}
