package security

import (
	"strings"
	"unicode"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Label, and what a run has of them, live in store.
type (
	Label  = store.Label
	Labels = store.Labels
)

// Sink says what a system call could do with words that somebody else put into
// a run.
type Sink string

// The sinks.
const (
	SinkNone    Sink = ""        // it only looks, or stays in the run
	SinkFile    Sink = "file"    // it writes files
	SinkCommand Sink = "command" // it runs programs
	SinkTask    Sink = "task"    // it gives the run, or another agent, another task
	SinkControl Sink = "control" // it changes what Oxios lets agents do, or what they are told
)

// SinkCall is a call as the rule of taint sees it.
type SinkCall struct {
	Sink    Sink
	Leaves  bool    // something could leave this machine
	Outside bool    // something outside the folder could change
	Wording Wording // of a request that an agent sends itself
}

// Wording says who chose the words of a request that an agent sends itself.
type Wording string

// The wordings.
const (
	WordingNone     Wording = ""         // it is no such request
	WordingNamed    Wording = "named"    // the person named its machine, or has said yes to it for this run
	WordingFound    Wording = "found"    // its address stands in what the run has read, or in the person's words
	WordingSearch   Wording = "search"   // a short search at the service that the person set up
	WordingComposed Wording = "composed" // the agent's own
)

// TaintReason says why a call asks, or is closed, because of what its run has
// read. "" is no reason.
type TaintReason string

// The reasons.
const (
	TaintLeaves    TaintReason = "leaves"    // untrusted and sensitive in one run, and something could leave
	TaintComposed  TaintReason = "composed"  // untrusted and something of the person's, and the agent worded the request itself
	TaintOutside   TaintReason = "outside"   // the same, and something outside the folder could change
	TaintTask      TaintReason = "task"      // untrusted, and the call gives somebody a task
	TaintControl   TaintReason = "control"   // untrusted, and the call changes what agents may do or are told
	TaintUnchecked TaintReason = "unchecked" // untrusted, and nothing contains what the command does
)

// DecideTaint is the rule of taint: what becomes of a call of a run that has read
// this, whatever tier, mode and grants say. [DecisionFree] leaves it to them.
func DecideTaint(read Labels, c SinkCall, isolation sys.Isolation) (Decision, TaintReason) {
	if !read.Untrusted() {
		return DecisionFree, ""
	}
	switch {
	case c.Sink == SinkControl:
		return DecisionNever, TaintControl
	case c.Sink == SinkCommand && isolation <= sys.IsolationNone:
		return DecisionNever, TaintUnchecked
	case c.Sink == SinkTask:
		return DecisionAsk, TaintTask
	case c.Wording == WordingNamed:
	case c.Wording != WordingNone && read.Secret():
		return DecisionAsk, TaintLeaves
	case c.Wording == WordingComposed && read.Private():
		return DecisionAsk, TaintComposed
	case !read.Sensitive():
	case c.Leaves:
		return DecisionAsk, TaintLeaves
	case c.Outside:
		return DecisionAsk, TaintOutside
	}
	return DecisionFree, ""
}

// IsSystemPath reports whether a path belongs to the system, which no person's
// download gets into.
func IsSystemPath(p string) bool { return isSystemPath(pathFold(slashClean(p))) }

// PlainText takes from a text what people do not see and models read: signs that
// turn the direction of writing, that have no width, the tag characters in which
// whole sentences can hide, and the sequences that move a terminal's cursor. A
// joiner stays where a script or an emoji needs it, and one variation selector
// behind a sign that it can belong to.
func PlainText(text string) string {
	if !strings.ContainsFunc(text, unseen) {
		return text
	}
	text = WithoutControl(text)
	var b strings.Builder
	b.Grow(len(text))
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case r == zwj || r == zwnj:
			if i == 0 || i+1 == len(runes) || !joins(r, runes[i-1], runes[i+1]) {
				continue
			}
		case r >= 0xFE00 && r <= 0xFE0F:
			if i == 0 || !unicode.IsGraphic(runes[i-1]) || unseen(runes[i-1]) || runes[i-1] < 0x80 && !strings.ContainsRune("#*0123456789", runes[i-1]) {
				continue
			}
		case unseen(r):
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// WithoutControl takes from a text the sequences with which programs colour and
// move about in a terminal.
func WithoutControl(text string) string { return terminal().ReplaceAllString(text, "") }

const (
	zwnj = '\u200C'
	zwj  = '\u200D'
)

var terminal = sys.Pattern("(?:\x1b\\[|\u009b)[0-9;:?<=>]*[ -/]*[@-~]|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)|\x1b[ -/]*[0-~]")

// unseen reports whether a character may be one that people do not see.
func unseen(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r < 0x20, r >= 0x7F && r < 0xA0:
		return true
	case r == 0x00AD, r == 0x034F, r == 0x061C, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFEFF, r == 0xFFA0:
		return true
	case r >= 0x180B && r <= 0x180F, r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xFFF0 && r <= 0xFFFB, r >= 0x1D173 && r <= 0x1D17A, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

// joins reports whether a joiner stands where writing needs it: between letters
// of a script that knows it, or between emoji.
func joins(r, before, after rune) bool {
	if unicode.In(before, joined...) && unicode.In(after, joined...) {
		return true
	}
	emoji := func(r rune) bool {
		return unicode.Is(unicode.So, r) || r >= 0x1F3FB && r <= 0x1F3FF || r == 0xFE0F || unicode.Is(unicode.Sm, r)
	}
	return r == zwj && emoji(before) && emoji(after)
}

// joined are the scripts that write with joiners.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}
