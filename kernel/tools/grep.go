package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
)

type grepArgs struct {
	Pattern string `json:"pattern" jsonschema:"regular expression (RE2), matched line by line"`
	Path    string `json:"path,omitempty" jsonschema:"folder or file to search; default the folder"`
	Glob    string `json:"glob,omitempty" jsonschema:"which files: *.go, src/**/*.ts"`
}

var grepMaker = maker{
	name: "grep", domain: "exec", calls: []string{"exec.grep"},
	about: "Searches the text of files.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("grep", "Searches text files line by line with a regular expression and returns path:line:text, at most 200 lines. "+
			"Version control, installed packages and binary files are passed over.", nil,
			func(in grepArgs) string { return titled("Search for", in.Pattern) },
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
					Title: fmt.Sprintf("Searched %s for %s", count(r.Files, "file"), in.Pattern),
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
