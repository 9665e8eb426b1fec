package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) auditCommand() *cobra.Command {
	return c.group("audit", "The record of everything that agents did", "에이전트가 한 모든 일의 기록",
		c.auditList(), c.auditVerify(), c.auditExport(), c.auditPrune(), c.auditRenew())
}

func (c *console) auditList() *cobra.Command {
	var run, since, until string
	var q kernel.AuditQuery
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
			q.Limit, q.Newest = limit, true
			for text, at := range map[*string]*time.Time{&since: &q.Since, &until: &q.Until} {
				if *text == "" {
					continue
				}
				if *at, err = c.moment(*text); err != nil {
					return err
				}
			}
			if run != "" {
				all, err := l.Agents.List(cmd.Context(), kernel.ProcessQuery{All: true, Limit: 500})
				if err != nil {
					return err
				}
				p, err := find(c, c.t("run", "실행"), "oxios runs list", run, all, func(p kernel.Process) string { return p.ID })
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
	cmd.Flags().StringVar((*string)(&q.Action), "action", "", c.t("only this `action`", "이 `동작`만"))
	cmd.Flags().StringVar(&q.Actor, "actor", "", c.t("only of whom has this `text` in the name, as person: or agent:", "이름에 이 `글`이 든 주체만 (person:, agent: 등)"))
	cmd.Flags().StringVar(&q.Resource, "resource", "", c.t("only what was done to something with this `text` in its name", "이름에 이 `글`이 든 대상만"))
	cmd.Flags().StringVar(&q.Text, "find", "", c.t("only with this `text` in any field", "어느 칸에든 이 `글`이 든 기록만"))
	cmd.Flags().StringVar(&since, "since", "", c.t("only from this `time` on, like 30d, 12h or 2026-11-01", "이 `시각`부터 (30d, 12h, 2026-11-01 등)"))
	cmd.Flags().StringVar(&until, "until", "", c.t("only before this `time`", "이 `시각` 전까지"))
	cmd.Flags().BoolVar(&q.Denied, "denied", false, c.t("only what was refused", "거절된 것만"))
	return c.withJSON(cmd)
}

func (c *console) auditVerify() *cobra.Command {
	var witness, key string
	cmd := &cobra.Command{
		Use: "verify [FILE]", Short: c.t("Check the chain, or an exported file", "기록 사슬이나 내보낸 파일을 검증합니다"), Args: c.args(0, 1),
		Long: c.t("Checks the whole chain, its signed checkpoints and the witness. With a file (or - for standard input) it checks an export, on any machine: it needs no home. --witness compares it with a witness file that was kept elsewhere, --key with the key that must have signed.",
			"사슬 전체와 서명된 확인점, 증인 파일을 검증합니다. 파일(또는 표준 입력 -)을 주면 내보낸 기록을 어느 컴퓨터에서나 검증하며 데이터 폴더가 필요 없습니다. --witness는 따로 보관한 증인 파일과, --key는 서명했어야 할 열쇠와 대조합니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && (witness != "" || key != "") {
				return usage(c.fail(sys.CodeInvalid, c.t("--witness and --key are for an exported file.", "--witness와 --key는 내보낸 파일에 씁니다."), ""))
			}
			r, err := c.verify(cmd.Context(), args, witness, key)
			if err != nil {
				return err
			}
			return c.verdict(r, len(args) == 0)
		},
	}
	cmd.Flags().StringVar(&witness, "witness", "", c.t("compare with this witness `file`", "이 증인 `파일`과 대조합니다"))
	cmd.Flags().StringVar(&key, "key", "", c.t("the public `key` that must have signed, in hex", "서명했어야 할 공개 `열쇠` (16진수)"))
	return c.withJSON(cmd)
}

// verdict tells what a verification found, of the record of this home or of a file.
func (c *console) verdict(r kernel.AuditReport, own bool) error {
	problem := c.either(r.Problem, r.ProblemKO)
	switch {
	case c.json:
		if err := c.writeJSON(r); err != nil {
			return err
		}
	case r.OK:
		if len(r.Found) > 0 || len(r.Renewals) > 0 {
			c.printf(c.t("%d records. %s. Head: %s", "기록 %d개. %s. 머리: %s"), r.Entries, c.either(r.Verdict, r.VerdictKO), r.Head)
		} else {
			c.printf(c.t("%d records, intact. Head: %s", "기록 %d개, 이상 없음. 머리: %s"), r.Entries, r.Head)
		}
		c.vouched(r)
	case r.FirstBad == 0:
		c.note("%s: %s", c.either(r.Verdict, r.VerdictKO), safe(problem))
		c.note(c.t("The %d records follow one another without a gap, but that alone does not show that nobody changed them.", "기록 %d개는 빠짐없이 이어지지만, 그것만으로는 아무도 바꾸지 않았다고 할 수 없습니다."), r.Entries)
		c.vouched(r)
		if r.Lacks != "" {
			c.note("%s", c.t("Find out who changed it. `oxios audit renew` begins the evidence anew and keeps what is there.", "누가 바꿨는지 알아보세요. `oxios audit renew`는 지금 있는 것을 남겨 두고 증거를 새로 시작합니다."))
		}
	default:
		c.note(c.t("The chain is broken at record %d: %s", "%d번째 기록에서 사슬이 끊겼습니다: %s"), r.FirstBad, safe(problem))
		if own {
			c.note("%s", c.t("Export the chain with `oxios audit export` before you do anything else. If you deleted this home and began a new one, `oxios audit renew` begins its evidence anew.", "다른 일을 하기 전에 `oxios audit export`로 사슬을 내보내세요. 데이터 폴더를 지우고 새로 시작한 것이라면 `oxios audit renew`로 증거를 새로 시작하세요."))
		}
	}
	if r.OK {
		return nil
	}
	return exits(exitFailed)
}

// vouched says what vouches for a chain, and for which records nothing does.
func (c *console) vouched(r kernel.AuditReport) {
	if r.Pruned > 0 {
		c.note(c.t("Up to record %d a signed root stands for what was pruned.", "%d번 기록까지는 서명된 뿌리가 정리된 기록을 대신합니다."), r.Pruned)
	}
	if r.Signed > 0 {
		c.note(c.t("Signed up to record %d with key %s.", "%d번 기록까지 서명됨. 열쇠: %s"), r.Signed, r.Key)
	} else {
		c.note(c.t("Nothing of it is signed.", "서명된 기록이 없습니다."))
	}
	if s := r.Unsigned; s != nil {
		c.note(c.t("Records %d–%d are not signed yet.", "%d–%d번 기록은 아직 서명되지 않았습니다."), s.From, s.To)
	}
	for _, s := range r.Found {
		c.note(c.t("Records %d–%d were found, not written here: a start found them unsigned, as after a crash, or when somebody else wrote them.",
			"%d–%d번 기록은 여기서 쓴 것이 아니라 발견된 것입니다. 시작할 때 서명되지 않은 채 있었습니다. 갑자기 꺼졌거나 다른 누군가가 쓴 것입니다."), s.From, s.To)
	}
	for _, n := range r.Renewals {
		c.note(c.t("The evidence was begun anew after record %d, at %s: %s", "%d번 기록 뒤, %s에 증거를 새로 시작했습니다: %s"), n.After, moment(n.At), cmp.Or(safe(n.Problem), c.t("nothing was wrong", "이상이 없었습니다")))
	}
	if r.Witnessed > 0 {
		c.note(c.t("Witnessed up to record %d.", "%d번 기록까지 증인이 있습니다."), r.Witnessed)
	}
	if r.OK && r.Archived > 0 {
		c.note(c.t("Chains that are kept apart: %d, intact.", "따로 보관한 사슬 %d개, 이상 없음."), r.Archived)
	}
}

func (c *console) auditRenew() *cobra.Command {
	cmd := &cobra.Command{
		Use: "renew", Short: c.t("Begin the evidence of the record anew", "감사 기록의 증거를 새로 시작합니다"), Args: c.args(0, 0),
		Long: c.t("Puts the signed checkpoints and the witness aside, each beside its place, and begins new ones. Use it after you found out why `oxios audit verify` misses one of them, as after moving the home to another computer. The record says that you did it and what was wrong, and so does every verification from then on.",
			"서명된 확인점과 증인 파일을 제자리 옆에 치워 두고 새로 시작합니다. 데이터 폴더를 다른 컴퓨터로 옮긴 뒤처럼, `oxios audit verify`가 그중 하나가 없다고 하는 까닭을 알아낸 다음에 쓰세요. 누가 했고 무엇이 잘못되어 있었는지 기록에 남고, 그 뒤의 모든 검증이 알려 줍니다."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			before, err := l.Security.RenewAudit(cmd.Context())
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(before)
			}
			c.note(c.t("The evidence begins anew. Before: %s", "증거를 새로 시작합니다. 이전 상태: %s"), cmp.Or(safe(c.either(before.Problem, before.ProblemKO)), c.either(before.Verdict, before.VerdictKO)))
			return nil
		},
	}
	return c.withJSON(cmd)
}

func (c *console) verify(ctx context.Context, args []string, witness, key string) (kernel.AuditReport, error) {
	if len(args) == 0 {
		l, err := c.connect(ctx)
		if err != nil {
			return kernel.AuditReport{}, err
		}
		defer l.close()
		return l.Security.VerifyAudit(ctx)
	}
	proof := kernel.AuditProof{Key: strings.ToLower(strings.TrimSpace(key))}
	if witness != "" {
		f, err := c.reading(witness)
		if err != nil {
			return kernel.AuditReport{}, err
		}
		defer f.Close() //nolint:errcheck // it was only read
		if proof.Witness, err = kernel.ReadWitness(f); err != nil {
			return kernel.AuditReport{}, err
		}
	}
	if args[0] == "-" {
		return kernel.VerifyAuditExport(c.in, proof)
	}
	f, err := c.reading(args[0])
	if err != nil {
		return kernel.AuditReport{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return kernel.VerifyAuditExport(f, proof)
}

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

// exportTo writes the chain part by part, and returns how many records it has.
func (c *console) exportTo(ctx context.Context, l *link, w io.Writer) (int, error) {
	n := 0
	for after := int64(0); ; {
		part, err := l.Security.ExportAudit(ctx, after)
		if err != nil {
			return n, err
		}
		if _, err := io.WriteString(w, part.Text); err != nil {
			return n, err
		}
		n += part.Entries
		if after = part.Next; part.Done {
			return n, nil
		}
	}
}
