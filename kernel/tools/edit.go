package tools

import (
	"context"
	"fmt"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type editArgs struct {
	Path string `json:"path" jsonschema:"file to change, relative to the folder or absolute"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it is in the file, without line numbers"`
	New  string `json:"new" jsonschema:"the text to put in its place"`
	All  bool   `json:"all,omitempty" jsonschema:"replace every occurrence; without it there must be exactly one"`
}

var editMaker = maker{
	name: "edit", domain: "exec", calls: []string{"exec.edit"},
	about: "Replaces text in a file.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("edit", "Replaces text in a file. old must be in the file exactly once, unless all is set: take in enough of the lines around it. "+
			"Line endings and encoding stay as they are.", nil,
			func(in editArgs) sys.Words { return sys.Say("Edit %s", in.Path) },
			func(ctx context.Context, in editArgs) (agent.Result, error) {
				e, err := h.Exec.Edit(ctx, kernel.EditArgs(in))
				if err != nil {
					return agent.Result{}, err
				}
				return agent.Result{
					Text:  fmt.Sprintf("Edited %s: %s replaced, %s%s.", e.Path, count(e.Replaced, "place"), changed(e), inEncoding(e)),
					Title: sys.Say("Edited %s", e.Path),
				}, nil
			})
	},
}
