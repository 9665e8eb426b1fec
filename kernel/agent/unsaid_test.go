package agent_test

import (
	"strings"
	"testing"

	"oxios/kernel/agent"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// unsaid are answers with which a model has done nothing.
var unsaid = map[string]string{
	"nothing":                  "",
	"blanks":                   " \n\t",
	"a call between marks":     "I look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>",
	"a call of a template":     "<function=look>\n<parameter=path>a</parameter>\n</function>",
	"a call of another mark":   "[TOOL_CALLS] [{\"name\": \"look\", \"arguments\": {}}]",
	"JSON":                     `{"name": "look", "arguments": {"path": "a"}}`,
	"JSON in a fence":          "I will look.\n```json\n{\"name\": \"look\", \"parameters\": {\"path\": \"a\"}}\n```",
	"JSON behind words":        "I will look.\n{\"tool\": \"look\", \"args\": {\"path\": \"a\"}}",
	"a list of calls":          `[{"function": {"name": "look", "arguments": "{}"}}]`,
	"the field of another API": `{"tool_calls": [{"function": {"name": "functions.look", "arguments": "{}"}}]}`,
	"a call as in a program":   `look({"path": "a"})`,
	"what nobody sees":         "\u200b",
	"a call of Harmony":        "<|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{}<|call|>",
	"a fence of tool code":     "```tool_code\nlook(path=\"a\")\n```",
}

func TestAnAnswerThatSaysNothingIsAskedForOnceMore(t *testing.T) {
	for name, text := range unsaid {
		b := setup(t)
		m := &model{turns: []turn{{text: text}, {text: "Here it is."}}}
		run := b.execute(t, t.Context(), m, nil, tool{"look", echo})
		if run.State != store.RunDone || b.answer(t).Content != "Here it is." || len(m.seen) != 2 {
			t.Errorf("%s: got %s (%s) after %d calls", name, run.State, run.EndReason, len(m.seen))
			continue
		}
		told := m.seen[1].Messages[len(m.seen[1].Messages)-1]
		if told.Role != llm.RoleUser || !strings.HasPrefix(told.Content, "(Oxios: your last answer ") {
			t.Errorf("%s: the model was told %+v", name, told)
		}
		for _, s := range b.steps(t) {
			if s.Kind == store.StepTool {
				t.Errorf("%s: a tool ran: %+v", name, agent.View(s))
			}
		}
	}
}

func TestAnAnswerThatSaysNothingTwiceFailsTheRun(t *testing.T) {
	for name, text := range unsaid {
		b := setup(t)
		m := &model{turns: []turn{{text: text}, {text: text}, {text: "too late"}}}
		run := b.execute(t, t.Context(), m, nil, tool{"look", echo})
		if run.State != store.RunFailed || run.Error == nil || run.Error.Code != sys.CodeProvider || run.Error.Hint == "" || run.Error.MessageKO == "" ||
			!strings.Contains(run.Error.Message, "twice") || len(m.seen) != 2 {
			t.Errorf("%s: got %s, %v after %d calls", name, run.State, run.Error, len(m.seen))
		}
	}
}

func TestWordsAboutCallsAreAnAnswer(t *testing.T) {
	for name, text := range map[string]string{
		"a mark as code":          "The model wrote `<tool_call>` here.",
		"a mark in a fence":       "Templates begin a call so:\n```\n<tool_call>\n```\nThat is all.",
		"JSON of something else":  "The settings:\n```json\n{\"name\": \"oxios\", \"version\": 1}\n```",
		"JSON of no tool":         `{"name": "dance", "arguments": {}}`,
		"a call that is told of":  "I ran look({\"path\": \"a\"}) and found nothing.",
		"a tool without its call": `{"name": "look"}`,
	} {
		b := setup(t)
		m := &model{turns: []turn{{text: text}}}
		if run := b.execute(t, t.Context(), m, nil, tool{"look", echo}); run.State != store.RunDone || len(m.seen) != 1 {
			t.Errorf("%s: got %s (%s) after %d calls", name, run.State, run.EndReason, len(m.seen))
		}
	}
}
