package security

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"oxios/kernel/sys"
)

// What a person can say to a [Form] besides its values.
const (
	FormDecline = "decline" // they say no
	FormCancel  = "cancel"  // they leave it
)

// Why a question of a server ended without an answer.
const (
	FormLost = "the server that asked ended together with Oxios"
	FormOver = "the call that it belongs to has ended"
)

// formEnds are the same in both languages.
func formEnds() []sys.Words {
	return []sys.Words{sys.Say("the server that asked ended together with Oxios"), sys.Say("the call that it belongs to has ended")}
}

// Form is what a server of tools asks the person in the middle of a call. All of its texts are the server's words.
type Form struct {
	Server  string      `json:"server"` // its name in config.toml
	Message string      `json:"message"`
	Fields  []FormField `json:"fields,omitempty"`
	URL     string      `json:"url,omitempty"`  // instead of fields: an address to open
	Host    string      `json:"host,omitempty"` // of it
}

// The kinds of a [FormField].
const (
	FieldText    = "text"
	FieldNumber  = "number"
	FieldInteger = "integer"
	FieldBoolean = "boolean"
	FieldChoice  = "choice"  // one of Options
	FieldChoices = "choices" // any of Options
)

// FormField is one value that a form asks for.
type FormField struct {
	Name     string          `json:"name"`
	Title    string          `json:"title,omitempty"`
	About    string          `json:"about,omitempty"`
	Kind     string          `json:"kind"`
	Format   string          `json:"format,omitempty"` // of a text: email, uri, date or date-time
	Pattern  string          `json:"pattern,omitempty"`
	Options  []FormOption    `json:"options,omitempty"`
	Min      *float64        `json:"min,omitempty"` // of a number its least value, of a text its length, of choices how many
	Max      *float64        `json:"max,omitempty"`
	Required bool            `json:"required,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"`
}

// FormOption is a value to choose.
type FormOption struct {
	Value string `json:"value"`
	Title string `json:"title,omitempty"`
}

// label is how a field is called in a sentence.
func (f FormField) label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// maxFormValue is how many bytes one value of a form may have.
const maxFormValue = 16 << 10

// Check reads what a person filled in, and returns it with nothing else in it. What they left empty gets its default where it
// has one.
func (f Form) Check(raw json.RawMessage) (json.RawMessage, error) {
	given := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if len(raw) > 0 {
		if err := d.Decode(&given); err != nil || given == nil {
			return nil, sys.Errorf(sys.CodeInvalid, "The values are not a JSON object. Nothing was sent.")
		}
	}
	for name := range given {
		if !slices.ContainsFunc(f.Fields, func(x FormField) bool { return x.Name == name }) {
			return nil, sys.Errorf(sys.CodeInvalid, "Nothing asks for a value named %q. Nothing was sent.", sys.Shorten(name, 100))
		}
	}
	out := map[string]any{}
	for _, x := range f.Fields {
		v, ok := given[x.Name]
		if text, isText := v.(string); !ok || v == nil || isText && strings.TrimSpace(text) == "" {
			if x.Required || len(x.Default) > 0 && !ok {
				if len(x.Default) == 0 {
					return nil, sys.Errorf(sys.CodeInvalid, "%s is needed. Nothing was sent.", sys.Shorten(x.label(), 100))
				}
				out[x.Name] = x.Default
			}
			continue
		}
		value, why := x.value(v)
		if why.EN != "" {
			return nil, sys.Errorf(sys.CodeInvalid, "%s: %s Nothing was sent.", sys.Shorten(x.label(), 100), why)
		}
		out[x.Name] = value
	}
	return json.Marshal(out)
}

// value is what was filled into a field, as its kind wants it, or why it does not fit.
func (f FormField) value(v any) (any, sys.Words) {
	text := strings.TrimSpace(fmt.Sprint(v))
	if list, ok := v.([]any); ok {
		return f.chosen(list)
	}
	if len(text) > maxFormValue {
		return nil, sys.Say("The value is too long.")
	}
	switch f.Kind {
	case FieldNumber, FieldInteger:
		return f.number(text)
	case FieldBoolean:
		switch strings.ToLower(text) {
		case "true", "yes", "y", "1", "예", "네":
			return true, sys.Words{}
		case "false", "no", "n", "0", "아니요", "아니오":
			return false, sys.Words{}
		}
		return nil, sys.Say("The value must be yes or no.")
	case FieldChoice:
		return f.choice(text)
	case FieldChoices:
		var list []any
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, part)
		}
		return f.chosen(list)
	}
	return f.text(text)
}

func (f FormField) number(text string) (any, sys.Words) {
	n := json.Number(text)
	x, err := n.Float64()
	switch {
	case err != nil || math.IsInf(x, 0) || math.IsNaN(x):
		return nil, sys.Say("The value must be a number.")
	case f.Kind == FieldInteger && x != math.Trunc(x):
		return nil, sys.Say("The value must be a whole number.")
	case f.Min != nil && x < *f.Min:
		return nil, sys.Say("The value must be at least %g.", *f.Min)
	case f.Max != nil && x > *f.Max:
		return nil, sys.Say("The value must be at most %g.", *f.Max)
	case f.Kind == FieldInteger:
		return json.RawMessage(fmt.Sprintf("%.0f", x)), sys.Words{}
	}
	return x, sys.Words{}
}

func (f FormField) text(text string) (any, sys.Words) {
	n := float64(utf8.RuneCountInString(text))
	switch {
	case f.Min != nil && n < *f.Min:
		return nil, sys.Say("The text must have at least %g characters.", *f.Min)
	case f.Max != nil && n > *f.Max:
		return nil, sys.Say("The text must have at most %g characters.", *f.Max)
	}
	if f.Pattern != "" {
		if p, err := regexp.Compile(f.Pattern); err == nil && !p.MatchString(text) {
			return nil, sys.Say("The text must fit the pattern %s.", sys.Shorten(f.Pattern, 100))
		}
	}
	switch f.Format {
	case "email":
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return nil, sys.Say("The text must be an email address.")
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || u.Scheme == "" {
			return nil, sys.Say("The text must be a web address.")
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return nil, sys.Say("The text must be a date like 2026-11-27.")
		}
	case "date-time":
		at, err := time.Parse(time.RFC3339, text)
		if err != nil { // as a face's field gives it: the time of this machine
			at, err = time.ParseInLocation("2006-01-02T15:04", text[:min(len(text), 16)], time.Local)
		}
		if err != nil {
			return nil, sys.Say("The text must be a date and a time like 2026-11-27T09:30.")
		}
		return at.Format(time.RFC3339), sys.Words{}
	}
	return text, sys.Words{}
}

// choice is an option by its value or by its title.
func (f FormField) choice(text string) (any, sys.Words) {
	for _, o := range f.Options {
		if o.Value == text || o.Title != "" && o.Title == text {
			return o.Value, sys.Words{}
		}
	}
	return nil, sys.Say("%q is none of the options.", sys.Shorten(text, 100))
}

func (f FormField) chosen(list []any) (any, sys.Words) {
	if f.Kind != FieldChoices {
		return nil, sys.Say("The value must be one value.")
	}
	out := []string{}
	for _, v := range list {
		text := strings.TrimSpace(fmt.Sprint(v))
		if text == "" {
			continue
		}
		o, why := f.choice(text)
		if why.EN != "" {
			return nil, why
		}
		if value, ok := o.(string); ok && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	n := float64(len(out))
	switch {
	case f.Min != nil && n < *f.Min:
		return nil, sys.Say("At least %g options must be chosen.", *f.Min)
	case f.Max != nil && n > *f.Max:
		return nil, sys.Say("At most %g options can be chosen.", *f.Max)
	}
	return out, sys.Words{}
}
