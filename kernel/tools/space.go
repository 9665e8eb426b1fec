package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type spaceArgs struct {
	Action string `json:"action"`
	Space  string `json:"space,omitempty" jsonschema:"for get: the space by its name or id; left out is the default one"`
	Text   string `json:"text,omitempty" jsonschema:"for detect: the message that should find its space"`
}

var spaceMaker = maker{
	name: "space", domain: "space", calls: []string{"space.list", "space.get", "space.detect"},
	about: "Shows the spaces, the person's contexts of work, and tells which one a text belongs to.",
	terms: "공간 맥락 프로젝트 작업 공간 분류 어느 공간 space context project workspace topic",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("space", "Looks at spaces: contexts of work that partition conversations, folders and memories. list shows them all, get one of them, detect tells which one a text belongs to and why. "+
			"Only the person makes, changes, moves and merges them.", map[string][]string{"action": {"list", "get", "detect"}},
			func(in spaceArgs) sys.Words {
				switch in.Action {
				case "get":
					return sys.Say("Look at the space %s", in.Space)
				case "detect":
					return sys.Say("Find the space of: %s", in.Text)
				}
				return sys.Say("Look at the spaces")
			},
			func(ctx context.Context, in spaceArgs) (agent.Result, error) {
				switch in.Action {
				case "get":
					v, err := h.Space.Get(ctx, in.Space)
					if err != nil {
						return agent.Result{}, err
					}
					return agent.Result{Text: spaceText(v), Title: sys.Say("Looked at the space %s", in.Space)}, nil
				case "detect":
					d, err := h.Space.Detect(ctx, in.Text, "")
					if err != nil {
						return agent.Result{}, err
					}
					text := "Nothing speaks for a space: it belongs to the default one."
					if d.Space != "" {
						text = fmt.Sprintf("%s %s, by its %s", d.Tag, d.Space, d.Why)
						if d.Named != "" {
							text += " (" + d.Named + ")"
						}
						text += fmt.Sprintf(", sure to %.0f %%.", 100*d.Sure)
					}
					return agent.Result{Text: text, Title: sys.Say("Found the space of: %s", in.Text)}, nil
				}
				all, err := h.Space.List(ctx)
				if err != nil {
					return agent.Result{}, err
				}
				var b strings.Builder
				for _, s := range all {
					fmt.Fprintf(&b, "%s [%s] conversations %d, memories %d", s.ID, strings.TrimSpace(s.Emoji+" "+s.Name), s.Sessions, s.Memories)
					if s.ArchivedAt != nil {
						b.WriteString(", archived")
					}
					if s.Active {
						b.WriteString(", active")
					}
					b.WriteByte('\n')
				}
				if len(all) == 0 {
					b.WriteString("There is only the default space.")
				}
				return agent.Result{Text: strings.TrimSpace(b.String()), Title: sys.Say("Looked at the spaces")}, nil
			})
	},
}

func spaceText(v kernel.SpaceView) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("space", strings.TrimSpace(v.Tag+" "+v.Space.ID))
	if v.Space.ID == "" {
		line("space", "the default one")
	}
	line("folder", v.Folder)
	if v.Gone {
		line("note", "this folder is not there any more")
	}
	line("words", strings.Join(v.Space.Words, ", "))
	line("paths", strings.Join(v.Space.Paths, ", "))
	line("instructions", v.Space.Instructions)
	fmt.Fprintf(&b, "conversations: %d, memories: %d", v.Space.Sessions, v.Space.Memories)
	return b.String()
}
