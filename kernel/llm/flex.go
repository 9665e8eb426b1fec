package llm

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Servers send values in other forms than the protocol has. The types here take
// each form that means one thing, and null for nothing.

// flexText is a text that may come as a list of parts, or as a number. A half of
// a character outside the first plane, which some servers cut in two, stays in it
// as the three bytes that UTF-8 forbids, so that [joinHalves] finds them.
type flexText string

// UnmarshalJSON accepts a string, a number, a part or a list of parts with text.
func (t *flexText) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || string(b) == "null":
	case b[0] == '[':
		var list []flexText
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		var sb strings.Builder
		for _, p := range list {
			sb.WriteString(string(p))
		}
		*t = flexText(sb.String())
	case b[0] == '{':
		var part struct {
			Text flexText `json:"text"`
		}
		if err := json.Unmarshal(b, &part); err != nil {
			return err
		}
		*t = part.Text
	case b[0] == '"':
		before, whole, after := cutHalves(b)
		if err := json.Unmarshal(whole, (*string)(t)); err != nil {
			return err
		}
		*t = flexText(before) + *t + flexText(after)
	default:
		*t = flexText(b)
	}
	return nil
}

// cutHalves takes from a JSON string a low surrogate at its beginning and a high
// one at its end.
func cutHalves(b []byte) (before string, whole []byte, after string) {
	if !bytes.Contains(b, []byte(`\u`)) || len(b) < 8 {
		return "", b, ""
	}
	whole = b
	if r, ok := surrogate(b[1:]); ok && r >= 0xDC00 {
		before, whole = half(r), append([]byte{'"'}, b[7:]...)
	}
	if n := len(whole); n >= 8 {
		tail := whole[n-7 : n-1]
		slashes := 0
		for i := n - 8; i > 0 && whole[i] == '\\'; i-- {
			slashes++
		}
		if r, ok := surrogate(tail); ok && r < 0xDC00 && slashes%2 == 0 {
			after, whole = half(r), append(bytes.Clone(whole[:n-7]), '"')
		}
	}
	return before, whole, after
}

// surrogate reads \uD800 to \uDFFF.
func surrogate(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil && n >= 0xD800 && n <= 0xDFFF
}

func half(r rune) string {
	return string([]byte{0xED, 0x80 | byte(r>>6&0x3F), 0x80 | byte(r&0x3F)})
}

// wholeHalves joins the halves in a text of which nothing more comes.
func wholeHalves(s string) string {
	kept := ""
	s = joinHalves(&kept, s)
	if kept != "" {
		s += string(utf8.RuneError)
	}
	return s
}

// joinHalves puts s behind what it kept of the piece before. It returns what is
// whole, and keeps half a character at the end.
func joinHalves(kept *string, s string) string {
	if *kept == "" && !strings.Contains(s, "\xED") {
		return s
	}
	s, *kept = *kept+s, ""
	if n := len(s) - 3; n >= 0 && s[n] == 0xED && s[n+1] >= 0xA0 && s[n+1] < 0xB0 {
		s, *kept = s[:n], s[n:]
	}
	var sb strings.Builder
	for i := 0; i < len(s); {
		if len(s)-i >= 6 && s[i] == 0xED && s[i+1] >= 0xA0 && s[i+1] < 0xB0 && s[i+3] == 0xED && s[i+4] >= 0xB0 {
			high, low := rune(s[i+1]&0x0F)<<6|rune(s[i+2]&0x3F), rune(s[i+4]&0x0F)<<6|rune(s[i+5]&0x3F)
			sb.WriteRune(0x10000 + high<<10 + low)
			i += 6
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && s[i] == 0xED && len(s)-i >= 3 {
			n = 3 // a half that is alone
		}
		if r == utf8.RuneError {
			sb.WriteRune(r)
		} else {
			sb.WriteString(s[i : i+n])
		}
		i += n
	}
	return sb.String()
}

// flexArgs are arguments as text; some servers send an object.
type flexArgs string

// UnmarshalJSON accepts a string, null, or any value, which is kept as text.
func (t *flexArgs) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		if string(b) != "null" {
			*t = flexArgs(b)
		}
		return nil
	}
	return json.Unmarshal(b, (*flexText)(t)) // a character may be cut in two here too
}

// flexInt is a whole number that may come with a fraction or in quotes. What is no
// number is none.
type flexInt int

// UnmarshalJSON accepts any value.
func (n *flexInt) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	if err == nil && f >= -1<<31 && f <= 1<<40 {
		*n = flexInt(f)
	}
	return nil
}

// flexList is a list of which the only entry may come alone.
type flexList[T any] []T

// UnmarshalJSON accepts a list, null, or one entry.
func (l *flexList[T]) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		*l = make([]T, 1)
		return json.Unmarshal(b, &(*l)[0])
	}
	return json.Unmarshal(b, (*[]T)(l))
}

// flexObject is an object that counts as empty where something else stands.
type flexObject[T any] struct{ is T }

// UnmarshalJSON accepts any value.
func (o *flexObject[T]) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	return json.Unmarshal(b, &o.is)
}
