package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type lsArgs struct {
	Path string `json:"path,omitempty" jsonschema:"folder to list; default the folder"`
}

var lsMaker = maker{
	name: "ls", domain: "exec", calls: []string{"exec.ls"},
	about: "Lists a folder.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("ls", "Lists what is in a folder: folders first, then files with their size and the day of their last change, at most 1000.", nil,
			func(in lsArgs) sys.Words { return sys.Say("List %s", in.Path) },
			func(ctx context.Context, in lsArgs) (agent.Result, error) {
				r, err := h.Exec.Ls(ctx, kernel.LsArgs(in))
				if err != nil {
					return agent.Result{}, err
				}
				return agent.Result{Text: listing(r), Title: sys.Say("Listed %s", counted(r.Total, "thing", "항목"))}, nil
			})
	},
}

func listing(r kernel.LsResult) string {
	if r.Total == 0 {
		return fmt.Sprintf("(%s is empty)", r.Path)
	}
	var b strings.Builder
	for _, e := range r.Entries {
		switch {
		case e.Link != "":
			fmt.Fprintf(&b, "%s -> %s\n", e.Name, e.Link)
		case e.Dir:
			fmt.Fprintf(&b, "%s/\n", e.Name)
		default:
			day, _, _ := strings.Cut(e.Modified, "T")
			fmt.Fprintf(&b, "%s  %d bytes  %s\n", e.Name, e.Size, day)
		}
	}
	if r.Truncated {
		fmt.Fprintf(&b, "(%d of %d; use find to see others)\n", len(r.Entries), r.Total)
	}
	return strings.TrimRight(b.String(), "\n")
}
