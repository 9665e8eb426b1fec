package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type readArgs struct {
	Path   string `json:"path" jsonschema:"file to read, relative to the folder or absolute"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line to read, counted from 1; default 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many lines; default 2000"`
}

var readMaker = maker{
	name: "read", domain: "exec", calls: []string{"exec.read"},
	about: "Reads a text file, with line numbers.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("read", "Reads a text file and returns its lines with their numbers. The numbers are not part of the file. "+
			"Long files come in parts; the answer says how to read on. Secrets are shown as marks, [secret:NAME#1-abcd]: write, edit and notes put the value back where you write the mark as it is.", nil,
			func(in readArgs) sys.Words { return sys.Say("Read %s", in.Path) },
			func(ctx context.Context, in readArgs) (agent.Result, error) {
				t, err := h.Exec.Read(ctx, kernel.ReadArgs(in))
				if err != nil {
					return agent.Result{}, err
				}
				return agent.Result{Text: numbered(t), Title: sys.Say("Read %s", t.Path)}, nil
			})
	},
}

// numbered writes a part of a file with its line numbers.
func numbered(t kernel.FileText) string {
	if t.TotalLines == 0 {
		return fmt.Sprintf("(%s is empty)", t.Path)
	}
	var b strings.Builder
	n := t.FirstLine
	for line := range strings.Lines(t.Text) {
		fmt.Fprintf(&b, "%5d\t%s\n", n, strings.TrimSuffix(line, "\n"))
		n++
	}
	last := t.FirstLine + t.Lines - 1
	switch {
	case t.More:
		fmt.Fprintf(&b, "(lines %d to %d of %d; read on with offset %d)\n", t.FirstLine, last, t.TotalLines, last+1)
	case t.FirstLine > 1:
		fmt.Fprintf(&b, "(lines %d to %d, the end)\n", t.FirstLine, last)
	}
	if t.Encoding != "utf-8" {
		fmt.Fprintf(&b, "(the file is written in %s and stays so when it is changed)\n", t.Encoding)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
