package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// TestReport is what a real test of a model found. A nil flag means that it
// could not be found out.
type TestReport struct {
	Model         string     `json:"model"`
	Answers       bool       `json:"answers"`
	LatencyMS     int64      `json:"latency_ms"`     // of the whole first answer
	FirstTokenMS  int64      `json:"first_token_ms"` // until it began
	Tools         *bool      `json:"tools"`
	Images        *bool      `json:"images"`
	ContextLength int        `json:"context_length"` // tokens, 0 unknown
	ChatOnly      bool       `json:"chat_only"`      // it answers, and cannot use tools
	Error         *sys.Error `json:"error,omitempty"`
	At            time.Time  `json:"at"`
}

// The steps of a test, in their order.
const (
	StepAnswer  = "answer"
	StepTools   = "tools"
	StepImage   = "image"
	StepContext = "context"
)

// TestStep is the progress of a test: a step begins with OK nil and ends with
// its result; a result that could not be found out ends with Unknown.
type TestStep struct {
	Step    string `json:"step"`
	OK      *bool  `json:"ok"`
	Unknown bool   `json:"unknown,omitempty"`
	MS      int64  `json:"ms,omitempty"`
}

const testTool = "report_number"

// Test asks a model three real questions, which cost a few hundred tokens, and
// finds its context length. emit may be nil. A test that cannot get an answer
// stops there and says why in Error.
func Test(ctx context.Context, p Provider, model string, emit func(TestStep)) TestReport {
	if emit == nil {
		emit = func(TestStep) {}
	}
	report := TestReport{Model: model, At: time.Now().UTC()}
	var err error
	run := func(step string, probe func() *bool) *bool {
		emit(TestStep{Step: step})
		start := time.Now()
		ok := probe()
		emit(TestStep{Step: step, OK: ok, Unknown: ok == nil, MS: time.Since(start).Milliseconds()})
		return ok
	}
	run(StepAnswer, func() *bool {
		var resp *Response
		resp, err = p.Complete(ctx, Request{Model: model, MaxTokens: 1024, Messages: []Message{
			{Role: RoleUser, Content: "This is a connection test. Reply with the single word: ready"},
		}}, nil)
		if err != nil {
			return flag(false)
		}
		report.Answers = true
		report.LatencyMS, report.FirstTokenMS = resp.Total.Milliseconds(), resp.FirstToken.Milliseconds()
		return flag(true)
	})
	if err != nil {
		report.Error = sys.AsError(err)
		return report
	}
	report.Tools = run(StepTools, func() *bool {
		ok := probeTools(ctx, p, model)
		if ok != nil && !*ok { // a model that thinks decides otherwise now and then
			ok = probeTools(ctx, p, model)
		}
		return ok
	})
	report.Images = run(StepImage, func() *bool { return probeImage(ctx, p, model) })
	run(StepContext, func() *bool {
		if report.ContextLength = contextLength(ctx, p, model); report.ContextLength > 0 {
			return flag(true)
		}
		return nil
	})
	report.ChatOnly = report.Tools != nil && !*report.Tools
	if ctx.Err() != nil {
		report.Error = sys.AsError(ctx.Err())
	}
	return report
}

// Apply fills in what the test found out about its model: a trial is better
// proof than a list.
func (r TestReport) Apply(m *Model) {
	if r.Tools != nil {
		m.Tools = r.Tools
	}
	if r.Images != nil {
		m.Images = r.Images
	}
	if r.ContextLength > 0 {
		m.ContextLength = r.ContextLength
	}
}

func probeTools(ctx context.Context, p Provider, model string) *bool {
	resp, err := p.Complete(ctx, Request{
		Model: model, MaxTokens: 2048,
		Messages: []Message{{Role: RoleUser, Content: "This is a connection test. Call the tool report_number with the number 7."}},
		Tools: []Tool{{Name: testTool, Description: "Reports a number.", Schema: json.RawMessage(
			`{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}`)}},
	}, nil)
	if err != nil {
		return rejected(err)
	}
	for _, call := range resp.Message.ToolCalls {
		if call.Name == testTool && json.Valid([]byte(call.Args)) {
			return flag(true)
		}
	}
	return flag(false)
}

func probeImage(ctx context.Context, p Provider, model string) *bool {
	resp, err := p.Complete(ctx, Request{Model: model, MaxTokens: 1024, Messages: []Message{{
		Role: RoleUser, Content: "This is a connection test. Which colour fills this picture? Answer with one English word.",
		Images: []Image{{MIME: "image/png", Data: testImage()}},
	}}}, nil)
	if err != nil {
		return rejected(err)
	}
	// Some servers drop a picture without a word; then the model guesses.
	return flag(strings.Contains(strings.ToLower(resp.Message.Content), "red"))
}

// rejected reads an error as "the model cannot": no, unless the error says
// nothing about the model.
func rejected(err error) *bool {
	switch sys.CodeOf(err) {
	case sys.CodeProvider, sys.CodeInvalid, sys.CodeModelRefusal, sys.CodeUnknownModel:
		return flag(false)
	}
	return nil
}

func contextLength(ctx context.Context, p Provider, model string) int {
	if d, ok := p.(interface {
		Describe(context.Context, string) (Model, error)
	}); ok {
		m, _ := d.Describe(ctx, model) // the catalogue answers when the endpoint does not
		return m.ContextLength
	}
	models, err := p.Models(ctx)
	if err != nil {
		return 0
	}
	for _, m := range models {
		if m.ID == model {
			return m.ContextLength
		}
	}
	return 0
}

// testImage is a red square, large enough for every model.
var testImage = sync.OnceValue(func() []byte {
	img := image.NewPaletted(image.Rect(0, 0, 64, 64), color.Palette{color.RGBA{R: 255, A: 255}})
	draw.Draw(img, img.Bounds(), &image.Uniform{C: color.RGBA{R: 255, A: 255}}, image.Point{}, draw.Src)
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		panic(err) // writing to memory cannot fail
	}
	return buf.Bytes()
})
