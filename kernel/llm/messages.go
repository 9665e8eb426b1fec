package llm

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// chatMessage is a message in the words of chat completions, with what go-openai
// knows no place for.
type chatMessage struct {
	openai.ChatCompletionMessage
	extra []json.RawMessage // of its tool calls
	back  Back
}

// chatMessages says the messages of a request, one after the other. Neighbours
// that a person's side said are one message, and what says nothing is left out:
// many servers refuse both.
func chatMessages(req Request, q quirk, say func(chatMessage)) {
	t := teller{say: say, strict: q.strictRoles}
	var shown []Image // pictures of tool results, which a tool message cannot hold
	flush := func() {
		if len(shown) > 0 {
			t.tell(chatMessage{ChatCompletionMessage: openai.ChatCompletionMessage{
				Role: RoleUser, MultiContent: parts("The pictures that the tools returned:", shown),
			}}, true)
			shown = nil
		}
	}
	for _, m := range req.Messages {
		if m.Role != RoleTool {
			flush()
		}
		msg := chatMessage{ChatCompletionMessage: openai.ChatCompletionMessage{Role: m.Role, Content: m.Content}, back: m.Back}
		switch {
		case m.Role == RoleTool:
			msg.ToolCallID = callID(m.ToolCallID, q)
			shown = append(shown, m.Images...)
			if msg.Content == "" {
				msg.Content = "(no output)"
			}
		case len(m.Images) > 0:
			msg.Content, msg.MultiContent = "", parts(m.Content, m.Images)
		case len(m.ToolCalls) == 0 && strings.TrimSpace(m.Content) == "":
			continue
		}
		for _, call := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, openai.ToolCall{
				ID: callID(call.ID, q), Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: callName(call.Name), Arguments: replayArgs(call.Args)},
			})
			msg.extra = append(msg.extra, call.Extra)
		}
		if len(m.ToolCalls) > 0 && q.thoughts.goBack(req.Model) {
			if msg.ReasoningContent = m.Reasoning; m.Reasoning == "" && q.thoughts == thoughtsAlways {
				msg.ReasoningContent = " " // the server wants the member, whatever is in it
			}
		}
		t.tell(msg, false)
	}
	flush()
	t.end()
}

// teller passes messages on, a person's neighbours as one.
type teller struct {
	say     func(chatMessage)
	pending *chatMessage // of the role user, not passed on yet
	last    string       // the role of the newest that was passed on
	strict  bool         // no message of a person's side follows a tool
}

// tell takes one message. pictures says that it is only what a tool returned.
func (t *teller) tell(m chatMessage, pictures bool) {
	if m.Role != RoleUser {
		t.end()
		t.say(m)
		t.last = m.Role
		return
	}
	if t.pending == nil {
		// Templates want an answer between a tool and the person. A run that ended
		// behind a tool gave none.
		if t.last == RoleTool && (t.strict || !pictures) {
			t.say(chatMessage{ChatCompletionMessage: openai.ChatCompletionMessage{Role: RoleAssistant, Content: "(no answer)"}})
		}
		t.pending = &m
		return
	}
	p := t.pending
	if p.MultiContent == nil && m.MultiContent == nil {
		p.Content += "\n\n" + m.Content
		return
	}
	for _, side := range []*chatMessage{p, &m} {
		if side.MultiContent == nil {
			side.Content, side.MultiContent = "", parts(side.Content, nil)
		}
	}
	p.MultiContent = append(p.MultiContent, m.MultiContent...)
}

func (t *teller) end() {
	if t.pending != nil {
		t.say(*t.pending)
		t.pending, t.last = nil, RoleUser
	}
}

func parts(text string, images []Image) []openai.ChatMessagePart {
	var out []openai.ChatMessagePart
	if text != "" {
		out = append(out, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: text})
	}
	for _, img := range images {
		out = append(out, openai.ChatMessagePart{
			Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: dataURL(img)},
		})
	}
	return out
}

func dataURL(img Image) string {
	mime := img.MIME
	if mime == "" {
		mime = "image/png"
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
}

// replayArgs makes arguments that the model malformed fit to be sent back:
// several servers parse them and fail. The model still sees what it wrote.
func replayArgs(args string) string {
	args = strings.TrimSpace(args)
	if args == "" {
		return "{}"
	}
	if strings.HasPrefix(args, "{") && json.Valid([]byte(args)) {
		return args
	}
	wrapped, err := json.Marshal(map[string]string{"malformed_arguments": args})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}

// maxName is how long servers let the name of a tool and the id of a call be.
const maxName = 64

// nameByte reports whether servers take c in names and ids.
func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// callName makes the name that a model gave a tool fit to be sent back. Servers
// refuse a conversation for ever in which one is not.
func callName(name string) string {
	fits := name != "" && len(name) <= maxName
	for i := 0; fits && i < len(name); i++ {
		fits = nameByte(name[i])
	}
	if fits {
		return name
	}
	out := []byte(name[:min(len(name), maxName)])
	for i, c := range out {
		if !nameByte(c) {
			out[i] = '_'
		}
	}
	if len(out) == 0 {
		return "unnamed"
	}
	return string(out)
}

// callID is the id of a tool call as servers of every kind take it: nine letters
// and digits, which Mistral demands, and the same one in each request. One that
// stays inside what its own server takes is left as it is where the model
// continues the numbering (Kimi), unless that was refused.
func callID(id string, q quirk) string {
	own := strings.HasPrefix(id, "functions.") && len(id) <= maxName && !q.shortIDs
	if own || len(id) == shortID && !strings.ContainsFunc(id, func(r rune) bool { return r > '~' || !nameByte(byte(r)) || r == '_' || r == '-' }) {
		return id
	}
	return digest(id)[:shortID]
}

// shortID is how long an id of Mistral is.
const shortID = 9

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// thoughts says whether what a model thought before a tool call goes back to it.
type thoughts int

// The zero value is what most servers want.
const (
	thoughtsUsual  thoughts = iota // for models that are known to need it
	thoughtsAlways                 // with every call, as the server demanded
	thoughtsNever                  // the server refused it
)

func (t thoughts) goBack(model string) bool {
	if t == thoughtsUsual {
		return containsAny(strings.ToLower(model), "deepseek", "kimi", "glm", "minimax")
	}
	return t == thoughtsAlways
}
