package tools

import (
	"context"
	"fmt"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

var resourceMaker = maker{
	name: "resource", domain: "resource", calls: []string{"infra.resources"},
	about: "Shows how loaded the machine is.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("resource", "Shows how busy the processors are, and how much memory and disk is free.", onlyShow,
			func(showArgs) sys.Words { return sys.Say("Look at the machine's load") },
			func(ctx context.Context, _ showArgs) (agent.Result, error) {
				v, err := h.Infra.Resources(ctx)
				if err != nil {
					return agent.Result{}, err
				}
				const mb = 1 << 20
				text := fmt.Sprintf("Processors: %.0f %% busy. Memory: %d of %d MB available. Disk: %d MB free. Runs at work: %d.",
					v.Now.CPU, v.Now.MemoryAvailable/mb, v.Now.MemoryTotal/mb, v.Now.DiskFree/mb, v.Now.Agents)
				if v.Overloaded {
					text += " The machine is overloaded: work that can wait should wait."
				}
				return agent.Result{Text: text, Title: sys.Say("Looked at the machine's load")}, nil
			})
	},
}
