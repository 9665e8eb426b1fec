package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type knowledgeArgs struct {
	Action string   `json:"action" jsonschema:"what to do"`
	Path   string   `json:"path,omitempty" jsonschema:"of the note, as folder/name.md; of a folder for tree"`
	To     string   `json:"to,omitempty" jsonschema:"move: where it goes; links to it are rewritten"`
	Text   string   `json:"text,omitempty" jsonschema:"write: the whole note; append, journal, checklist_add: what is added"`
	Base   string   `json:"base,omitempty" jsonschema:"write: the hash that read gave, when the note is there already"`
	Source []string `json:"source,omitempty" jsonschema:"write: the addresses that the text is from"`
	Query  string   `json:"query,omitempty" jsonschema:"search: words, \"phrases\", tag:name, path:folder"`
	Line   int      `json:"line,omitempty" jsonschema:"checklist_toggle: the line that checklist_items gave"`
	Date   string   `json:"date,omitempty" jsonschema:"journal: YYYY-MM-DD; today if left out"`
}

var knowledgeActions = map[string][]string{"action": {
	"read", "write", "append", "delete", "move", "tree", "search", "backlinks", "checklist_items", "checklist_add", "checklist_toggle", "journal", "tags",
}}

var knowledgeMaker = maker{
	name: "knowledge", domain: "knowledge", calls: []string{"knowledge.read", "knowledge.write"},
	about: "Personal markdown vault — save, read, search documents and notes.",
	terms: "지식 저장소 저장 저장해 노트 메모 문서 자료 마크다운 글 일지 일기 체크리스트 할일 위키 정리 save note document article wiki journal checklist todo obsidian",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("knowledge", "Personal markdown vault — documents, articles, notes, journal entries. File-based with backlinks, full-text search, and directory structure. "+
			"Read, write, search, and organize user content as markdown files. [[Name]] links to another note.", knowledgeActions, knowledgeTitle,
			func(ctx context.Context, in knowledgeArgs) (agent.Result, error) {
				text, err := knowledgeCall(ctx, h, in)
				return agent.Result{Text: strings.TrimSpace(text)}, err
			})
	},
}

func knowledgeTitle(in knowledgeArgs) sys.Words {
	switch in.Action {
	case "read":
		return sys.Say("Read the note %s", in.Path)
	case "write":
		return sys.Say("Write the note %s", in.Path)
	case "append":
		return sys.Say("Add to the note %s", in.Path)
	case "delete":
		return sys.Say("Delete the note %s", in.Path)
	case "move":
		return sys.Say("Move %s to %s", in.Path, in.To)
	case "search":
		return sys.Say("Search the notes for %s", in.Query)
	case "checklist_add":
		return sys.Say("Add an item to %s", in.Path)
	case "checklist_toggle":
		return sys.Say("Tick an item of %s", in.Path)
	case "journal":
		return sys.Say("Write in the journal")
	}
	return sys.Say("Look at the vault")
}

// need fails when an action lacks what it works on.
func need(action string, fields ...string) error {
	for i := 0; i < len(fields); i += 2 {
		if strings.TrimSpace(fields[i+1]) == "" {
			return sys.Errorf(sys.CodeInvalid, "The action %s needs %s. Nothing was done.", action, fields[i])
		}
	}
	return nil
}

func knowledgeCall(ctx context.Context, h *kernel.Handle, in knowledgeArgs) (string, error) {
	api := h.Knowledge
	changed := func(c kernel.VaultChange, err error) (string, error) {
		if err != nil && c.Changed == 0 {
			return "", err // what failed says nothing of how the note is
		}
		return changeText(c), err
	}
	switch in.Action {
	case "read":
		if err := need(in.Action, "path", in.Path); err != nil {
			return "", err
		}
		n, err := api.Read(ctx, in.Path)
		if err != nil {
			return "", err
		}
		return noteText(n), nil
	case "write":
		if err := need(in.Action, "path", in.Path, "text", in.Text); err != nil {
			return "", err
		}
		return changed(api.Write(ctx, kernel.NoteWrite{Path: in.Path, Text: in.Text, Base: in.Base, Source: in.Source}))
	case "append":
		if err := need(in.Action, "path", in.Path, "text", in.Text); err != nil {
			return "", err
		}
		return changed(api.Append(ctx, in.Path, in.Text))
	case "delete":
		if err := need(in.Action, "path", in.Path); err != nil {
			return "", err
		}
		return changed(api.Delete(ctx, in.Path, in.Base))
	case "move":
		if err := need(in.Action, "path", in.Path, "to", in.To); err != nil {
			return "", err
		}
		return changed(api.Move(ctx, in.Path, in.To))
	case "checklist_add":
		if err := need(in.Action, "path", in.Path, "text", in.Text); err != nil {
			return "", err
		}
		return changed(api.AddTask(ctx, in.Path, in.Text))
	case "checklist_toggle":
		if err := need(in.Action, "path", in.Path); err != nil {
			return "", err
		}
		return changed(api.Toggle(ctx, in.Path, in.Line, in.Base))
	case "journal":
		return changed(api.Journal(ctx, in.Date, in.Text))
	}
	return knowledgeLook(ctx, h, in)
}

// mostEntries is how much of a tree a model reads at once.
const mostEntries = 400

// knowledgeLook are the actions that list.
func knowledgeLook(ctx context.Context, h *kernel.Handle, in knowledgeArgs) (string, error) {
	var b strings.Builder
	switch in.Action {
	case "tree":
		all, err := h.Knowledge.Tree(ctx)
		if err != nil {
			return "", err
		}
		below := strings.Trim(in.Path, "/")
		n := 0
		for _, e := range all {
			if below != "" && !strings.HasPrefix(e.Path, below+"/") {
				continue
			}
			if n++; n > mostEntries {
				continue
			}
			end := ""
			if e.Kind == "folder" {
				end = "/"
			}
			fmt.Fprintf(&b, "%s%s\n", e.Path, end)
		}
		if n > mostEntries {
			fmt.Fprintf(&b, "(%d more. Give a folder as path.)\n", n-mostEntries)
		}
	case "search":
		if err := need(in.Action, "query", in.Query); err != nil {
			return "", err
		}
		found, err := h.Knowledge.Search(ctx, in.Query, 20)
		if err != nil {
			return "", err
		}
		for _, f := range found {
			fmt.Fprintf(&b, "%s:%d: %s\n", f.Path, f.Line, f.Snippet)
		}
	case "backlinks":
		if err := need(in.Action, "path", in.Path); err != nil {
			return "", err
		}
		found, err := h.Knowledge.Backlinks(ctx, in.Path)
		if err != nil {
			return "", err
		}
		for _, l := range found {
			fmt.Fprintf(&b, "%s:%d: %s\n", l.Path, l.Line, l.Text)
		}
	case "checklist_items":
		found, err := h.Knowledge.Tasks(ctx, kernel.VaultTaskQuery{Path: in.Path})
		if err != nil {
			return "", err
		}
		for _, t := range found {
			fmt.Fprintf(&b, "%s:%d: [%s] %s\n", t.Path, t.Line, t.Mark, t.Text)
		}
	case "tags":
		found, err := h.Knowledge.Tags(ctx)
		if err != nil {
			return "", err
		}
		for _, t := range found {
			fmt.Fprintf(&b, "#%s %d\n", t.Tag, t.Count)
		}
	}
	if b.Len() == 0 {
		return "Nothing was found.", nil
	}
	return b.String(), nil
}

func noteText(n kernel.Note) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (hash %s)\n", n.Path, n.Hash)
	if n.FrontmatterError.EN != "" {
		fmt.Fprintf(&b, "(Its frontmatter cannot be read: %s)\n", n.FrontmatterError)
	}
	b.WriteString("\n" + n.Text)
	return b.String()
}

func changeText(c kernel.VaultChange) string {
	var b strings.Builder
	switch {
	case c.Changed == 0:
		fmt.Fprintf(&b, "%s is so already. Nothing was changed.", c.Path)
	case c.Hash == "":
		fmt.Fprintf(&b, "%s is deleted.", c.Path)
	default:
		fmt.Fprintf(&b, "Done: %s (hash %s).", c.Path, c.Hash)
	}
	if c.Links > 0 {
		fmt.Fprintf(&b, " %s rewritten.", count(c.Links, "link"))
	}
	for _, n := range c.Notes {
		b.WriteString(" " + n.EN)
	}
	return b.String()
}
