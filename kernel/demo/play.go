package demo

import (
	"encoding/json"
	"strconv"
	"strings"
)

// message is one entry of a request's conversation.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// text is the content as text, also when it is a list of parts.
func (m message) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var sb strings.Builder
	for _, p := range parts {
		sb.WriteString(p.Text)
	}
	return sb.String()
}

// scene is where a conversation stands.
type scene struct {
	message string // of the user, the last one
	result  string // of the tools, since the last answer
	step    int    // answers since the user's last message
}

func sceneOf(messages []message) scene {
	var sc scene
	last := -1
	for i, m := range messages {
		if m.Role == "user" {
			last = i
		}
	}
	if last >= 0 {
		sc.message = messages[last].text()
	}
	from := last + 1
	for i := last + 1; i < len(messages); i++ {
		if messages[i].Role == "assistant" {
			sc.step++
			from = i + 1
		}
	}
	var results []string
	for _, m := range messages[min(from, len(messages)):] {
		if m.Role == "tool" {
			results = append(results, m.text())
		}
	}
	sc.result = strings.Join(results, "\n")
	return sc
}

// played is a turn with its templates filled in.
type played struct {
	*Turn
	scenario  string
	step      int
	text      string
	reasoning string
	refusal   string
	calls     []Call
	short     bool // the request allowed fewer tokens than the turn has
}

// maxMatched is how much of a message the scenarios look at, in bytes: trying
// them all on a pasted novel would take seconds.
const maxMatched = 16 << 10

// play chooses the turn for a request.
func (s *Server) play(messages []message) played {
	sc := sceneOf(messages)
	sc.message = newest(sc.message)
	begin := sc.message[:min(len(sc.message), maxMatched)]
	for _, script := range s.scripts {
		if groups, ok := script.fits(begin); ok {
			turn := s.choose(script, sc)
			p := played{Turn: turn, scenario: script.Name, step: sc.step}
			fill := func(text string, escape bool) string { return fillIn(text, sc, groups, escape) }
			p.text, p.reasoning, p.refusal = fill(turn.Text, false), fill(turn.Reasoning, false), fill(turn.Refusal, false)
			for _, call := range turn.Calls {
				p.calls = append(p.calls, Call{Tool: call.Tool, Args: fill(call.Args, true)})
			}
			return p
		}
	}
	return played{Turn: &Turn{}, step: sc.step, text: "This scripted demo has no scenario for this message."}
}

// newest is the message that a person wrote last. What came before it without
// an answer, or was dropped where the model's window is small, stands in front
// of it, with the kernel's word on that at its end.
func newest(message string) string {
	for _, word := range []string{"(Oxios: that run ended as ", "They stay in the journal of this conversation, "} {
		if at := strings.LastIndex(message, word); at >= 0 {
			if _, rest, ok := strings.Cut(message[at:], ")\n\n"); ok {
				message = rest
			}
		}
	}
	return message
}

func (s *Server) choose(script *script, sc scene) *Turn {
	st := script.at(sc.step)
	if st == nil {
		return &over
	}
	for _, c := range st.turns {
		if c.when != nil && !c.when.MatchString(sc.result) {
			continue
		}
		if c.Times > 0 && !s.use(c.Turn) {
			continue
		}
		return c.Turn
	}
	return &over
}

// use counts a turn with times, and reports whether it is still played.
func (s *Server) use(t *Turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[t] >= t.Times {
		return false
	}
	s.used[t]++
	return true
}

func fillIn(text string, sc scene, groups []string, escape bool) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	put := func(v string) string {
		if !escape {
			return v
		}
		quoted, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(quoted[1 : len(quoted)-1])
	}
	pairs := []string{
		"{{message}}", put(shorten(sc.message, 400)), "{{result}}", put(shorten(sc.result, 600)), "{{n}}", strconv.Itoa(sc.step + 1),
	}
	for i := 1; i < 10; i++ {
		v := ""
		if i < len(groups) {
			v = groups[i]
		}
		pairs = append(pairs, "{{"+strconv.Itoa(i)+"}}", put(v))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func shorten(s string, n int) string {
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
