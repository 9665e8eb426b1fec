package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) auditCommand() *cobra.Command {
	return c.group("audit", "The record of everything that agents did", "에이전트가 한 모든 일의 기록",
		c.auditList(), c.auditVerify(), c.auditExport())
}

func (c *console) auditList() *cobra.Command {
	var action, run string
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: c.t("List the newest records, the last one at the end", "최근 기록을 봅니다 (마지막이 최신)"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return usage(c.fail(sys.CodeInvalid, c.t("--limit must be at least 1.", "--limit은 1 이상이어야 합니다."), ""))
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			q := kernel.AuditQuery{Limit: limit, Newest: true}
			q.Action = actionOf(q.Action, action)
			if run != "" {
				all, err := l.Agents.List(cmd.Context(), kernel.ProcessQuery{All: true, Limit: 500})
				if err != nil {
					return err
				}
				p, err := find(c, c.t("run", "실행"), run, all, func(p kernel.Process) string { return p.ID })
				if err != nil {
					return err
				}
				q.RunID = p.ID
			}
			items, err := l.Security.Audit(cmd.Context(), q)
			if err != nil {
				return err
			}
			slices.Reverse(items)
			head := []string{"SEQ", c.t("TIME", "시각"), c.t("WHO", "주체"), c.t("ACTION", "동작"), c.t("WHAT", "대상")}
			return list(c, items, c.t("There is no such record.", "해당하는 기록이 없습니다."), head, func(e kernel.AuditEntry) []string {
				return []string{strconv.FormatInt(e.Seq, 10), e.Timestamp.Local().Format("2006-01-02 15:04:05"), short(e.Actor, 24), string(e.Action), short(e.Resource, 80)}
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, c.t("at most this `number`", "최대 `개수`"))
	cmd.Flags().StringVar(&run, "run", "", c.t("only of this `run`", "이 `실행`의 기록만"))
	cmd.Flags().StringVar(&action, "action", "", c.t("only this `action`", "이 `동작`만"))
	return c.withJSON(cmd)
}

// actionOf gives s the type of an action, which is not ours to name.
func actionOf[A ~string](_ A, s string) A { return A(s) }

func (c *console) auditVerify() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "verify [FILE]", Short: c.t("Check the chain, or an exported file", "기록 사슬이나 내보낸 파일을 검증합니다"), Args: c.args(0, 1),
		Long: c.t("Checks the whole chain. With a file (or - for standard input) it checks an export, and needs no home.",
			"사슬 전체를 검증합니다. 파일(또는 표준 입력 -)을 주면 내보낸 기록을 검증하며 데이터 폴더가 필요 없습니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.verify(cmd.Context(), args)
			if err != nil {
				return err
			}
			switch {
			case c.json:
				err = c.writeJSON(r)
			case r.OK:
				c.printf(c.t("%d records, intact. Head: %s", "기록 %d개, 이상 없음. 머리: %s"), r.Entries, r.Head)
				if r.Archived > 0 {
					c.note(c.t("Chains that came with backups: %d, intact.", "백업과 함께 온 사슬 %d개, 이상 없음."), r.Archived)
				}
			case r.FirstBad == 0:
				c.note(c.t("%d records are intact, but a chain that came with a backup is not: %s", "기록 %d개는 이상이 없지만, 백업과 함께 온 사슬이 손상되었습니다: %s"), r.Entries, safe(r.Problem))
			default:
				c.note(c.t("The chain is broken at record %d: %s", "%d번째 기록에서 사슬이 끊겼습니다: %s"), r.FirstBad, safe(r.Problem))
			}
			if err != nil || r.OK {
				return err
			}
			return exits(exitFailed)
		},
	})
}

func (c *console) verify(ctx context.Context, args []string) (kernel.AuditReport, error) {
	if len(args) == 0 {
		l, err := c.connect(ctx)
		if err != nil {
			return kernel.AuditReport{}, err
		}
		defer l.close()
		return l.Security.VerifyAudit(ctx)
	}
	var in io.Reader = c.in
	if args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return kernel.AuditReport{}, c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("%s cannot be read: %v.", "%s을(를) 읽을 수 없습니다: %v."), args[0], err), "")
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	return kernel.VerifyAuditExport(in)
}

// auditPage is how many records are fetched at once.
const auditPage = 1000

func (c *console) auditExport() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "export", Short: c.t("Write all records as JSON lines", "모든 기록을 JSON 줄로 내보냅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			if file == "" || file == "-" {
				_, err := c.exportTo(cmd.Context(), l, c.out)
				return err
			}
			f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
			if err != nil {
				return c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("%s cannot be written: %v.", "%s에 쓸 수 없습니다: %v."), file, err), "")
			}
			n, err := c.exportTo(cmd.Context(), l, f)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			c.note(c.t("%d records were written to %s.", "기록 %d개를 %s에 썼습니다."), n, file)
			return nil
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", c.t("write to this `file`", "이 `파일`에 씁니다"))
	return cmd
}

// exportTo writes the chain page by page, and returns how many records it has.
func (c *console) exportTo(ctx context.Context, l *link, w io.Writer) (int, error) {
	out := bufio.NewWriter(w)
	n := 0
	for from := int64(1); ; {
		page, err := l.Security.Audit(ctx, kernel.AuditQuery{From: from, Limit: auditPage})
		if err != nil {
			return n, err
		}
		for _, e := range page {
			if _, err := out.Write(kernel.AuditLine(e)); err != nil {
				return n, err
			}
			from = e.Seq + 1
			n++
		}
		if len(page) < auditPage {
			return n, out.Flush()
		}
	}
}
