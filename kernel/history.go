package kernel

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel/agent"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// history is what a model reads of the runs that a run follows, from the first
// one on, or from the newest place where one of them has put what came before
// shorter, which is then returned too: the messages, and the steps in full.
// Results of older runs are shortened, since they can be looked up again. What
// the model cannot take is told in another form, see [retold].
func (k *Kernel) history(ctx context.Context, run Run, say agent.Say, tools, images bool) ([]llm.Message, *agent.ContextStep, error) {
	tree, err := k.store.Tree(ctx, run.SessionID)
	if err != nil {
		return nil, nil, err
	}
	before := tree.Branch(run.AfterID)
	said := make([][]llm.Message, len(before))
	other := make([]bool, len(before)) // another model named its calls
	var earlier *agent.ContextStep
	for n := len(before) - 1; n >= 0 && earlier == nil; n-- {
		r := k.unwritten.over(before[n])
		steps, err := k.store.Steps(ctx, r.ID)
		if err != nil {
			return nil, nil, err
		}
		told, open := agent.Tell(say(r.Text, r.Attachments), steps, say)
		earlier = told.Context
		said[n] = append(told.Talk(nil), agent.Unfinished(open)...)
		if n < len(before)-1 {
			for j := range said[n] {
				if said[n][j].Role == llm.RoleTool {
					said[n][j].Content = sys.Shorten(said[n][j].Content, 2000)
				}
			}
		}
		other[n] = r.Provider != run.Provider || r.Model != run.Model || stoodIn(steps) != nil
		if r.State != store.RunDone {
			said[n] = append(said[n], llm.Message{Role: llm.RoleUser, Content: fmt.Sprintf("(Oxios: that run ended as %q. %s)", r.State, r.EndReason)})
		}
	}
	var talk []llm.Message
	calls := 0
	for n := range before {
		if numbered := renumber(said[n], &calls); other[n] {
			said[n] = numbered
		}
		talk = append(talk, said[n]...)
	}
	return withoutOldPictures(retold(talk, tools, images)), earlier, nil
}

// renumber gives the tool calls of another model's run names that every
// provider takes: Mistral demands nine letters and digits, others forbid
// characters or lengths that their neighbours use. n counts the calls of the
// conversation, so that the names stay the same while it grows.
func renumber(talk []llm.Message, n *int) []llm.Message {
	names := map[string]string{}
	out := make([]llm.Message, len(talk))
	for i, m := range talk {
		m.ToolCalls, m.Back = append([]llm.ToolCall(nil), m.ToolCalls...), llm.Back{}
		for j := range m.ToolCalls {
			*n++
			name := fmt.Sprintf("call%05d", *n)
			names[m.ToolCalls[j].ID] = name
			m.ToolCalls[j].ID, m.ToolCalls[j].Extra = name, nil // the signature is of the other model
		}
		if m.Role == llm.RoleTool {
			m.ToolCallID = names[m.ToolCallID]
		}
		out[i] = m
	}
	return out
}

// retold tells a conversation so that a model without tools or without eyes can
// read it: steps become text of the person's side, where the model does not
// learn to write such text itself, and of pictures it is said that they were
// there. Neighbours of one role become one message then, because templates of
// such models often want the roles to alternate.
func retold(talk []llm.Message, tools, images bool) []llm.Message {
	if tools && images {
		return talk
	}
	var out []llm.Message
	add := func(m llm.Message) {
		if last := len(out) - 1; !tools && last >= 0 && out[last].Role == m.Role {
			out[last].Content = strings.TrimSpace(out[last].Content + "\n\n" + m.Content)
			out[last].Images = append(out[last].Images, m.Images...)
			return
		}
		out = append(out, m)
	}
	asked := map[string]llm.ToolCall{}
	for _, m := range talk {
		if n := len(m.Images); n > 0 && !images {
			m.Images = nil
			m.Content = strings.TrimSpace(fmt.Sprintf("%s\n\n(Oxios: %d pictures stood here. This model cannot see them.)", m.Content, n))
		}
		if tools {
			add(m)
			continue
		}
		for _, c := range m.ToolCalls {
			asked[c.ID] = c
		}
		switch {
		case m.Role == llm.RoleTool:
			c := asked[m.ToolCallID]
			add(llm.Message{Role: llm.RoleUser, Images: m.Images, Content: fmt.Sprintf("(Oxios: at this point the step %s %s was taken. Its result:)\n%s", c.Name, c.Args, m.Content)})
		case m.Content == "" && len(m.ToolCalls) > 0:
		default:
			m.ToolCalls = nil
			add(m)
		}
	}
	return out
}
