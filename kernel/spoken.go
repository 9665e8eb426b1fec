package kernel

import (
	"context"
	"unicode/utf16"

	"oxios/kernel/store"
)

// spoken is what a person said, in one text, with the parts that they did not type.
type spoken struct {
	text   string
	pasted []Span
}

// betweenTexts parts what was said in several messages.
const betweenTexts = "\n\n"

func (s *spoken) add(text string, pasted []Span) {
	if s.text != "" {
		s.text += betweenTexts
	}
	by := units(s.text)
	s.text += text
	for _, p := range pasted {
		s.pasted = append(s.pasted, Span{From: p.From + by, To: p.To + by, Foreign: p.Foreign})
	}
}

// units is the length of a text as a page counts it.
func units(text string) (n int) {
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// said is what the person said to a run, as it was sent.
func (k *Kernel) said(ctx context.Context, r Run) (out spoken, err error) {
	messages, err := k.store.Messages(ctx, r.SessionID)
	for _, m := range messages {
		if m.RunID == r.ID && m.Role == store.RoleUser {
			out.add(m.Content, m.Pasted)
		}
	}
	return out, err
}

// edited carries over to an edited text which parts were pasted: before and behind
// the change they are the same, and what was changed inside of one belongs to it.
func (s spoken) edited(text string) (out []Span) {
	was, is := utf16.Encode([]rune(s.text)), utf16.Encode([]rune(text))
	head := 0
	for head < len(was) && head < len(is) && was[head] == is[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(is)-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	moved := len(is) - len(was)
	at := func(n int, end bool) int {
		switch {
		case n <= head:
			return n
		case n >= len(was)-tail:
			return n + moved
		case end:
			return len(is) - tail
		}
		return head
	}
	for _, p := range s.pasted {
		if q := (Span{From: at(p.From, false), To: at(p.To, true), Foreign: p.Foreign}); q.From < q.To {
			out = append(out, q)
		}
	}
	return out
}
