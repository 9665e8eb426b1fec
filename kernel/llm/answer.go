package llm

import (
	"fmt"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// answer gathers one streamed answer and passes its pieces on.
type answer struct {
	emit      func(Delta)
	start     time.Time
	text      strings.Builder
	reasoning strings.Builder
	refusal   strings.Builder
	calls     []*partialCall
	slots     map[int]*partialCall // by the server's index
	finish    string               // "" until the server says why it ended
	usage     Usage
	model     string
	first     time.Duration
	begun     bool // something was passed on or gathered
	open      bool // the server accepted the request
}

type partialCall struct {
	id, name string
	args     strings.Builder
}

func newAnswer(start time.Time, emit func(Delta)) *answer {
	if emit == nil {
		emit = func(Delta) {}
	}
	return &answer{emit: emit, start: start, slots: map[int]*partialCall{}}
}

func (a *answer) begin() {
	if !a.begun {
		a.begun, a.first = true, time.Since(a.start)
	}
}

func (a *answer) addText(s string) {
	if s == "" {
		return
	}
	a.begin()
	a.text.WriteString(s)
	a.emit(Delta{Text: s})
}

func (a *answer) addReasoning(s string) {
	if s == "" {
		return
	}
	a.begin()
	a.reasoning.WriteString(s)
	a.emit(Delta{Reasoning: s})
}

func (a *answer) addRefusal(s string) {
	if s == "" {
		return
	}
	a.begin()
	a.refusal.WriteString(s)
}

// addCall merges a fragment of a tool call. index is nil where the server
// counts nothing; then a name or a new id begins the next call.
func (a *answer) addCall(index *int, id, name, args string) error {
	a.begin()
	call := a.slot(index, id, name)
	if call == nil {
		if len(a.calls) >= maxCalls {
			return fmt.Errorf("more than %d tool calls in one answer", maxCalls)
		}
		call = &partialCall{}
		a.calls = append(a.calls, call)
		if index != nil {
			a.slots[*index] = call
		}
	}
	if id != "" {
		call.id = id
	}
	if name != "" && call.name != name {
		call.name += name
		a.emit(Delta{Tool: call.name})
	}
	call.args.WriteString(args)
	return nil
}

func (a *answer) slot(index *int, id, name string) *partialCall {
	if index == nil {
		if len(a.calls) == 0 {
			return nil
		}
		last := a.calls[len(a.calls)-1]
		if name != "" || (id != "" && id != last.id) {
			return nil
		}
		return last
	}
	call := a.slots[*index]
	// Some servers count every parallel call as number 0; their ids differ.
	if call != nil && id != "" && call.id != "" && id != call.id {
		return nil
	}
	return call
}

// response builds the result. Tool calls are kept only if the answer is good
// and ended by itself.
func (a *answer) response(good bool) *Response {
	r := &Response{
		Message: Message{
			Role:      RoleAssistant,
			Content:   a.text.String(),
			Reasoning: a.reasoning.String(),
		},
		FinishReason: a.finish,
		Usage:        a.usage,
		Model:        a.model,
		FirstToken:   a.first,
		Total:        time.Since(a.start),
	}
	if !good || a.finish == FinishLength {
		return r
	}
	seen := map[string]bool{}
	for i, c := range a.calls {
		id := c.id
		if id == "" || seen[id] {
			id = fmt.Sprintf("call_%d_%s", i, sys.NewID())
		}
		seen[id] = true
		r.Message.ToolCalls = append(r.Message.ToolCalls, ToolCall{ID: id, Name: c.name, Args: c.args.String()})
	}
	return r
}

// check looks for what makes a finished answer unusable.
func (a *answer) check() error {
	for _, c := range a.calls {
		if c.name == "" {
			return fmt.Errorf("a tool call without a name")
		}
		if tooDeep(c.args.String(), maxDepth) {
			return fmt.Errorf("tool arguments that are nested deeper than %d levels", maxDepth)
		}
	}
	return nil
}
