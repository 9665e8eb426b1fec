package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) skillsCall() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "call NAME MODULE ['{…}']", Short: c.t("Call a WebAssembly module of a skill", "스킬의 WebAssembly 모듈을 호출합니다"), Args: c.args(2, 3),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			in := kernel.ModuleArgs{Skill: args[0], Module: args[1]}
			if len(args) == 3 {
				var err error
				if in.Input, err = c.jsonArg(args[2]); err != nil {
					return err
				}
			}
			r, err := l.Skills.Module(ctx, in)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(r)
			}
			c.printf("%s", safe(string(r.Output)))
			return nil
		}),
	})
}

// modules are the files of a skill that only compute.
func modules(files []kernel.SkillFile) (out []string) {
	for _, f := range files {
		if kernel.IsModule(f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}

// jsonArg is an argument that is JSON.
func (c *console) jsonArg(arg string) (json.RawMessage, error) {
	if !json.Valid([]byte(arg)) {
		return nil, usage(c.fail(sys.CodeInvalid, c.t("The arguments are not JSON. Nothing was called.", "인수가 JSON이 아닙니다. 호출하지 않았습니다."), c.t("Write them as '{\"name\": \"value\"}'.", "'{\"이름\": \"값\"}'처럼 쓰세요.")))
	}
	return json.RawMessage(arg), nil
}
