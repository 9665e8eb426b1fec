package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// PromptInput names a prompt and the values that it is made with.
type PromptInput struct {
	Server string            `json:"server"`
	Prompt string            `json:"prompt"` // its name on the server, or as it is called
	Args   map[string]string `json:"args,omitempty"`

	Whole bool `json:"-"` // all of a long text; the kernel keeps it
}

// PromptResult is what a prompt gives: words of the server, whoever they are written as.
type PromptResult struct {
	Prompt Prompt `json:"prompt"`
	Text   string `json:"text"`           // all of its messages, each with its role where it is not the person's
	Cut    int    `json:"cut,omitempty"`  // bytes in the middle that were left out
	More   string `json:"more,omitempty"` // the id under which all of it can be read, where some was left out
}

// maxPromptValue is how many bytes the values of a prompt may have together.
const maxPromptValue = 64 << 10

// Prompts lists what a server has ready for kinds of work, or with "" all servers that are on. It starts none.
func (a *API) Prompts(ctx context.Context, server string) ([]Prompt, error) {
	names, err := a.s.among(server)
	act := guard.Action{Call: "mcp.prompts", Resource: "mcp:" + sys.Shorten(server, 100), Brought: a.s.brings(names, "prompts")}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) ([]Prompt, error) {
		if err != nil {
			return nil, err
		}
		a.s.refresh(ctx, server)
		return a.s.prompts(names), nil
	})
}

func (s *Service) prompts(names []string) []Prompt {
	list := []Prompt{}
	for _, n := range names {
		if def, err := s.server(n); err == nil {
			list = append(list, s.has(n, def).Prompts...)
		}
	}
	return list
}

// Prompt has a server make one of its prompts. What comes back was said by a stranger: an agent's run carries that from then
// on.
func (a *API) Prompt(ctx context.Context, in PromptInput) (PromptResult, error) {
	def, err := a.s.server(in.Server)
	var p Prompt
	if err == nil {
		p, err = a.s.prompt(in, def)
	}
	short := sys.Shorten(in.Prompt, 100)
	act := guard.Action{Call: "mcp.prompt", Resource: "mcp:" + in.Server + "/" + short, Meta: map[string]any{"server": in.Server, "prompt": short}}
	if err == nil {
		act = a.weigh(act, in.Server, p.Name, def, in, func(r *security.Request) {
			title := sys.Say("Takes a prompt of the server %s", in.Server)
			r.Title, r.TitleKO, r.Command = title.EN, title.In(true), p.Call
			if raw, err := json.MarshalIndent(in.Args, "", "  "); err == nil && len(in.Args) > 0 {
				r.Command += " " + string(raw)
			}
		})
	}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (PromptResult, error) {
		if err != nil {
			return PromptResult{}, err
		}
		if now, nerr := a.s.server(in.Server); nerr != nil || !now.runsAs(def) || now.Effect != def.Effect {
			return PromptResult{}, changedMeanwhile(in.Server)
		}
		return a.s.makePrompt(ctx, a.c, in, p, def)
	})
}

// prompt finds a prompt and checks the values for it.
func (s *Service) prompt(in PromptInput, def Server) (Prompt, error) {
	if _, err := s.ready(in.Server, def); err != nil {
		return Prompt{}, err
	}
	all := s.has(in.Server, def).Prompts
	i := slices.IndexFunc(all, func(p Prompt) bool {
		return p.Name == in.Prompt || p.Call == in.Prompt || p.Call == in.Server+":"+in.Prompt
	})
	if i < 0 {
		return Prompt{}, sys.Errorf(sys.CodeNotFound, "The server %s has no prompt %q. Nothing was called.", in.Server, sys.Shorten(in.Prompt, 100)).WithHint("`oxios mcp prompts %s` shows them.", in.Server)
	}
	p, size := all[i], 0
	var missing, strange []string
	for _, arg := range p.Args {
		if strings.TrimSpace(in.Args[arg.Name]) == "" && arg.Required {
			missing = append(missing, arg.Name)
		}
	}
	for name, value := range in.Args {
		size += len(name) + len(value)
		if !slices.ContainsFunc(p.Args, func(arg PromptArg) bool { return arg.Name == name }) {
			strange = append(strange, name)
		}
	}
	slices.Sort(strange)
	switch {
	case len(missing) > 0:
		return p, sys.Errorf(sys.CodeInvalid, "The prompt %s needs a value for: %s.", p.Call, strings.Join(missing, ", ")).
			WithHint("Write it behind the name: %s=…", missing[0])
	case len(strange) > 0:
		return p, sys.Errorf(sys.CodeInvalid, "The prompt %s takes no value named %s.", p.Call, sys.Shorten(strings.Join(strange, ", "), 200)).WithHint("`oxios mcp prompts %s` shows which it takes.", in.Server)
	case size > maxPromptValue:
		return p, sys.Errorf(sys.CodeTooLarge, "The values for the prompt %s have more than %d kB.", p.Call, maxPromptValue>>10)
	}
	return p, nil
}

func (s *Service) makePrompt(ctx context.Context, c *guard.Caller, in PromptInput, p Prompt, def Server) (PromptResult, error) {
	params := &sdk.GetPromptParams{Name: p.Name, Arguments: in.Args, Meta: sdk.Meta{}}
	var got *sdk.GetPromptResult
	err := s.request(ctx, c, in.Server, def, "the prompt", params, func(ctx context.Context, session *sdk.ClientSession) (err error) {
		got, err = session.GetPrompt(ctx, params)
		return err
	})
	if err != nil {
		return PromptResult{}, err
	}
	var parts []string
	for _, m := range got.Messages {
		if m == nil || m.Content == nil {
			continue
		}
		text := blockText(m.Content)
		if role := plain(string(m.Role), 20); role != "user" {
			text = role + ": " + text
		}
		parts = append(parts, text)
	}
	text := s.c.Mask(strings.ToValidUTF8(strings.Join(parts, "\n\n"), "�"))
	if strings.TrimSpace(text) == "" {
		return PromptResult{}, sys.Errorf(sys.CodeUnavailable, "The prompt %s gave no text.", p.Call)
	}
	out := PromptResult{Prompt: p, Text: text}
	if !in.Whole {
		out.Text, out.Cut, out.More = cut(text, maxResult, func(all string) string { return s.c.Keep(c, all) })
	}
	return out, nil
}
