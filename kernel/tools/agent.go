package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type agentArgs struct {
	Action   string `json:"action" jsonschema:"fork starts an agent; wait gives what came of it; list, get, kill and message act on those that you forked"`
	Goal     string `json:"goal,omitempty" jsonschema:"for fork: what it should do, with all that it must know; it does not see this conversation"`
	Name     string `json:"name,omitempty" jsonschema:"for fork: two or three words that a person recognises it by"`
	Folder   string `json:"folder,omitempty" jsonschema:"for fork: a folder inside yours; default yours"`
	Profile  string `json:"profile,omitempty" jsonschema:"for fork: its rights, never more than yours; worker (the default) has files, commands and the web; operator may fork too"`
	Role     string `json:"role,omitempty" jsonschema:"for fork: a role of the person, by its name; default yours. It gets no more than you have"`
	Priority string `json:"priority,omitempty" jsonschema:"for fork: who goes first when many wait"`
	ID       string `json:"id,omitempty" jsonschema:"which agent, as fork and list name it; for wait: empty for all that you forked"`
	Text     string `json:"text,omitempty" jsonschema:"for message: what it should know; it reads it before its next step"`
	TimeoutS int    `json:"timeout_s,omitempty" jsonschema:"for wait: seconds after which you look again; default 600"`
}

var agentMaker = maker{
	name: "agent", domain: "agents", calls: []string{"agents.fork"},
	about: "Starts other agents for parts of the work, and waits for them.",
	make: func(h *kernel.Handle, at kernel.Workplace) agent.Tool {
		return newTool("agent", "Starts other agents, which work side by side with you in "+at.Folder+" and below, and gives you what they found. "+
			"Fork one for a part that is large and stands alone, and several at once when they do not need each other; do small things yourself. "+
			"A fork costs what its own model calls cost. What it answers is its claim: look before you tell it as done.",
			map[string][]string{"action": {"fork", "wait", "list", "get", "kill", "message"}, "profile": {"worker", "standard", "operator"}, "priority": {"low", "normal", "high", "critical"}},
			agentTitle, func(ctx context.Context, in agentArgs) (agent.Result, error) { return agentCall(ctx, h, in) })
	},
}

func agentTitle(in agentArgs) sys.Words {
	switch in.Action {
	case "wait":
		return sys.Say("Wait for other agents")
	case "list":
		return sys.Say("List its agents")
	case "get":
		return sys.Say("Look at agent %s", in.ID)
	case "kill":
		return sys.Say("Stop agent %s", in.ID)
	case "message":
		return sys.Say("Tell agent %s something", in.ID)
	}
	return sys.Say("Fork an agent: %s", forkName(in))
}

func forkName(in agentArgs) string {
	if in.Name != "" {
		return in.Name
	}
	return oneLine(in.Goal)
}

func agentCall(ctx context.Context, h *kernel.Handle, in agentArgs) (agent.Result, error) {
	switch in.Action {
	case "fork":
		f, err := h.Agents.Fork(ctx, kernel.Fork{Goal: in.Goal, Name: in.Name, Folder: in.Folder, Profile: in.Profile, Role: in.Role, Priority: in.Priority})
		if err != nil {
			return agent.Result{}, err
		}
		return forked(f), nil
	case "list":
		return agentList(ctx, h)
	case "wait":
		return agentWait(ctx, h, in)
	}
	if in.ID == "" {
		return agent.Result{}, sys.Errorf(sys.CodeInvalid, "%s needs the id of an agent. Nothing was done.", in.Action).WithHint("Action list shows them.")
	}
	switch in.Action {
	case "get":
		v, err := h.Agents.Run(ctx, in.ID)
		if err != nil {
			return agent.Result{}, err
		}
		return agentGet(v), nil
	case "kill":
		k, err := h.Agents.Kill(ctx, in.ID)
		if err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Text: fmt.Sprintf("Stopped, with all that it had forked: %d in all.", k.Runs), Title: sys.Say("Stopped agent %s", in.ID)}, nil
	default:
		if _, err := h.Agents.Message(ctx, in.ID, in.Text); err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Text: "It reads this before its next step.", Title: sys.Say("Told agent %s something", in.ID)}, nil
	}
}

// forked tells of a new agent. The same is said of one whose start was
// recorded, but not told, when Oxios stopped.
func forked(f kernel.Forked) agent.Result {
	return agent.Result{
		Text:  fmt.Sprintf("Agent %s is at work. Wait for it with action wait and id %d.", f.Name, f.PID),
		Title: sys.Say("Forked an agent: %s", f.Name),
	}
}

// agentWait waits for one agent or for all, and says of each how it ended.
func agentWait(ctx context.Context, h *kernel.Handle, in agentArgs) (agent.Result, error) {
	ids := []string{in.ID}
	if in.ID == "" {
		list, err := h.Agents.List(ctx, kernel.ProcessQuery{All: true, Limit: 500})
		if err != nil {
			return agent.Result{}, err
		}
		ids = nil
		for _, p := range list {
			if p.ParentID == h.Principal().ID {
				ids = append(ids, p.ID)
			}
		}
		if len(ids) == 0 {
			return agent.Result{}, sys.Errorf(sys.CodeNotFound, "This agent has forked none, so there is nobody to wait for.").WithHint("Fork one first.")
		}
	}
	if in.TimeoutS <= 0 {
		in.TimeoutS = 600
	}
	within, cancel := context.WithTimeout(ctx, time.Duration(in.TimeoutS)*time.Second)
	defer cancel()
	var parts []string
	ended := 0
	for _, id := range ids {
		r, err := h.Agents.Wait(within, id)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			parts = append(parts, fmt.Sprintf("## %s\nIt is still at work after %d seconds. Wait again, or kill it.", id, in.TimeoutS))
			continue
		}
		if err != nil {
			return agent.Result{}, err
		}
		ended++
		parts = append(parts, report(r))
	}
	return agent.Result{Text: strings.Join(parts, "\n\n"), Title: sys.Say("Waited for %s", counted(ended, "agent", "에이전트"))}, nil
}

// report says how an agent ended. What failed is never told as done.
func report(r kernel.RunResult) string {
	head := fmt.Sprintf("## %s: %s", r.Name, r.State)
	switch {
	case !r.State.Ended():
		head += " (it has not ended)"
	case r.State != "done":
		head += ". It did not finish its part."
		if r.Error != nil {
			head += " " + r.Error.Message
		}
	case r.Status != "":
		head += " (" + r.Status + ": its answer may not be whole)"
	}
	if r.Response == "" {
		return head + "\n(It answered nothing.)"
	}
	return head + "\n" + r.Response
}

func agentList(ctx context.Context, h *kernel.Handle) (agent.Result, error) {
	list, err := h.Agents.List(ctx, kernel.ProcessQuery{All: true, Limit: 500})
	if err != nil {
		return agent.Result{}, err
	}
	var b strings.Builder
	n := 0
	for _, p := range list {
		if p.ID == h.Principal().ID {
			continue
		}
		n++
		fmt.Fprintf(&b, "%d  %s  %s  %d turns  %s", p.PID, p.State, p.Name, p.Turns, (time.Duration(p.AgeMS) * time.Millisecond).Round(time.Second))
		if p.WaitingFor != "" {
			b.WriteString("  waits for the person: " + p.WaitingFor)
		}
		b.WriteByte('\n')
	}
	if n == 0 {
		b.WriteString("You have forked no agent.")
	}
	return agent.Result{Text: strings.TrimRight(b.String(), "\n"), Title: sys.Say("Listed %s", counted(n, "agent", "에이전트"))}, nil
}

func agentGet(v kernel.RunView) agent.Result {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%d): %s, %d turns. %s\n", v.Run.Name, v.Run.PID, v.Run.State, v.Run.Turns, v.Run.EndReason)
	for _, s := range v.Steps {
		fmt.Fprintf(&b, "- %s %s\n", s.State, oneLine(cmp.Or(s.Title, s.Text, s.Name)))
	}
	for _, c := range v.Changes {
		fmt.Fprintf(&b, "changed %s\n", c.Path)
	}
	return agent.Result{Text: strings.TrimRight(b.String(), "\n"), Title: sys.Say("Looked at agent %s", v.Run.Name)}
}
