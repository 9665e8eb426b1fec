package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) undoCommand() *cobra.Command {
	return c.backCommand("undo", false, c.t("Put back what a run changed", "실행이 바꾼 파일을 되돌립니다"),
		c.t("Files that a run and the agents it forked changed, made or removed become what they were before. With --alone only what that run itself\ndid goes back. A file that is not as they left it is told as a conflict and stays, unless --force names it. `oxios redo` takes it back. The command ends with 1 when something was not put back.",
			"실행과 그 실행이 시작한 에이전트가 바꾸거나 만들거나 지운 파일을 그 전으로 되돌립니다. --alone이면 그 실행이 직접 한 것만 되돌립니다.\n남긴 그대로가 아닌 파일은 충돌로 알리고 두며, --force로 지정해야 되돌립니다. `oxios redo`로 취소할 수 있습니다. 되돌리지 못한 것이 있으면 코드 1로 끝납니다."))
}

func (c *console) redoCommand() *cobra.Command {
	return c.backCommand("redo", true, c.t("Take an undo back", "되돌리기를 취소합니다"),
		c.t("Files become again what they were before `oxios undo`, by the same rules.", "`oxios undo` 전의 내용으로 같은 규칙에 따라 다시 바꿉니다."))
}

func (c *console) backCommand(name string, redo bool, about, long string) *cobra.Command {
	var dry, alone bool
	var paths, force []string
	cmd := &cobra.Command{
		Use: name + " RUN", Short: about, Long: long, Args: c.args(1, 1),
		Example: "  oxios " + name + " 7 --dry-run\n  oxios " + name + " 7 --path notes.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withProcess(cmd, args[0], func(l *link, run kernel.Process) error {
				plan, err := l.Agents.UndoPreview(cmd.Context(), kernel.UndoQuery{RunID: run.ID, Redo: redo, Alone: alone, Paths: paths})
				if err != nil {
					return err
				}
				if !dry {
					do := l.Agents.Undo
					if redo {
						do = l.Agents.Redo
					}
					if plan, err = do(cmd.Context(), kernel.UndoInput{RunID: run.ID, Alone: alone, Paths: paths, Force: force, Hash: plan.Hash}); err != nil {
						return err
					}
				}
				return c.showUndo(plan, dry)
			})
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, c.t("only say what would be done, with the differences", "무엇을 할지 차이와 함께 보이기만 합니다"))
	cmd.Flags().BoolVar(&alone, "alone", false, c.t("only what this run itself did, not the agents that it forked", "이 실행이 시작한 에이전트는 빼고 이 실행이 직접 한 것만"))
	cmd.Flags().StringArrayVar(&paths, "path", nil, c.t("only this `path`; may be repeated", "이 `경로`만; 여러 번 쓸 수 있습니다"))
	cmd.Flags().StringArrayVar(&force, "force", nil, c.t("put this `path` back although it was changed since; what is there is kept first", "그 뒤에 바뀌었어도 이 `경로`를 되돌립니다. 지금 내용은 먼저 보관합니다"))
	return c.withJSON(cmd)
}

func (c *console) showUndo(p kernel.UndoPlan, dry bool) error {
	left, several := false, len(p.Runs) > 1
	rows := [][]string{{c.t("PATH", "경로"), c.t("WHAT", "내용"), c.t("LINES", "줄"), c.t("STATE", "상태"), c.t("WHY", "이유")}}
	if several {
		rows[0] = append(rows[0], c.t("AGENT", "에이전트"))
	}
	for _, f := range p.Files {
		lines := ""
		if f.Added+f.Removed > 0 {
			lines = fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		}
		left = left || f.Status != kernel.UndoDone && !(dry && f.Status == kernel.UndoReady)
		row := []string{f.Path, c.undoDoes(f), lines, c.undoStatus(f.Status), sys.Words{EN: f.Why, KO: f.WhyKO}.In(c.lang == korean)}
		if several {
			row = append(row, undoBy(p, f))
		}
		rows = append(rows, row)
	}
	switch {
	case c.json:
		if err := c.writeJSON(p); err != nil {
			return err
		}
	case len(p.Files) == 0 && p.Redo:
		c.note("%s", c.t("There is nothing to redo.", "다시 적용할 것이 없습니다."))
	case len(p.Files) == 0:
		c.note("%s", c.t("There is nothing to undo.", "되돌릴 것이 없습니다."))
	default:
		if err := table(c.out, rows); err != nil {
			return err
		}
		if dry {
			for _, f := range p.Files {
				if f.Diff != "" {
					c.printf("\n%s\n%s", safe(f.Path), safe(f.Diff))
				}
			}
		}
	}
	if left {
		return exits(exitFailed)
	}
	return nil
}

// undoBy names the agents that changed a file, by their number and name.
func undoBy(p kernel.UndoPlan, f kernel.UndoFile) string {
	var names []string
	for _, r := range p.Runs {
		if slices.Contains(f.By, r.ID) {
			names = append(names, fmt.Sprintf("%d %s", r.PID, sys.Shorten(r.Name, 30)))
		}
	}
	return strings.Join(names, ", ")
}

func (c *console) undoDoes(f kernel.UndoFile) string {
	switch f.Does {
	case kernel.UndoRemoves:
		return c.t("is removed", "지움")
	case kernel.UndoReturns:
		return c.t("comes back", "되살림")
	}
	return c.t("goes back", "되돌림")
}

func (c *console) undoStatus(status string) string {
	switch status {
	case kernel.UndoReady:
		return c.t("would be done", "할 예정")
	case kernel.UndoConflict:
		return c.t("conflict, stays", "충돌, 그대로 둠")
	case kernel.UndoImpossible:
		return c.t("not possible", "불가능")
	case kernel.UndoLeft:
		return c.t("stays", "그대로 둠")
	}
	return c.t("done", "완료")
}
