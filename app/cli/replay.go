package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) replayCommand() *cobra.Command {
	var policy string
	cmd := &cobra.Command{
		Use: "replay ID", Short: c.t("Run what an agent did again from the record, without its model", "에이전트가 한 일을 모델 없이 기록에서 재현합니다"), Args: c.args(1, 1),
		Long: c.t("Nothing is asked, paid or done: the model's answers and the tools' results come from the record. It shows what happened step by step,\nand exits with 1 when the loop does not come to the same.\n\nWith --policy it says instead which calls would have been decided otherwise under the rules of a file like:\n  mode = \"ask\"\n  profile = \"worker\"\n  tools_off = [\"exec\"]\n  isolation = 0",
			"묻거나 돈을 쓰거나 실행하는 일이 없습니다. 모델의 답과 도구의 결과는 기록에서 가져옵니다. 단계별로 일어난 일을 보이고,\n결과가 다르면 코드 1로 끝납니다.\n\n--policy를 주면 파일의 규칙 아래에서 판단이 달라졌을 호출을 보입니다. 파일 예:\n  mode = \"ask\"\n  profile = \"worker\"\n  tools_off = [\"exec\"]\n  isolation = 0"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := c.replayPolicy(policy)
			if err != nil {
				return err
			}
			return c.withProcess(cmd, args[0], func(l *link, run kernel.Process) error {
				r, err := l.Agents.Replay(cmd.Context(), kernel.ReplayQuery{RunID: run.ID, Policy: p})
				if err != nil {
					return err
				}
				return c.showReplay(r, p != nil)
			})
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", c.t("which decisions differ under the rules in this `file`", "이 `파일`의 규칙에서 달라지는 판단"))
	return c.withJSON(cmd)
}

func (c *console) replayPolicy(path string) (*kernel.ReplayPolicy, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := c.readInput(path)
	if err != nil {
		return nil, usage(err)
	}
	p := &kernel.ReplayPolicy{}
	if err := toml.NewDecoder(bytes.NewReader(sys.WithoutMark(raw))).DisallowUnknownFields().Decode(p); err != nil {
		return nil, usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("The policy is not understood: %v.", "규칙 파일을 이해할 수 없습니다: %v."), err),
			c.t("It may have mode, profile, tools_off and isolation.", "mode, profile, tools_off, isolation을 쓸 수 있습니다.")))
	}
	return p, nil
}

func (c *console) showReplay(r kernel.Replay, decisions bool) error {
	if c.json {
		if err := c.writeJSON(r); err != nil {
			return err
		}
		return differs(r, decisions)
	}
	if decisions {
		head := []string{c.t("STEP", "단계"), c.t("TOOL", "도구"), c.t("WHAT", "내용"), c.t("WAS", "이전"), c.t("WOULD BE", "이후"), c.t("WHY", "이유")}
		return list(c, r.Decisions, c.t("Every call would be decided as it was.", "모든 호출의 판단이 그대로입니다."), head, func(d kernel.ReplayDecision) []string {
			return []string{strconv.Itoa(d.Step), d.Tool, short(d.Title, 48), d.Was, d.Now, short(d.Why, 60)}
		})
	}
	rows := [][]string{{c.t("KIND", "종류"), c.t("NAME", "이름"), c.t("STATES", "상태"), c.t("OUTCOME", "결과"), c.t("WHAT", "내용")}}
	for _, e := range r.Events {
		rows = append(rows, []string{e.Kind, e.Name, strings.Join(e.States, " "), e.Outcome, short(cmp.Or(e.Text, e.Output), 60)})
	}
	if err := table(c.out, rows); err != nil {
		return err
	}
	if r.Same {
		c.note("%s", c.t("The loop came to the same.", "같은 결과입니다."))
	} else {
		c.note("%s\n%s", c.t("The loop came to something else (- the record, + the replay):", "다른 결과입니다 (- 기록, + 재현):"), safe(r.Differs))
	}
	return differs(r, decisions)
}

// differs is the exit code of a replay that came to something else.
func differs(r kernel.Replay, decisions bool) error {
	if decisions || r.Same {
		return nil
	}
	return exits(exitFailed)
}
