package agent

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// lack is what is missing in an answer with which a run would end.
type lack struct {
	note Note       // asks the model once more
	err  *sys.Error // with which the run ends if that does not help
}

// lacking returns what an answer lacks to be one; nil for nothing. A model that
// answered nothing, or wrote a call as text, has done nothing, whatever it says.
func (x *run) lacking(resp *llm.Response) *lack {
	empty := strings.TrimFunc(resp.Message.Content, unseen) == ""
	switch {
	case empty && resp.FinishReason == llm.FinishLength:
		return &lack{err: sys.Errorf(sys.CodeProvider, "The model %s used all the tokens of its answer for thinking and answered nothing. What was done before is kept.", x.spec.Run.Model).
			WithHint("Ask again with less in the message, or choose another model.")}
	case empty:
		return &lack{
			note: Note{Text: "(Oxios: your last answer was empty. Answer the person in words, or call a tool.)", Title: sys.Say("The model answered nothing and was asked once more.")},
			err: sys.Errorf(sys.CodeProvider, "The model %s answered nothing, twice. What was done before is kept.", x.spec.Run.Model).
				WithHint("Ask again, or choose another model."),
		}
	case len(x.defs) > 0 && writtenCall(resp.Message.Content, x.tools):
		return &lack{
			note: Note{
				Text:  "(Oxios: your last answer holds a tool call written as text. Nothing of it was run. Call the tool through the interface for tools, or answer the person in words.)",
				Title: sys.Say("The model wrote a tool call as text. Nothing was run, and it was asked once more."),
			},
			err: sys.Errorf(sys.CodeProvider, "The model %s wrote a tool call as text, twice. Nothing of it was run. What was done before is kept.", x.spec.Run.Model).
				WithHint("Choose a model that can use tools. Settings, Models tests it."),
		}
	}
	return nil
}

// unseen reports whether nobody sees a character: a blank, or one without width.
func unseen(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// askAgain closes the step of an answer that lacks something: the model is told,
// and asked once more. An answer that lacks something again ends the run.
func (x *run) askAgain(ctx context.Context, open *store.OpenStep, kept ModelStep, l *lack) (ending, []call, bool) {
	keep := context.WithoutCancel(ctx)
	if x.lacked || l.note.Text == "" {
		end := x.failed(ctx, l.err, kept.Text)
		if err := x.closeStep(keep, open, store.OutcomeOK, mustJSON(kept), func(tx *store.Tx) error { return x.finishIn(tx, &end) }); err != nil {
			return x.failed(ctx, err, kept.Text), nil, true
		}
		x.announceEnd(end)
		end.committed = true
		return end, nil, true
	}
	x.lacked, kept.Lacked = true, true
	err := x.closeStep(keep, open, store.OutcomeOK, mustJSON(kept), func(tx *store.Tx) error {
		return x.Store.UpdateRun(tx, x.id, store.RunPatch{Turns: &x.turns, Cost: &x.cost})
	})
	if err == nil {
		err = x.takeNote(keep, l.note)
	}
	if err != nil {
		return x.failed(ctx, err, ""), nil, true
	}
	return ending{}, nil, false
}

// Marks with which templates and other protocols begin a call.
var callMarks = regexp.MustCompile(`(?m)^\s*(<tool_call>|<tool_calls>|<function=|<function_calls?>|<invoke name=|<tool_use>|<\|tool_calls?|<\|python_tag\|>|\[TOOL_CALLS\]|<｜tool▁calls?▁begin｜>|<minimax:tool_call>|(<\|start\|>assistant)?<\|channel\|>commentary to=)`)

var (
	fenced     = regexp.MustCompile("(?s)```[a-zA-Z_]*\\s*\\n(.*?)```")
	callFence  = regexp.MustCompile("(?:^|\n)```tool_code\\s*\n[^`]*```$") // of Gemma and Gemini
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	plainCall  = regexp.MustCompile(`(?s)^(?:functions\.)?([A-Za-z_][A-Za-z0-9_]*)(?::\d+)?\s*\(?\s*(\{.*\})\s*\)?$`)
)

// writtenCall reports whether an answer ends with, or is, the call of a tool that
// is written out: between marks, or as JSON that names a tool and its arguments.
func writtenCall(text string, tools map[string]Tool) bool {
	text = strings.TrimSpace(text)
	if callFence.MatchString(text) || callMarks.MatchString(inlineCode.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")) {
		return true
	}
	last := text
	if all := fenced.FindAllStringSubmatchIndex(text, -1); len(all) > 0 {
		if m := all[len(all)-1]; m[1] == len(text) {
			last = strings.TrimSpace(text[m[2]:m[3]])
		}
	} else if i := strings.Index(text, "\n{"); i >= 0 && strings.HasSuffix(text, "}") {
		last = text[i+1:]
	}
	if m := plainCall.FindStringSubmatch(last); m != nil && tools[m[1]] != nil && json.Valid([]byte(m[2])) {
		return true
	}
	return namesTool([]byte(last), tools)
}

// namesTool reports whether JSON is a call of one of the tools, or a list of such.
func namesTool(raw []byte, tools map[string]Tool) bool {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return len(list) > 0 && namesTool(list[0], tools)
	}
	var call struct {
		Name       string          `json:"name"`
		Tool       string          `json:"tool"`
		Function   json.RawMessage `json:"function"`
		ToolCalls  json.RawMessage `json:"tool_calls"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
		Args       json.RawMessage `json:"args"`
		Input      json.RawMessage `json:"input"`
	}
	if json.Unmarshal(raw, &call) != nil {
		return false
	}
	var name string
	switch {
	case len(call.ToolCalls) > 0:
		return namesTool(call.ToolCalls, tools)
	case len(call.Function) > 0 && call.Function[0] == '{':
		return namesTool(call.Function, tools)
	case len(call.Function) > 0:
		_ = json.Unmarshal(call.Function, &name) // what is no text names nothing
	}
	for _, n := range []string{call.Name, call.Tool} {
		if n != "" {
			name = n
		}
	}
	given := len(call.Arguments) + len(call.Parameters) + len(call.Args) + len(call.Input)
	return tools[strings.TrimPrefix(name, "functions.")] != nil && given > 0
}
