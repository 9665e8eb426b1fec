package llm

import "strings"

// Servers without a parser for what a model thinks send it as text, between
// marks at the beginning of the answer.
var thinkMarks = [][2]string{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"◁think▷", "◁/think▷"},
	{"<THINK>", "</THINK>"},
	{"<seed:think>", "</seed:think>"},
	{"[THINK]", "[/THINK]"},
	{"<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"},
}

// thinking takes the text of an answer apart while it streams.
type thinking struct {
	state thinkState
	held  string // not passed on yet
	ends  string // the mark that ends what is thought
	after bool   // something was thought: the blank space behind it goes
}

type thinkState int

const (
	thinkBegin thinkState = iota // nothing but blank space came
	thinkInside
	thinkOver // all else is the answer
)

// take returns what s adds to the answer and to what was thought.
func (t *thinking) take(s string) (text, thought string) {
	if t.state == thinkOver {
		return s, ""
	}
	t.held += s
	for {
		switch t.state {
		case thinkBegin:
			rest := strings.TrimLeft(t.held, " \t\r\n")
			begin, ends, may := markAt(rest)
			switch {
			case begin != "":
				t.state, t.ends, t.held = thinkInside, ends, rest[len(begin):]
			case may:
				return text, thought
			default:
				if t.after {
					t.held = rest
				}
				text, t.held, t.state = text+t.held, "", thinkOver
				return text, thought
			}
		case thinkInside:
			before, behind, found := strings.Cut(t.held, t.ends)
			if !found {
				n := len(t.held) - partOf(t.held, t.ends)
				thought, t.held = thought+t.held[:n], t.held[n:]
				return text, thought
			}
			thought += before
			t.state, t.held, t.after = thinkBegin, behind, true
		default:
			return text, thought
		}
	}
}

// end returns what was held back when the answer is over.
func (t *thinking) end() (text, thought string) {
	held := t.held
	t.held = ""
	switch {
	case t.state == thinkInside:
		return "", held
	case t.after:
		return strings.TrimLeft(held, " \t\r\n"), ""
	}
	return held, ""
}

// markAt returns the mark that s begins with, and the one that ends it; may says
// that more of s could make it one.
func markAt(s string) (begin, ends string, may bool) {
	if s == "" {
		return "", "", true
	}
	for _, m := range thinkMarks {
		if strings.HasPrefix(s, m[0]) {
			return m[0], m[1], true
		}
		may = may || strings.HasPrefix(m[0], s)
	}
	return "", "", may
}

// partOf is how many bytes at the end of s could begin mark.
func partOf(s, mark string) int {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}

// splitThought takes what was thought from a text whose beginning mark a template
// had written, so that only the ending one came.
func splitThought(text string) (thought, answer string, ok bool) {
	for _, m := range thinkMarks {
		before, behind, found := strings.Cut(text, m[1])
		if found && !strings.Contains(before, m[0]) && !strings.Contains(before, "`") && (behind == "" || behind[0] == '\n' || strings.HasSuffix(before, "\n")) {
			return strings.TrimSpace(before), strings.TrimLeft(behind, " \t\r\n"), true
		}
	}
	return "", text, false
}
