package tools

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

var beginTaskMaker = maker{
	name: "begin_task", domain: "task", calls: []string{"agents.beginTask"},
	about: "Agrees on what work must achieve before it begins, and asks the person what is unclear.",
	make:  func(h *kernel.Handle, _ kernel.Workplace) agent.Tool { return beginTask{h} },
}

// beginTask is a tool of its own kind: its arguments are nested, and they are
// checked for what they mean.
type beginTask struct{ h *kernel.Handle }

func (beginTask) Name() string { return "begin_task" }

func (beginTask) Description() string {
	return "Begins work that must meet several criteria, or whose goal is unclear. Say the goal, the constraints and how the result is checked: " +
		"give a criterion a command or a file wherever that can show it. If only the person can clear something up, add questions: they are asked, and you call this again " +
		"with what you learned. What is agreed on does not change; when you answer, Oxios evaluates it. Do not use it for plain questions or for one small step."
}

// taskSchema is the schema of a task. It is made once: that takes longer than
// all else that a run needs to begin.
var taskSchema = sync.OnceValue(func() json.RawMessage {
	schema, err := jsonschema.For[kernel.Task](nil)
	if err != nil {
		panic("tools: the arguments of begin_task: " + err.Error()) // a mistake in the struct, found by any test
	}
	plainTypes(schema)
	raw, err := json.Marshal(schema)
	if err != nil {
		panic("tools: the schema of begin_task: " + err.Error())
	}
	return raw
})

// plainTypes takes the null away that Go's lists, maps and pointers may be:
// models take it for an offer.
func plainTypes(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if i := slices.IndexFunc(s.Types, func(t string) bool { return t != "null" }); i >= 0 {
		s.Type, s.Types = s.Types[i], nil
	}
	for _, p := range s.Properties {
		plainTypes(p)
	}
	plainTypes(s.Items)
	plainTypes(s.AdditionalProperties)
}

func (beginTask) Schema() json.RawMessage { return taskSchema() }

// Title names the goal, as far as it can be read.
func (beginTask) Title(args json.RawMessage) sys.Words {
	var in struct {
		Goal string `json:"goal"`
	}
	if json.Unmarshal(args, &in) != nil || in.Goal == "" {
		return sys.Say("Begin a task")
	}
	return onOneLine(sys.Say("Begin a task: %s", in.Goal))
}

// Call begins the task, or waits for what the person says about it.
func (t beginTask) Call(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	task, err := kernel.ParseTask(args)
	if err != nil {
		return agent.Result{}, err
	}
	a, err := t.h.Agents.BeginTask(ctx, task)
	if err != nil {
		return agent.Result{}, err
	}
	title := sys.Say("Asked before the task begins: %s", task.Goal)
	if a.SeedID != "" {
		title = sys.Say("Agreed on the task: %s", task.Goal)
	}
	return agent.Result{Text: a.Text, Title: onOneLine(title)}, nil
}
