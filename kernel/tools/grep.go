package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type grepArgs struct {
	Pattern string `json:"pattern" jsonschema:"regular expression (RE2), matched line by line"`
	Path    string `json:"path,omitempty" jsonschema:"folder or file to search; default the folder"`
	Glob    string `json:"glob,omitempty" jsonschema:"which files: *.go, src/**/*.ts"`
	Ignored bool   `json:"ignored,omitempty" jsonschema:"also search what .gitignore leaves out"`
}

var grepMaker = maker{
	name: "grep", domain: "exec", calls: []string{"exec.grep"},
	about: "Searches the text of files.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("grep", "Searches text files line by line with a regular expression and returns path:line:text, at most 200 lines. "+
			"What .gitignore leaves out, version control, installed packages and binary files are passed over.", nil,
			func(in grepArgs) sys.Words { return sys.Say("Search for %s", in.Pattern) },
			func(ctx context.Context, in grepArgs) (agent.Result, error) {
				r, err := h.Exec.Grep(ctx, kernel.GrepArgs(in))
				if err != nil {
					return agent.Result{}, err
				}
				var b strings.Builder
				for _, m := range r.Matches {
					fmt.Fprintf(&b, "%s:%d:%s\n", m.Path, m.Line, m.Text)
				}
				if len(r.Matches) == 0 {
					fmt.Fprintf(&b, "No line of %s matches.\n", count(r.Files, "file"))
				}
				return agent.Result{
					Text:  withNote(b.String(), r.Note),
					Title: sys.Say("Searched %s for %s", counted(r.Files, "file", "파일"), in.Pattern),
				}, nil
			})
	},
}

// withNote puts what was left out under a result.
func withNote(text, note string) string {
	text = strings.TrimRight(text, "\n")
	if note == "" {
		return text
	}
	return text + "\n(" + note + ")"
}
