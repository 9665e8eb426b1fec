package skill

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"oxios/kernel/guard"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// maxModuleInput is how many bytes of JSON a module gets.
const maxModuleInput = 1 << 20

// ModuleArgs is a call of a WebAssembly module that a skill brings.
type ModuleArgs struct {
	Skill  string          `json:"skill"`
	Module string          `json:"module"`          // its path in the skill
	Input  json.RawMessage `json:"input,omitempty"` // any JSON, at most 1 MB; left out for {}
}

// ModuleResult is what a module answered.
type ModuleResult struct {
	Output json.RawMessage `json:"output"` // any JSON, at most 1 MB
}

// IsModule reports whether a file is a WebAssembly module, by its name.
func IsModule(file string) bool { return strings.EqualFold(filepath.Ext(file), ".wasm") }

// Module runs a module of a skill: it computes its answer from its input and from the files of the skill. It has no network,
// no variables and no file besides, so that nobody is asked. The skill is ready, and as it was reviewed.
func (a *API) Module(ctx context.Context, in ModuleArgs) (ModuleResult, error) {
	ran := false
	act := guard.Action{
		Call: "skills.module", Resource: "skill:" + sys.Shorten(in.Skill, 100), Meta: map[string]any{"module": sys.Shorten(in.Module, 200)},
		Brought: func(context.Context) (store.Labels, error) {
			if !ran {
				return nil, nil
			}
			return a.s.c.Brings(in.Skill), nil
		},
	}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (ModuleResult, error) {
		input := bytes.TrimSpace(in.Input)
		switch {
		case len(input) == 0:
			input = []byte("{}")
		case len(input) > maxModuleInput:
			return ModuleResult{}, sys.Errorf(sys.CodeTooLarge, "The input has %d bytes; a module gets at most %d. Nothing was run.", len(input), maxModuleInput).
				WithHint("Give it less to do at once.")
		case !json.Valid(input):
			return ModuleResult{}, sys.Errorf(sys.CodeInvalid, "The input is not JSON. Nothing was run.").WithHint("Give an object, like {\"text\": \"…\"}.")
		}
		x, _, _, err := a.s.program(ctx, a.c.Scope().Folder, in.Skill, in.Module)
		if err != nil {
			return ModuleResult{}, err
		}
		if !IsModule(x.Path) {
			return ModuleResult{}, sys.Errorf(sys.CodeInvalid, "%q of the skill %q is no module. Nothing was run.", sys.Shorten(in.Module, 200), x.Skill).
				WithHint("A module is a file that ends in .wasm. Run a script with args, and without input.")
		}
		dir, remove, err := a.s.c.Scratch()
		if err != nil {
			return ModuleResult{}, err
		}
		defer remove()
		copied, err := x.Copy(ctx, dir)
		if err != nil {
			return ModuleResult{}, err
		}
		ran = true
		out, err := a.s.c.Module(ctx, copied, input)
		return ModuleResult{Output: out}, err
	})
}
