package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"oxios/kernel/sys"
)

// partialCall is a tool call while its pieces come.
type partialCall struct {
	id, name string
	pieces   []string // of the arguments
	extra    json.RawMessage
}

func (p *partialCall) args() string { return strings.Join(p.pieces, "") }

// whole reports whether its arguments are complete.
func (p *partialCall) whole() bool { return len(p.pieces) > 0 && isObject(p.args()) }

func isObject(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") && json.Valid([]byte(s))
}

// addCall merges a fragment of a tool call. index is nil where the server
// counts nothing.
func (a *answer) addCall(index *int, id, name, args string, extra json.RawMessage) error {
	a.begin()
	call := a.callOf(index, id, name, args)
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
	if args != "" {
		call.pieces = append(call.pieces, args)
	}
	if saysSomething(extra) {
		call.extra = bytes.Clone(extra)
	}
	return nil
}

// callOf finds the call that a fragment continues; nil for the next one. Servers
// differ: some count nothing, some count every call as number 0, some give no
// ids, some repeat the name or the whole call.
func (a *answer) callOf(index *int, id, name, args string) *partialCall {
	if len(a.calls) == 0 {
		return nil
	}
	last := a.calls[len(a.calls)-1]
	if index != nil {
		call := a.slots[*index]
		if call == nil || (id != "" && call.id != "" && id != call.id) || a.another(call, name, args) {
			return nil
		}
		return call
	}
	if id != "" {
		for _, call := range a.calls {
			if call.id == id && !a.another(call, name, args) {
				return call
			}
		}
		return nil
	}
	if name == "" || (name == last.name && len(last.pieces) > 0 && !a.another(last, name, args)) {
		return last
	}
	return nil
}

// another reports whether a fragment that has a name begins another call than
// the one whose number or id it has.
func (a *answer) another(call *partialCall, name, args string) bool {
	switch {
	case name == "" || call.name == "":
		return false
	case name != call.name:
		// A name may come in pieces, but not behind arguments, and not behind a name that is whole.
		return len(call.pieces) > 0 || a.offered[call.name] && a.offered[name]
	case !call.whole() || !isObject(args):
		return false
	}
	return !sameJSON(call.args(), args)
}

func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// arguments puts the pieces together. Most servers send one behind the other;
// some repeat what came before in each, some send the whole once more at the
// end, and of some two calls have come under one number: then there are several.
func (p *partialCall) arguments() []string {
	joined := p.args()
	if len(p.pieces) < 2 && !strings.Contains(joined, "}{") || json.Valid([]byte(strings.TrimSpace(joined))) {
		return []string{joined}
	}
	grows := true
	for i := 1; i < len(p.pieces) && grows; i++ {
		grows = strings.HasPrefix(p.pieces[i], p.pieces[i-1])
	}
	if last := p.pieces[len(p.pieces)-1]; grows && isObject(last) {
		return []string{last}
	}
	var list []string
	d := json.NewDecoder(strings.NewReader(joined))
	for {
		var one json.RawMessage
		if err := d.Decode(&one); err == io.EOF && len(list) > 0 { //nolint:errorlint // the decoder's own
			break
		} else if err != nil || !isObject(string(one)) {
			return []string{joined}
		}
		if text := string(one); !sameAsOne(list, text) {
			list = append(list, text)
		}
	}
	if len(list) > 1 && sameJSON(list[0], "{}") { // a beginning that says nothing yet
		list = list[1:]
	}
	return list
}

func sameAsOne(list []string, text string) bool {
	for _, l := range list {
		if sameJSON(l, text) {
			return true
		}
	}
	return false
}

// toolCalls are the calls that came, each with an id of its own. What has neither
// name nor arguments is none.
func (a *answer) toolCalls() ([]ToolCall, error) {
	var out []ToolCall
	seen := map[string]bool{}
	for i, c := range a.calls {
		if c.name == "" {
			if args := strings.TrimSpace(c.args()); len(a.calls) > 1 && (args == "" || args == "{}" || args == "null") {
				continue
			}
			return nil, errors.New("a tool call without a name")
		}
		for j, args := range c.arguments() {
			args = tidyArguments(wholeHalves(args))
			if tooDeep(args, maxDepth) {
				return nil, fmt.Errorf("tool arguments that are nested deeper than %d levels", maxDepth)
			}
			id := c.id
			if id == "" || j > 0 || seen[id] {
				id = fmt.Sprintf("call_%d_%s", i, sys.NewID())
			}
			seen[id] = true
			out = append(out, ToolCall{ID: id, Name: c.name, Args: args, Extra: c.extra})
		}
	}
	return out, nil
}

// tidyArguments takes arguments for what they mean: an object that was encoded
// twice, or that stands in a fence of Markdown.
func tidyArguments(args string) string {
	text := strings.TrimSpace(args)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, body, lined := strings.Cut(rest, "\n")
		body, closed := strings.CutSuffix(strings.TrimSpace(body), "```")
		if lined && closed && isObject(body) {
			return strings.TrimSpace(body)
		}
	}
	for inner := text; strings.HasPrefix(inner, `"`); {
		var s string
		if json.Unmarshal([]byte(inner), &s) != nil {
			break
		}
		if inner = strings.TrimSpace(s); isObject(inner) {
			return inner
		}
	}
	if mended := mendJSON(text); isObject(mended) {
		return mended
	}
	return args
}

// mendJSON writes line ends and tabs inside texts the way of JSON, and leaves out
// commas behind which nothing comes: what small models write means this.
func mendJSON(text string) string {
	if text == "" || text[0] != '{' || json.Valid([]byte(text)) {
		return text
	}
	var out strings.Builder
	inText := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inText && c == '\\' && i+1 < len(text):
			out.WriteByte(c)
			i++
			out.WriteByte(text[i])
		case c == '"':
			inText = !inText
			out.WriteByte(c)
		case inText && c < ' ':
			fmt.Fprintf(&out, `\u%04x`, c)
		case !inText && c == ',' && endsBlock(text[i+1:]):
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// endsBlock reports whether a closing bracket comes next.
func endsBlock(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest != "" && (rest[0] == '}' || rest[0] == ']')
}
