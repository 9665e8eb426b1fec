package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type showArgs struct {
	Action string `json:"action" jsonschema:"show"`
}

// onlyShow are the actions of a tool that changes nothing.
var onlyShow = map[string][]string{"action": {"show"}}

var budgetMaker = maker{
	name: "budget", domain: "budget", calls: []string{"infra.budget"},
	about: "Shows what its run may still use. Offered while a limit holds.",
	when:  func(at kernel.Workplace) bool { return at.Limited },
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("budget", "Shows how much money, how many tokens and model calls this run and the day may still use. Look before work that is long.", onlyShow,
			func(showArgs) sys.Words { return sys.Say("Look at the budget") },
			func(ctx context.Context, _ showArgs) (agent.Result, error) {
				v, err := h.Infra.Budget(ctx)
				if err != nil {
					return agent.Result{}, err
				}
				return agent.Result{Text: budgetText(v), Title: sys.Say("Looked at the budget")}, nil
			})
	},
}

func budgetText(v kernel.BudgetView) string {
	var b strings.Builder
	for _, l := range append([]kernel.BudgetLine{v.Day}, v.Runs...) {
		name := "This run"
		if l.Scope == kernel.ScopeDay {
			name = "The day, all runs together"
		}
		fmt.Fprintf(&b, "%s: ", name)
		if l.Limits.None() {
			b.WriteString("no limit.\n")
			continue
		}
		var parts []string
		if most := l.Limits.USD; most != nil {
			parts = append(parts, fmt.Sprintf("$%.4f of $%.4f used", l.Used.USD, *most))
		}
		if most := l.Limits.Tokens; most != nil {
			parts = append(parts, fmt.Sprintf("%d of %d tokens used", l.Used.Tokens, *most))
		}
		if most := l.Limits.Calls; most != nil {
			parts = append(parts, fmt.Sprintf("%d of %d model calls used", l.Used.Calls, *most))
		}
		b.WriteString(strings.Join(parts, ", ") + ".\n")
	}
	b.WriteString("Only the person can raise a limit.")
	return b.String()
}
