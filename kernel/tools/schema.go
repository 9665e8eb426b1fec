package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

// tool is a tool whose arguments are an A: a flat struct of strings, whole
// numbers, booleans and lists of strings.
type tool[A any] struct {
	name   string
	about  string
	schema *jsonschema.Schema
	raw    json.RawMessage
	title  func(A) sys.Words
	call   func(context.Context, A) (agent.Result, error)
}

// newTool makes a tool of the arguments A. enums are the values that a field
// may have.
func newTool[A any](name, about string, enums map[string][]string, title func(A) sys.Words, call func(context.Context, A) (agent.Result, error)) agent.Tool {
	s := schemaOf[A](name, enums)
	return &tool[A]{name: name, about: about, schema: s.schema, raw: s.raw, title: title, call: call}
}

// schemas are the schemas by the tool's name. Inferring one takes longer than
// all else that a run needs to begin.
var schemas struct {
	sync.Mutex
	of map[string]inferred
}

type inferred struct {
	schema *jsonschema.Schema
	raw    json.RawMessage
}

// schemaOf infers the schema of A from its tags.
func schemaOf[A any](name string, enums map[string][]string) inferred {
	schemas.Lock()
	defer schemas.Unlock()
	if s, ok := schemas.of[name]; ok {
		return s
	}
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic("tools: the arguments of " + name + ": " + err.Error()) // a mistake in the struct, found by any test
	}
	for field, values := range enums {
		for _, v := range values {
			schema.Properties[field].Enum = append(schema.Properties[field].Enum, v)
		}
	}
	for _, p := range schema.Properties {
		if len(p.Types) > 0 { // a list may be null in Go; models take that for an offer
			p.Type, p.Types = "array", nil
		}
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic("tools: the schema of " + name + ": " + err.Error())
	}
	if schemas.of == nil {
		schemas.of = map[string]inferred{}
	}
	schemas.of[name] = inferred{schema, raw}
	return schemas.of[name]
}

func (t *tool[A]) Name() string            { return t.name }
func (t *tool[A]) Description() string     { return t.about }
func (t *tool[A]) Schema() json.RawMessage { return t.raw }

// Title says what a call would do. Of arguments that do not fit it takes those
// that do.
func (t *tool[A]) Title(args json.RawMessage) sys.Words {
	in, err := t.decode(args)
	if err == nil {
		return onOneLine(t.title(in))
	}
	if json.Unmarshal(args, &in) != nil {
		var fields map[string]json.RawMessage
		in = *new(A)
		if json.Unmarshal(args, &fields) == nil {
			for name, value := range fields {
				one, err := json.Marshal(map[string]json.RawMessage{name: value})
				if err == nil {
					_ = json.Unmarshal(one, &in) // what does not fit stays out
				}
			}
		}
	}
	return onOneLine(t.title(in))
}

// Call checks the arguments and makes the call.
func (t *tool[A]) Call(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	in, err := t.decode(args)
	if err != nil {
		return agent.Result{}, err
	}
	res, err := t.call(ctx, in)
	res.Title = onOneLine(res.Title)
	return res, err
}

// decode checks the arguments against the schema. All that is wrong is told at
// once, with what would fit.
func (t *tool[A]) decode(args json.RawMessage) (A, error) {
	var in A
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(args, &fields); err != nil || fields == nil {
		return in, t.wrong("the arguments are no JSON object")
	}
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		p, ok := t.schema.Properties[name]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("there is no field %q", name))
		case string(value) == "null" && !slices.Contains(t.schema.Required, name):
			delete(fields, name) // as if it were left out
		default:
			value = meant(p, value)
			fields[name] = value
			if problem := unfit(p, value); problem != "" {
				problems = append(problems, fmt.Sprintf("%s must be %s", name, problem))
			}
		}
	}
	for _, name := range t.schema.Required {
		if _, ok := fields[name]; !ok {
			problems = append(problems, name+" is missing")
		}
	}
	if len(problems) > 0 {
		return in, t.wrong(problems...)
	}
	clean, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(clean, &in)
	}
	if err != nil {
		return in, t.wrong(err.Error())
	}
	return in, nil
}

// meant is value in the type that its field has, where it can mean one thing
// alone: models write 2.0 or "2" for 2, "true" for true, and lists as text.
func meant(p *jsonschema.Schema, value json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return value
	}
	text, isText := v.(string)
	var out any
	switch p.Type {
	case "integer":
		n, isNumber := v.(float64)
		if isText {
			var err error
			n, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
			isNumber = err == nil
		}
		if !isNumber || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
			return value
		}
		out = int64(n)
	case "boolean":
		b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(text)))
		if !isText || err != nil || len(text) < 4 {
			return value
		}
		out = b
	case "string":
		if !isText || len(p.Enum) == 0 {
			return value
		}
		out = enumMeant(p.Enum, text)
	case "array":
		var list []string
		if !isText || json.Unmarshal([]byte(text), &list) != nil || list == nil {
			return value
		}
		out = list
	default:
		return value
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return value
	}
	return raw
}

// enumMeant is the value of an enumeration that text names, whatever its capitals.
func enumMeant(values []any, text string) string {
	for _, v := range values {
		if s, ok := v.(string); ok && strings.EqualFold(s, strings.TrimSpace(text)) {
			return s
		}
	}
	return text
}

// unfit says what a value would have to be; "" if it is that.
func unfit(p *jsonschema.Schema, value json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(value))
	var v any
	if d.Decode(&v) != nil {
		return "JSON"
	}
	switch p.Type {
	case "string":
		s, ok := v.(string)
		if !ok {
			return "a string"
		}
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, any(s)) {
			return "one of " + enumText(p.Enum)
		}
	case "integer":
		if n, ok := v.(float64); !ok || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
			return "a whole number, without quotes"
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return "true or false, without quotes"
		}
	case "array":
		list, ok := v.([]any)
		if !ok {
			return "a list of strings"
		}
		for _, e := range list {
			if _, ok := e.(string); !ok {
				return "a list of strings"
			}
		}
	}
	return ""
}

func enumText(values []any) string {
	var names []string
	for _, v := range values {
		names = append(names, fmt.Sprint(v))
	}
	return strings.Join(names, ", ")
}

// wrong is the answer to arguments that do not fit.
func (t *tool[A]) wrong(problems ...string) error {
	return sys.Errorf(sys.CodeInvalid, "The arguments of %s do not fit: %s. Nothing was done.", t.name, strings.Join(problems, "; ")).
		WithHint("It takes %s.", t.short())
}

// short is the schema in a line.
func (t *tool[A]) short() string {
	var fields []string
	for _, name := range t.schema.PropertyOrder {
		p := t.schema.Properties[name]
		kind := p.Type
		switch {
		case len(p.Enum) > 0:
			kind = enumText(p.Enum)
		case kind == "array":
			kind = "list of strings"
		}
		if slices.Contains(t.schema.Required, name) {
			kind += ", required"
		}
		fields = append(fields, name+" ("+kind+")")
	}
	return strings.Join(fields, ", ")
}

// oneLine makes a title of at most 120 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

func onOneLine(w sys.Words) sys.Words { return sys.Words{EN: oneLine(w.EN), KO: oneLine(w.KO)} }
