package kernel

import (
	"cmp"
	"context"
	"runtime"
	"strings"
	"time"

	"oxios/kernel/agent"
	"oxios/kernel/memory"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// PromptView is what a model would be given with a message.
type PromptView struct {
	Prompt   string   `json:"prompt"` // the system prompt, exactly
	Tools    []string `json:"tools"`  // the names of the tools that are offered
	Memories []Memory `json:"memories"`
}

// Prompt returns the exact prompt that a message would get, without sending it:
// nothing is begun, and no memory counts as used.
func (a *AgentsAPI) Prompt(ctx context.Context, m Submit) (PromptView, error) {
	return guard(ctx, a.caller, action{call: "agents.prompt", resource: "prompt"}, func(ctx context.Context) (PromptView, error) {
		k := a.k
		cfg := k.config.get()
		s := Session{Folder: a.scope.folder, Mode: cfg.Mode}
		if m.SessionID != "" {
			var err error
			if s, err = k.store.Session(ctx, m.SessionID); err != nil {
				return PromptView{}, err
			}
		} else if err := k.place(ctx, m, m.Text, &s); err != nil {
			return PromptView{}, err
		}
		folder, err := k.checkFolder(cmp.Or(m.Folder, s.Folder, cfg.workFolder()))
		if err != nil {
			return PromptView{}, err
		}
		mode, err := security.ParseMode(cmp.Or(m.Mode, s.Mode))
		if err != nil {
			return PromptView{}, err
		}
		role, err := k.roleOf(cmp.Or(m.Role, s.Role))
		if err != nil {
			return PromptView{}, err
		}
		rules, err := k.rulesIn(ctx, role, cmp.Or(m.InsteadOf, s.HeadID), titleOf(cmp.Or(strings.TrimSpace(m.Name), m.Text)))
		if err != nil {
			return PromptView{}, err
		}
		most := rules.Most()
		h := handleOf(&caller{
			k: k, who: sys.Principal{Kind: sys.KindAgent, Profile: most.Profile}, rules: rules, role: most, cspace: most.Space(),
			scope: scope{folder: folder, mode: mode, space: s.Space},
		})
		tools, err := k.opts.Tools(ctx, h, m.Text)
		if err != nil {
			return PromptView{}, err
		}
		v := PromptView{Tools: []string{}, Memories: []Memory{}}
		for _, t := range tools.Tools {
			v.Tools = append(v.Tools, t.Name())
		}
		if cfg.Memory {
			if v.Memories, err = k.memories.Recall(ctx, s.Space, m.Text, recalled, recalledText); err != nil {
				return PromptView{}, err
			}
		}
		in := agent.PromptInput{Now: k.clock.Now().In(time.Local), OS: runtime.GOOS, Folder: folder, Mode: string(mode), Toolset: tools, Agents: m.Agents, Memories: recalledOf(v.Memories)}
		if in.Instructions, err = k.told(ctx, folder); err != nil {
			return PromptView{}, err
		}
		belongs, err := k.spaceByID(ctx, s.Space)
		if err != nil {
			return PromptView{}, err
		}
		in.SpaceName, in.SpaceInstructions = belongs.Name, belongs.Instructions
		v.Prompt = agent.Prompt(in)
		return v, nil
	})
}

func recalledOf(all []memory.Memory) (out []agent.Recalled) {
	for _, m := range all {
		out = append(out, agent.Recalled{Kind: m.Kind, Text: m.Text, At: m.SaidAt})
	}
	return out
}
