package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/remote"
	"oxios/kernel"
)

// tool is a call as programs see it.
type tool struct {
	call  string // its row in the table of system calls
	title string
	about string         // for the model
	args  []string       // the names of the arguments; none for a call that takes one structure
	only  []string       // of a structure: the fields that a program can give
	needs []string       // what must be given
	fixed map[string]any // of a structure: what is always given
}

// tools are all calls that scopes name, but those of approvals: see [face.answer].
var tools = []tool{
	{call: "knowledge.search", title: "Search notes", about: "Searches the person's notes and returns the best matches with snippets.", args: []string{"query", "k"}, needs: []string{"query"}},
	{call: "knowledge.read", title: "Read a note", about: "Returns a note by its path, or by a name that a link would find it by. Secrets are masked.", args: []string{"name"}, needs: []string{"name"}},
	{call: "knowledge.tree", title: "List notes", about: "Lists all folders and notes. Prefer the search where there are many."},
	{call: "knowledge.backlinks", title: "Find links to a note", about: "Returns the places in other notes that link to a note.", args: []string{"name"}, needs: []string{"name"}},
	{call: "memory.search", title: "Search memories", about: "Searches what Oxios remembers about the person and their work.", only: []string{"text", "kind", "k"}, needs: []string{"text"}, fixed: map[string]any{"least": kernel.MemoryLeast}},
	{call: "memory.list", title: "List memories", about: "Lists what Oxios remembers, the newest first.", only: []string{"kind", "limit", "before"}},
	{call: "skills.list", title: "List skills", about: "Lists the skills: instructions for kinds of work."},
	{call: "skills.read", title: "Read a skill", about: "Returns the instructions of a skill, or one of its files.", args: []string{"name", "file"}, needs: []string{"name"}},
	{call: "agents.list", title: "List runs", about: "Lists the runs that have not ended; with all, those that have ended too, the newest first.", only: []string{"all", "session_id", "limit", "before"}},
	{call: "agents.run", title: "Show a run", about: "Returns one run with its steps and what it changed.", args: []string{"id"}, needs: []string{"id"}},
	{call: "agents.submit", title: "Start a run", about: "Gives an agent of Oxios a task and returns the id of its run at once; agents_wait returns the answer. The person's rules and approvals hold. session_id goes on in a conversation that this program began.", only: []string{"text", "session_id", "name"}, needs: []string{"text"}},
	{call: "agents.wait", title: "Wait for a run", about: "Waits until a run has ended and returns its answer. It also returns when the run waits for the person's approval, and after at most a minute: call it again then.", args: []string{"id"}, needs: []string{"id"}},
	{call: "agents.kill", title: "Stop a run", about: "Stops a run and all that it has forked.", args: []string{"id"}, needs: []string{"id"}},
	{call: "knowledge.write", title: "Write a note", about: "Creates a note, or replaces its text. To replace, give the hash that knowledge_read returned as base.", only: []string{"path", "text", "base"}, needs: []string{"path", "text"}},
	{call: "knowledge.append", title: "Add to a note", about: "Adds text to the end of a note, which is created when it is missing.", args: []string{"path", "text"}, needs: []string{"path", "text"}},
	{call: "knowledge.journal", title: "Add to the journal", about: "Adds text to the journal of a day. date is like 2026-01-31; left out, it is today.", args: []string{"date", "text"}, needs: []string{"text"}},
}

// toolName is the name of a call as a tool: models take no dots.
func toolName(call string) string { return strings.ReplaceAll(call, ".", "_") }

// toolOf returns the tool of a name.
func toolOf(name string) (tool, bool) {
	i := slices.IndexFunc(tools, func(t tool) bool { return toolName(t.call) == name })
	if i < 0 {
		return tool{}, false
	}
	return tools[i], true
}

// define is the tool as the protocol describes it. Its annotations follow from the table of system calls.
func (t tool) define() (*sdk.Tool, error) {
	schema, err := t.schema()
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", t.call, err)
	}
	row := kernel.Syscalls()[t.call]
	reads, runs := row.Rights.String() == "R", strings.Contains(row.Rights.String(), "X")
	destroys := !reads && !row.Undo
	return &sdk.Tool{
		Name: toolName(t.call), Title: t.title, Description: t.about, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: reads, DestructiveHint: &destroys, IdempotentHint: reads || row.Again, OpenWorldHint: &runs},
	}, nil
}

// schema describes the arguments, as the types of the call have them.
func (t tool) schema() (*jsonschema.Schema, error) {
	in, err := inputs(t.call)
	if err != nil {
		return nil, err
	}
	if len(t.args) == 0 && len(in) == 1 {
		s, err := jsonschema.ForType(in[0], &jsonschema.ForOptions{})
		if err != nil {
			return nil, err
		}
		for name := range s.Properties {
			if !slices.Contains(t.only, name) {
				delete(s.Properties, name)
			}
		}
		s.Required, s.PropertyOrder = t.needs, nil
		return s, nil
	}
	if len(in) != len(t.args) {
		return nil, fmt.Errorf("it takes %d arguments, and %d have names", len(in), len(t.args))
	}
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, Required: t.needs, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for i, name := range t.args {
		if s.Properties[name], err = jsonschema.ForType(in[i], &jsonschema.ForOptions{}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// inputs are the types that a call takes after its context.
func inputs(call string) ([]reflect.Type, error) {
	api, method, _ := strings.Cut(call, ".")
	field, ok := reflect.TypeFor[remote.Handle]().FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, api) })
	if !ok {
		return nil, fmt.Errorf("the Handle has no %s", api)
	}
	for m := range field.Type.Methods() {
		if strings.EqualFold(m.Name, method) {
			var in []reflect.Type
			for i := 1; i < m.Type.NumIn(); i++ {
				in = append(in, m.Type.In(i))
			}
			return in, nil
		}
	}
	return nil, fmt.Errorf("%s has no %s", api, method)
}

// pack makes the arguments of the wire of those of a program.
func (t tool) pack(raw json.RawMessage) (json.RawMessage, error) {
	given := map[string]any{}
	if len(raw) > 0 {
		var read map[string]json.RawMessage
		if err := json.Unmarshal(raw, &read); err != nil {
			return nil, invalid("The arguments are not an object.")
		}
		for k, v := range read {
			given[k] = v
		}
	}
	known := slices.Concat(t.args, t.only)
	for name := range given {
		if !slices.Contains(known, name) {
			return nil, invalid("There is no argument %q. Give: %s.", name, strings.Join(known, ", "))
		}
	}
	for _, name := range t.needs {
		if _, ok := given[name]; !ok {
			return nil, invalid("The argument %q is missing.", name)
		}
	}
	var list []any
	switch {
	case len(t.args) > 0:
		for _, name := range t.args {
			list = append(list, given[name]) // what is left out is null, and so the zero value
		}
	case t.only != nil:
		for k, v := range t.fixed {
			given[k] = v
		}
		list = []any{given}
	}
	if list == nil {
		list = []any{}
	}
	return json.Marshal(list)
}
