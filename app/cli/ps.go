package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) psCommand() *cobra.Command {
	var all, tree bool
	cmd := &cobra.Command{
		Use: "ps", Short: c.t("List the agents that are at work", "일하는 에이전트 목록을 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			// As many as the window shows without asking for more; `oxios runs list` has all.
			items, err := l.Agents.List(cmd.Context(), kernel.ProcessQuery{All: all, Limit: mostAtOnce})
			if err != nil {
				return err
			}
			if l.own != nil && len(items) > 0 && !c.json {
				c.note("%s", c.t("No Oxios is running. Runs that have not ended go on at its next start.", "실행 중인 Oxios가 없습니다. 끝나지 않은 실행은 다음에 시작할 때 이어집니다."))
			}
			deep := map[string]int{}
			if tree {
				items, deep = asTree(items)
			}
			head := []string{"PID", "ID", c.t("STATE", "상태"), c.t("NAME", "이름"), c.t("DOING", "하는 일"), c.t("TURNS", "턴"), c.t("TOKENS", "토큰"), c.t("COST", "비용"), c.t("AGE", "경과"), c.t("WAITS FOR", "대기")}
			return list(c, items, c.t("No agent is at work.", "일하는 에이전트가 없습니다."), head, func(p kernel.Process) []string {
				return []string{
					strconv.FormatInt(p.PID, 10), tail(p.ID), c.runEnd(string(p.State), p.NotMet), strings.Repeat("  ", deep[p.ID]) + short(p.Name, 32),
					short(sys.Words{EN: p.Doing, KO: p.DoingKO}.In(c.lang == korean), 40), strconv.Itoa(p.Turns), strconv.Itoa(p.Cost.Input + p.Cost.Output),
					c.price(p.Cost), span(time.Duration(p.AgeMS) * time.Millisecond), short(sys.Words{EN: p.WaitingFor, KO: p.WaitingKO}.In(c.lang == korean), 48),
				}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, c.t("also those that have ended", "끝난 것도 봅니다"))
	cmd.Flags().BoolVar(&tree, "tree", false, c.t("each agent below the one that forked it", "각 에이전트를 만든 에이전트 아래에 보입니다"))
	return c.withJSON(cmd)
}

// asTree puts each process below its parent, and says how deep it stands. One
// whose parent is not in the list stands at the top.
func asTree(items []kernel.Process) (ordered []kernel.Process, deep map[string]int) {
	deep = map[string]int{}
	below := map[string][]kernel.Process{}
	known := map[string]bool{}
	for _, p := range items {
		known[p.ID] = true
	}
	for _, p := range items {
		parent := p.ParentID
		if !known[parent] {
			parent = ""
		}
		below[parent] = append(below[parent], p)
	}
	var add func(parent string, depth int)
	add = func(parent string, depth int) {
		list := below[parent]
		slices.SortFunc(list, func(a, b kernel.Process) int { return int(a.PID - b.PID) })
		for _, p := range list {
			deep[p.ID] = depth
			ordered = append(ordered, p)
			add(p.ID, depth+1)
		}
	}
	add("", 0)
	return ordered, deep
}

// process finds a run by its pid, its id, or a part of it.
func (c *console) process(cmd *cobra.Command, l *link, name string) (kernel.Process, error) {
	items, err := everyRun(cmd.Context(), l, kernel.ProcessQuery{All: true})
	if err != nil {
		return kernel.Process{}, err
	}
	for _, p := range items {
		if strconv.FormatInt(p.PID, 10) == name {
			return p, nil
		}
	}
	return find(c, c.t("run", "실행"), "oxios ps --all", name, items, func(p kernel.Process) string { return p.ID })
}

// withProcess does something with the run that the first argument names.
func (c *console) withProcess(cmd *cobra.Command, name string, do func(*link, kernel.Process) error) error {
	l, err := c.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer l.close()
	p, err := c.process(cmd, l, name)
	if err != nil {
		return err
	}
	return do(l, p)
}

func (c *console) killCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kill ID", Short: c.t("Stop an agent and all that it has forked", "에이전트와 그것이 만든 에이전트를 모두 멈춥니다"), Args: c.args(1, 1),
		Long: c.t("Stops an agent and all that it has forked: their model streams are closed and their commands are ended.\nThe id is that of `oxios ps`, its beginning or end, or the pid.",
			"에이전트와 그것이 만든 에이전트를 모두 멈춥니다. 모델 스트림을 닫고 명령을 끝냅니다.\n`oxios ps`의 ID나 그 앞뒤 일부, 또는 PID를 쓰세요."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withProcess(cmd, args[0], func(l *link, p kernel.Process) error {
				killed, err := l.Agents.Kill(cmd.Context(), p.ID)
				if err != nil {
					return err
				}
				if killed.Runs > 1 {
					c.printf(c.t("%s was stopped, with %d below it.", "%s과(와) 그 아래 %d개를 멈췄습니다."), tail(p.ID), killed.Runs-1)
					return nil
				}
				c.printf(c.t("%s was stopped.", "%s을(를) 멈췄습니다."), tail(p.ID))
				return nil
			})
		},
	}
}

func (c *console) pauseCommand() *cobra.Command {
	return c.holdCommand("pause", true,
		c.t("Let an agent, or all of them, begin no new step", "에이전트 하나 또는 전부가 새 단계를 시작하지 않게 합니다"),
		c.t("%s is paused; `oxios resume` lets it go on.", "%s을(를) 일시 정지했습니다. `oxios resume`으로 이어집니다."),
		c.t("All agents are paused; `oxios resume` lets them go on.", "모든 에이전트를 일시 정지했습니다. `oxios resume`으로 이어집니다."))
}

func (c *console) resumeCommand() *cobra.Command {
	return c.holdCommand("resume", false,
		c.t("Let what was paused go on", "일시 정지한 것을 이어 갑니다"),
		c.t("%s goes on.", "%s을(를) 이어 갑니다."),
		c.t("Agents go on.", "에이전트가 이어서 일합니다."))
}

func (c *console) holdCommand(word string, on bool, short, one, all string) *cobra.Command {
	return &cobra.Command{
		Use: word + " [ID]", Short: short, Args: c.args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return c.withProcess(cmd, args[0], func(l *link, p kernel.Process) error {
					if err := l.Agents.PauseRun(cmd.Context(), p.ID, on); err != nil {
						return err
					}
					c.printf(one, tail(p.ID))
					return nil
				})
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			if _, err := l.Agents.Pause(cmd.Context(), on); err != nil {
				return err
			}
			c.printf("%s", all)
			return nil
		},
	}
}

func (c *console) messageCommand() *cobra.Command {
	return &cobra.Command{
		Use: "message ID TEXT", Short: c.t("Say something to an agent that is at work", "일하는 에이전트에게 말합니다"), Args: c.args(2, -1),
		Long: c.t("The agent reads it before its next step.", "에이전트는 다음 단계 전에 이것을 읽습니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withProcess(cmd, args[0], func(l *link, p kernel.Process) error {
				if _, err := l.Agents.Message(cmd.Context(), p.ID, strings.Join(args[1:], " ")); err != nil {
					return err
				}
				c.printf(c.t("%s reads it before its next step.", "%s이(가) 다음 단계 전에 읽습니다."), tail(p.ID))
				return nil
			})
		},
	}
}

func (c *console) waitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "wait ID", Short: c.t("Wait until an agent has ended, and show its answer", "에이전트가 끝날 때까지 기다려 답을 봅니다"), Args: c.args(1, 1),
		Long: c.t("Exit codes: 0 done, 1 failed, stopped or its task did not pass, 3 it waits for an approval and nobody works on it.", "종료 코드: 0 완료, 1 실패, 중지 또는 과제 기준 미충족, 3 승인을 기다리지만 진행 중이 아님."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withProcess(cmd, args[0], func(l *link, p kernel.Process) error {
				if s, err := l.Infra.Status(cmd.Context()); err == nil {
					if h, ok := heldRun(s.Held, p.ID); ok {
						c.noteHeld(h)
					}
				}
				r, err := l.Agents.Wait(cmd.Context(), p.ID)
				if err != nil {
					return err
				}
				if c.json {
					err = c.writeJSON(r)
				} else {
					c.showResult(r)
				}
				switch {
				case err != nil:
					return err
				case !r.State.Ended():
					return exits(exitWaiting)
				case r.State != "done" || missed(r):
					return exits(exitFailed)
				}
				return nil
			})
		},
	}
	return c.withJSON(cmd)
}

// showResult prints what came of a run: its answer, and why it ended otherwise.
func (c *console) showResult(r kernel.RunResult) {
	if r.Response != "" {
		c.printf("%s", safe(strings.TrimRight(r.Response, "\n")))
	}
	if r.Error != nil {
		c.explain(r.Error)
	} else if r.State != "done" {
		c.note("%s", c.runState(string(r.State)))
	} else if missed(r) {
		c.noteMissed(r)
	}
}

// missed reports whether a run is done, and its task did not pass.
func missed(r kernel.RunResult) bool {
	return r.State == "done" && r.EvaluationPassed != nil && !*r.EvaluationPassed
}

// noteMissed says which criteria of a task were not met.
func (c *console) noteMissed(r kernel.RunResult) {
	c.note(c.t("Not met. `oxios seeds show %s` shows the plan and its criteria.", "기준 미충족. `oxios seeds show %s`로 계획과 기준을 확인하세요."), tail(string(r.SeedID)))
	for _, m := range r.CriteriaMissed {
		c.note("  ✗ %s", oneLine(m))
	}
}

// runEnd is runState of a run whose task may not have been met.
func (c *console) runEnd(state string, notMet bool) string {
	if notMet {
		return c.t("not met", "기준 미충족")
	}
	return c.runState(state)
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
