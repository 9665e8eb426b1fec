package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

type usage struct {
	Prompt     int            `json:"prompt_tokens"`
	Completion int            `json:"completion_tokens"`
	Total      int            `json:"total_tokens"`
	In         map[string]int `json:"prompt_tokens_details,omitempty"`
	Out        map[string]int `json:"completion_tokens_details,omitempty"`
}

// usageOf counts a turn: as the scenario says, else a token for every four
// bytes.
func (p played) usageOf(requestBytes int) *usage {
	if p.NoUsage {
		return nil
	}
	if len(p.Usage) == 4 {
		return &usage{
			Prompt: p.Usage[0], Completion: p.Usage[1], Total: p.Usage[0] + p.Usage[1],
			In: map[string]int{"cached_tokens": p.Usage[2]}, Out: map[string]int{"reasoning_tokens": p.Usage[3]},
		}
	}
	bytes := len(p.text) + len(p.reasoning)
	for _, c := range p.calls {
		bytes += len(c.Tool) + len(c.Args)
	}
	in, out := requestBytes/4+1, bytes/4+1
	return &usage{Prompt: in, Completion: out, Total: in + out}
}

// shorten keeps a turn within the tokens that a request allows; 0 allows any
// number. A turn that is cut makes no call.
func (p *played) shorten(most int) {
	u := p.usageOf(0)
	if most <= 0 || u == nil || u.Completion <= most {
		return
	}
	p.short, p.calls = true, nil
	p.reasoning = p.reasoning[:min(len(p.reasoning), 4*(most-1))]
	p.text = p.text[:min(len(p.text), 4*(most-1)-len(p.reasoning))]
	if len(p.Usage) == 4 {
		turn := *p.Turn
		turn.Usage = []int{p.Usage[0], most, p.Usage[2], min(p.Usage[3], most)}
		p.Turn = &turn
	}
}

func (p played) finish() string {
	switch {
	case p.short:
		return "length"
	case p.Finish != "":
		return p.Finish
	case len(p.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// callID is unique in a conversation and the same when it is played again.
func (p played) callID(req chatRequest, i int) string {
	return fmt.Sprintf("call_%d_%d", len(req.Messages), i)
}

type function struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type toolCall struct {
	Index    *int     `json:"index,omitempty"`
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function function `json:"function"`
}

type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   string     `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Refusal   string     `json:"refusal,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type streamChoice struct {
	Index  int     `json:"index"`
	Delta  delta   `json:"delta"`
	Finish *string `json:"finish_reason"`
}

type streamChunk struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Choices []streamChoice `json:"choices"`
	Usage   *usage         `json:"usage,omitempty"`
}

// whole is the answer to a request that does not stream.
func whole(req chatRequest, p played, size int) map[string]any {
	msg := map[string]any{"role": "assistant", "content": p.text}
	if p.reasoning != "" {
		msg["reasoning_content"] = p.reasoning
	}
	if p.refusal != "" {
		msg["refusal"] = p.refusal
	}
	var calls []toolCall
	for i, c := range p.calls {
		calls = append(calls, toolCall{ID: p.callID(req, i), Type: "function", Function: function{c.Tool, c.Args}})
	}
	if calls != nil {
		msg["tool_calls"] = calls
	}
	doc := map[string]any{
		"id": "chatcmpl-demo", "object": "chat.completion", "created": time.Now().Unix(), "model": req.Model,
		"choices": []any{map[string]any{"index": 0, "message": msg, "finish_reason": p.finish()}},
	}
	if u := p.usageOf(size); u != nil {
		doc["usage"] = u
	}
	return doc
}

// deltas are the pieces of a turn in the order in which they stream.
func (p played) deltas(req chatRequest) []delta {
	out := []delta{{Role: "assistant"}}
	for _, w := range p.pieces(p.reasoning) {
		out = append(out, delta{Reasoning: w})
	}
	for _, w := range p.pieces(p.text) {
		out = append(out, delta{Content: w})
	}
	for _, w := range p.pieces(p.refusal) {
		out = append(out, delta{Refusal: w})
	}
	for i, c := range p.calls {
		out = append(out, delta{ToolCalls: []toolCall{{Index: &i, ID: p.callID(req, i), Type: "function", Function: function{Name: c.Tool}}}})
		for _, piece := range fragments(c.Args, 16) {
			out = append(out, delta{ToolCalls: []toolCall{{Index: &i, Function: function{Arguments: piece}}}})
		}
	}
	return out
}

// pieces cuts text into words with the space behind them, or characters.
func (p played) pieces(text string) []string {
	if text == "" {
		return nil
	}
	if p.Chars {
		return strings.Split(text, "")
	}
	return strings.SplitAfter(text, " ")
}

// fragments cuts text into pieces of about n bytes, never inside a character.
func fragments(text string, n int) []string {
	var out []string
	for len(text) > n {
		cut := n
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		if cut == 0 {
			cut = n
		}
		out, text = append(out, text[:cut]), text[cut:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// wire writes events and plays the faults of a turn.
type wire struct {
	w       http.ResponseWriter
	flush   func() error
	p       played
	chunks  int
	written int
}

// cut is raised to close the connection in the middle of an answer;
// net/http takes it as an order.
func cut() { panic(http.ErrAbortHandler) }

func (x *wire) send(data string) {
	if limit := x.p.CutBytes; limit > 0 && x.written+len(data) >= limit {
		_, _ = io.WriteString(x.w, data[:limit-x.written])
		_ = x.flush()
		cut()
	}
	n, err := io.WriteString(x.w, data)
	x.written += n
	if err == nil {
		err = x.flush()
	}
	if err != nil {
		cut() // the client is gone
	}
	x.chunks++
	if x.p.CutChunks > 0 && x.chunks >= x.p.CutChunks {
		cut()
	}
}

func stream(w http.ResponseWriter, r *http.Request, req chatRequest, p played, size int) {
	x := begin(w, p, "text/event-stream")
	base := streamChunk{ID: "chatcmpl-demo", Object: "chat.completion.chunk", Created: time.Now().Unix(), Model: req.Model}
	event := func(c streamChunk) {
		raw, err := json.Marshal(c)
		if err != nil {
			cut()
		}
		x.send("data: " + string(raw) + "\n\n")
	}
	for i, d := range p.deltas(req) {
		if i > 0 && !sleep(r.Context(), p.ChunkMS) {
			return
		}
		c := base
		c.Choices = []streamChoice{{Delta: d}}
		event(c)
	}
	if p.Hang {
		<-r.Context().Done()
		return
	}
	reason := p.finish()
	last := base
	last.Choices = []streamChoice{{Finish: &reason}}
	event(last)
	if u := p.usageOf(size); u != nil && req.StreamOptions != nil && req.StreamOptions.IncludeUsage {
		c := base
		c.Choices, c.Usage = []streamChoice{}, u
		event(c)
	}
	x.send("data: [DONE]\n\n")
}

func sendRaw(w http.ResponseWriter, r *http.Request, p played) {
	x := begin(w, p, "text/event-stream")
	x.send(p.Raw)
	if p.Hang {
		<-r.Context().Done()
	}
}

func begin(w http.ResponseWriter, p played, kind string) *wire {
	if p.ContentType != "" {
		kind = p.ContentType
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &wire{w: w, flush: http.NewResponseController(w).Flush, p: p}
}
