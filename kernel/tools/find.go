package tools

import (
	"context"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
)

type findArgs struct {
	Pattern string `json:"pattern" jsonschema:"glob for names: *.pdf anywhere, or with folders src/**/*.go"`
	Path    string `json:"path,omitempty" jsonschema:"folder to look in; default the folder"`
}

var findMaker = maker{
	name: "find", domain: "exec", calls: []string{"exec.find"},
	about: "Finds files and folders by name.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("find", "Finds files and folders by name and returns their paths, at most 1000. A pattern without a slash is looked for at every depth. "+
			"Folders end in a slash.", nil,
			func(in findArgs) string { return titled("Find", in.Pattern) },
			func(ctx context.Context, in findArgs) (agent.Result, error) {
				r, err := h.Exec.Find(ctx, kernel.FindArgs(in))
				if err != nil {
					return agent.Result{}, err
				}
				text := strings.Join(r.Paths, "\n")
				if len(r.Paths) == 0 {
					text = "Nothing has such a name."
				}
				return agent.Result{Text: withNote(text, r.Note), Title: "Found " + count(len(r.Paths), "path") + " like " + in.Pattern}, nil
			})
	},
}
