package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type writeArgs struct {
	Path    string `json:"path" jsonschema:"file to write, relative to the folder or absolute; missing folders are made"`
	Content string `json:"content" jsonschema:"the whole new content"`
}

var writeMaker = maker{
	name: "write", domain: "exec", calls: []string{"exec.write"},
	about: "Writes a whole file, new or in place of an old one.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("write", "Writes a whole file. An existing file is replaced, and keeps its mode and encoding. "+
			"To change a part of a file, use edit.", nil,
			func(in writeArgs) sys.Words { return sys.Say("Write %s", in.Path) },
			func(ctx context.Context, in writeArgs) (agent.Result, error) {
				e, err := h.Exec.Write(ctx, kernel.WriteArgs(in))
				if err != nil {
					return agent.Result{}, err
				}
				how := fmt.Sprintf("changed, %s", changed(e))
				switch {
				case e.Created:
					how = fmt.Sprintf("created, %s", count(e.Added, "line"))
				case e.Added+e.Removed == 0:
					how = "it had this content already"
				}
				return agent.Result{Text: fmt.Sprintf("Wrote %s: %s, %d bytes%s.", e.Path, how, e.Bytes, inEncoding(e)), Title: sys.Say("Wrote %s", e.Path)}, nil
			})
	},
}

func changed(e kernel.FileEffect) string {
	return fmt.Sprintf("%s added, %d removed", count(e.Added, "line"), e.Removed)
}

func inEncoding(e kernel.FileEffect) string {
	if e.Encoding == "utf-8" || e.Encoding == "" {
		return ""
	}
	return ", in " + e.Encoding + " as before"
}

// counted is a number of things for a title.
func counted(n int, noun, ko string) sys.Words {
	return sys.Words{EN: count(n, noun), KO: fmt.Sprintf("%s %d개", ko, n)}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "ory"); ok {
		return fmt.Sprintf("%d %sories", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
