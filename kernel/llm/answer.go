package llm

import (
	"encoding/json"
	"fmt"
	"slices"
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
	offered   map[string]bool      // the names of the tools
	think     thinking
	halves    [2]string // halves of a character that the text and the reasoning ended in
	back      Back
	finish    string // "" until the server says why it ended
	usage     Usage
	model     string
	first     time.Duration
	begun     bool // something was passed on or gathered
	open      bool // the server accepted the request
}

func newAnswer(start time.Time, tools []Tool, emit func(Delta)) *answer {
	if emit == nil {
		emit = func(Delta) {}
	}
	a := &answer{emit: emit, start: start, slots: map[int]*partialCall{}, offered: map[string]bool{}}
	for _, t := range tools {
		a.offered[t.Name] = true
	}
	return a
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
	text, thought := a.think.take(joinHalves(&a.halves[0], s))
	a.passOn(text, thought)
}

func (a *answer) passOn(text, thought string) {
	if thought != "" {
		a.reasoning.WriteString(thought)
		a.emit(Delta{Reasoning: thought})
	}
	if text != "" {
		a.text.WriteString(text)
		a.emit(Delta{Text: text})
	}
}

// end passes on what was held back.
func (a *answer) end() {
	for i := range a.halves {
		if a.halves[i] != "" {
			a.halves[i] = ""
		}
	}
	a.passOn(a.think.end())
}

func (a *answer) addReasoning(s string) {
	if s == "" {
		return
	}
	a.begin()
	a.passOn("", joinHalves(&a.halves[1], s))
}

func (a *answer) addRefusal(s string) {
	if s == "" {
		return
	}
	a.begin()
	a.refusal.WriteString(s)
}

// response builds the result. Tool calls are kept only if the answer is good
// and ended by itself.
func (a *answer) response(good bool) *Response {
	r := &Response{
		Message: Message{
			Role:      RoleAssistant,
			Content:   a.text.String(),
			Reasoning: a.reasoning.String(),
			Back:      a.back,
		},
		FinishReason: a.finish,
		Usage:        a.usage,
		Model:        a.model,
		FirstToken:   a.first,
		Total:        time.Since(a.start),
	}
	if thought, answer, ok := splitThought(r.Message.Content); ok {
		r.Message.Content, r.Message.Reasoning = answer, r.Message.Reasoning+thought
	}
	if good && a.finish != FinishLength {
		r.Message.ToolCalls, _ = a.toolCalls() // what is wrong with them was found before
	}
	return r
}

// cleanEnd is the reason of an answer whose server said that it is over, and not
// why; "" when it is over in the middle of a tool call.
func (a *answer) cleanEnd() string {
	if len(a.calls) == 0 {
		return FinishStop
	}
	calls, err := a.toolCalls()
	for _, c := range calls {
		if args := strings.TrimSpace(c.Args); err != nil || args != "" && !json.Valid([]byte(args)) {
			return ""
		}
	}
	return FinishTools
}

// finishError is the reason of an answer that failed at the server.
const finishError = "error"

// finishOf takes the names that servers give the reasons for which an answer
// ends. One that is not known stays as it is.
func finishOf(reason string) string {
	switch strings.ToLower(reason) {
	case "stop", "eos", "eos_token", "end", "end_turn", "stop_sequence", "completed", "complete", "done", "finish":
		return FinishStop
	case "tool_calls", "tool_call", "tool_use", "function_call":
		return FinishTools
	case "length", "max_tokens", "max_output_tokens", "model_length", "token_limit":
		return FinishLength
	case "content_filter", "safety", "sensitive", "prohibited_content", "recitation", "refusal", "blocklist":
		return FinishFilter
	case finishError, "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled", "canceled":
		return finishError
	}
	return reason
}

// check looks for what makes a finished answer unusable.
func (a *answer) check() error {
	calls, err := a.toolCalls()
	if err == nil && len(calls) > 0 && !slices.Contains([]string{FinishStop, FinishTools, FinishLength}, a.finish) {
		return fmt.Errorf("tool calls with an end that is not known (%s)", sys.Shorten(a.finish, 40))
	}
	return err
}
