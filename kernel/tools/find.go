package tools

import (
	"context"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type findArgs struct {
	Pattern string `json:"pattern" jsonschema:"glob for names: *.pdf anywhere, or with folders src/**/*.go"`
	Path    string `json:"path,omitempty" jsonschema:"folder to look in; default the folder"`
	Ignored bool   `json:"ignored,omitempty" jsonschema:"also find what .gitignore leaves out"`
}

var findMaker = maker{
	name: "find", domain: "exec", calls: []string{"exec.find"},
	about: "Finds files and folders by name.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("find", "Finds files and folders by name and returns their paths, at most 1000. A pattern without a slash is looked for at every depth. "+
			"Folders end in a slash. What .gitignore leaves out, version control and installed packages are passed over.", nil,
			func(in findArgs) sys.Words { return sys.Say("Find %s", in.Pattern) },
			func(ctx context.Context, in findArgs) (agent.Result, error) {
				r, err := h.Exec.Find(ctx, kernel.FindArgs(in))
				if err != nil {
					return agent.Result{}, err
				}
				text := strings.Join(r.Paths, "\n")
				if len(r.Paths) == 0 {
					text = "Nothing has such a name."
				}
				return agent.Result{Text: withNote(text, r.Note), Title: sys.Say("Found %s like %s", counted(len(r.Paths), "path", "경로"), in.Pattern)}, nil
			})
	},
}
