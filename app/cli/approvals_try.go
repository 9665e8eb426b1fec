package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) approvalsTry() *cobra.Command {
	cmd := &cobra.Command{
		Use: "try ID", Short: c.t("Run a request's command on a copy of its folder", "요청한 명령을 폴더의 사본에서 해 봅니다"), Args: c.args(1, 1),
		Long: c.t("Runs the command of a request that waits on a copy of its folder, without a network, and shows what it did there. Nothing is\nchanged and the request goes on waiting: `oxios approvals apply ID` does exactly what was shown, `discard` forgets it.",
			"기다리는 요청의 명령을 네트워크 없이 폴더의 사본에서 실행하고 무엇을 했는지 보여 줍니다. 아무것도 바뀌지 않고 요청은\n계속 기다립니다. `oxios approvals apply ID`는 보여 준 그대로 적용하고, `discard`는 버립니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRequest(cmd, args[0], func(l *link, a kernel.Approval) error {
				v, err := l.Security.Try(cmd.Context(), a.ID, kernel.TryInput{Hash: a.Request.Hash})
				if err != nil {
					return err
				}
				return c.showTry(v)
			})
		},
	}
	return c.withJSON(cmd)
}

func (c *console) approvalsApply() *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply ID", Short: c.t("Do what a request's command did on the copy", "사본에서 한 일을 실제 폴더에 적용합니다"), Args: c.args(1, 1),
		Long: c.t("Does in the folder exactly what `oxios approvals try ID` showed last, and approves the request with it: the command is not run again.\nWhere something was changed since, nothing is applied. `oxios undo RUN` takes it back once the run has ended.",
			"`oxios approvals try ID`가 마지막으로 보여 준 그대로 폴더에 적용하고 요청을 승인합니다. 명령은 다시 실행하지 않습니다.\n그 뒤에 바뀐 것이 있으면 아무것도 적용하지 않습니다. 실행이 끝나면 `oxios undo RUN`으로 되돌릴 수 있습니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRequest(cmd, args[0], func(l *link, a kernel.Approval) error {
				tried, err := l.Security.Tried(cmd.Context(), a.ID)
				if err != nil {
					return err
				}
				if tried.Try == nil {
					return c.fail(sys.CodeNotFound, c.t("This was not tried.", "해 본 적이 없습니다."), c.t("`oxios approvals try ID` does that.", "`oxios approvals try ID`로 해 볼 수 있습니다."))
				}
				if !c.json {
					if err := c.showTry(*tried.Try); err != nil {
						return err
					}
				}
				if a, err = l.Security.ApplyTry(cmd.Context(), a.ID, kernel.ApplyInput{Hash: tried.Try.Hash}); err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(a)
				}
				c.note("%s", c.t("Applied. The run goes on with that result.", "적용했습니다. 실행은 그 결과로 이어집니다."))
				return nil
			})
		},
	}
	return c.withJSON(cmd)
}

func (c *console) approvalsDiscard() *cobra.Command {
	return &cobra.Command{
		Use: "discard ID", Short: c.t("Forget what a request's command did on the copy", "사본에서 한 일을 버립니다"), Args: c.args(1, 1),
		Long: c.t("Ends a try that is at work and forgets what it did. The request waits as before.", "진행 중인 해 보기를 멈추고 그 결과를 버립니다. 요청은 그대로 기다립니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRequest(cmd, args[0], func(l *link, a kernel.Approval) error {
				if err := l.Security.DropTry(cmd.Context(), a.ID); err != nil {
					return err
				}
				c.note("%s", c.t("Discarded. The request waits as before.", "버렸습니다. 요청은 그대로 기다립니다."))
				return nil
			})
		},
	}
}

// withRequest finds the request that name means.
func (c *console) withRequest(cmd *cobra.Command, name string, do func(*link, kernel.Approval) error) error {
	l, err := c.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer l.close()
	a, err := c.findApproval(cmd.Context(), l, name)
	if err != nil {
		return err
	}
	return do(l, a)
}

func (c *console) showTry(v kernel.Try) error {
	if c.json {
		return c.writeJSON(v)
	}
	r := v.Result
	if out := strings.TrimRight(r.Output, "\n"); out != "" {
		c.printf("%s\n", safe(out))
	}
	c.printf(c.t("Exit code %d after %.1f s; %d KB would be written.", "종료 코드 %d, %.1f초; %d KB를 쓰게 됩니다."), r.ExitCode, float64(r.DurationMS)/1000, (v.Bytes+1023)>>10)
	for _, a := range r.Asked {
		c.printf(c.t("It asked for %s; the network was shut.", "%s에 연결하려 했습니다. 네트워크는 닫혀 있었습니다."), safe(a.Host))
	}
	if r.Note != "" {
		c.printf("%s", safe(r.Note))
	}
	if len(v.Files) == 0 {
		c.printf("%s", c.t("It changed no file.", "파일을 바꾸지 않았습니다."))
		return nil
	}
	rows := [][]string{{c.t("PATH", "경로"), c.t("WHAT", "내용"), c.t("LINES", "줄"), c.t("WHY", "이유")}}
	words := map[string]string{
		kernel.TryCreates: c.t("is made", "만듦"), kernel.TryChanges: c.t("is changed", "바꿈"), kernel.TryDeletes: c.t("is deleted", "지움"), kernel.TryMode: c.t("gets other permissions", "권한 바꿈"),
	}
	for _, f := range v.Files {
		lines, name := "", f.Path
		if f.Added+f.Removed > 0 {
			lines = fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		}
		if f.Folder {
			name += "/"
		}
		rows = append(rows, []string{name, words[f.Does], lines, c.either(f.Why, f.WhyKO)})
	}
	if err := table(c.out, rows); err != nil {
		return err
	}
	for _, f := range v.Files {
		if f.Diff != "" {
			c.printf("\n%s\n%s", safe(f.Path), safe(f.Diff))
		}
	}
	return nil
}
