package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type eventsArgs struct {
	Action string   `json:"action" jsonschema:"recent lists what happened, the oldest first"`
	Kinds  []string `json:"kinds,omitempty" jsonschema:"only these, as run, run.ended, step, phase, memory or approval; left out for all"`
	Run    string   `json:"run,omitempty" jsonschema:"only of the agent with this id; left out for yours and those that you forked"`
	After  int      `json:"after,omitempty" jsonschema:"only what came after the event with this number"`
	Limit  int      `json:"limit,omitempty" jsonschema:"the newest so many; 50 if not given, 200 at most"`
}

var eventsMaker = maker{
	name: "events", domain: "infra", calls: []string{"infra.recentEvents"},
	about: "Shows what happened lately in this run and in the agents that it forked.",
	terms: "이벤트 사건 일어난 최근 진행 상황 event happened recent progress",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("events", "Lists what happened lately in your run and in the agents that you forked: steps, phases, memories, approvals, ends. Each line begins with the event's number. It changes nothing.",
			map[string][]string{"action": {"recent"}},
			func(eventsArgs) sys.Words { return sys.Say("Look at what happened") },
			func(ctx context.Context, in eventsArgs) (agent.Result, error) {
				limit := 50
				if in.Limit > 0 {
					limit = min(in.Limit, 200)
				}
				list, err := h.Infra.RecentEvents(ctx, kernel.EventQuery{After: uint64(max(in.After, 0)), Kinds: in.Kinds, RunID: in.Run, Limit: limit})
				if err != nil {
					return agent.Result{}, err
				}
				var b strings.Builder
				for _, e := range list {
					fmt.Fprintf(&b, "%d %s %s %s %s\n", e.Seq, e.Time.UTC().Format("15:04:05"), e.RunID, e.Kind, kernel.EventText(e).EN)
				}
				if len(list) == 0 {
					b.WriteString("No event fits.")
				}
				return agent.Result{Text: strings.TrimSpace(b.String()), Title: sys.Say("Looked at what happened")}, nil
			})
	},
}
