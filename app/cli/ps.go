package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) psCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "ps", Short: c.t("List the runs of agents", "에이전트의 실행 목록을 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			items, err := l.Agents.List(cmd.Context(), kernel.ProcessQuery{All: all})
			if err != nil {
				return err
			}
			if l.own != nil && len(items) > 0 && !c.json {
				c.note("%s", c.t("No Oxios is running. Runs that have not ended wait for its next start.", "실행 중인 Oxios가 없습니다. 끝나지 않은 실행은 다음 시작을 기다립니다."))
			}
			head := []string{"PID", "ID", c.t("STATE", "상태"), c.t("NAME", "이름"), c.t("DOING", "하는 일"), c.t("TURNS", "턴"), c.t("COST", "비용"), c.t("AGE", "경과"), c.t("WAITS FOR", "대기")}
			return list(c, items, c.t("No agent is at work.", "일하는 에이전트가 없습니다."), head, func(p kernel.Process) []string {
				return []string{
					strconv.FormatInt(p.PID, 10), tail(p.ID), c.runState(string(p.State)), short(p.Name, 32), p.Tool, strconv.Itoa(p.Turns),
					c.price(p.Cost), span(time.Duration(p.AgeMS) * time.Millisecond), short(p.WaitingFor, 48),
				}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, c.t("also those that have ended", "끝난 실행도 봅니다"))
	return c.withJSON(cmd)
}

func (c *console) killCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kill ID", Short: c.t("Stop a run", "실행을 멈춥니다"), Args: c.args(1, 1),
		Long: c.t("Stops a run: its model stream is closed and its commands are ended. The id is that of `oxios ps`,\nits beginning or end, or the pid.",
			"실행을 멈춥니다. 모델 스트림을 닫고 명령을 끝냅니다. `oxios ps`의 ID나 그 앞뒤 일부, 또는 PID를 쓰세요."),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			items, err := l.Agents.List(cmd.Context(), kernel.ProcessQuery{All: true, Limit: 500})
			if err != nil {
				return err
			}
			id := ""
			for _, p := range items {
				if strconv.FormatInt(p.PID, 10) == args[0] {
					id = p.ID
				}
			}
			if id == "" {
				p, err := find(c, c.t("run", "실행"), args[0], items, func(p kernel.Process) string { return p.ID })
				if err != nil {
					return sys.AsError(err).WithHint("%s", c.t("`oxios ps` lists them.", "`oxios ps`로 목록을 보세요."))
				}
				id = p.ID
			}
			if err := l.Agents.Kill(cmd.Context(), id); err != nil {
				return err
			}
			c.printf(c.t("%s was stopped.", "%s을(를) 멈췄습니다."), tail(id))
			return nil
		},
	}
}

// runState is the state of a run, in words.
func (c *console) runState(s string) string {
	if c.lang == english {
		return s
	}
	words := map[string]string{
		"idle": "대기", "queued": "차례 대기", "running": "실행 중", "waiting": "승인 대기", "paused": "일시 정지",
		"done": "완료", "failed": "실패", "stopped": "멈춤", "interrupted": "중단됨",
	}
	if w, ok := words[s]; ok {
		return w
	}
	return s
}
