package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) doctorCommand() *cobra.Command {
	var bundle bool
	var restore string
	cmd := &cobra.Command{
		Use: "doctor", Short: c.t("Check this Oxios, and say what is missing", "이 Oxios를 점검하고 빠진 것을 알려 줍니다"), Args: c.args(0, 1),
		Long: c.t("Checks the home, the database, the record, the containment, the models and the programs that agents use.\nWith --bundle it also writes a file for a report of a problem; secrets in it are masked.",
			"데이터 폴더, 데이터베이스, 기록, 격리, 모델, 에이전트가 쓰는 프로그램을 점검합니다.\n--bundle은 문제를 알릴 때 쓸 파일도 만들며, 비밀은 가려집니다."),
		Example: "  oxios doctor\n  oxios doctor --bundle report.tar.gz",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !bundle {
				return usage(c.fail(sys.CodeInvalid, c.t("A file is only used with --bundle.", "파일은 --bundle과 함께만 쓰입니다."), ""))
			}
			if restore != "" {
				return c.restore(cmd.Context(), restore)
			}
			return c.doctor(cmd.Context(), bundle, strings.Join(args, ""))
		},
	}
	cmd.Flags().BoolVar(&bundle, "bundle", false, c.t("also write a bundle, to FILE if one is named", "점검 묶음 파일도 만듭니다 (파일 이름을 적을 수 있음)"))
	if c.deps.Restore != nil {
		cmd.Flags().StringVar(&restore, "restore", "", c.t("go back to this `copy` of the database; the present one is kept", "이 `사본`으로 데이터베이스를 되돌립니다. 지금 것은 보관됩니다"))
	}
	return c.withJSON(cmd)
}

func (c *console) doctor(ctx context.Context, bundle bool, file string) error {
	r := c.examine(ctx)
	if c.json {
		if err := c.writeJSON(r); err != nil {
			return err
		}
	} else if err := c.showReport(r); err != nil {
		return err
	}
	if bundle {
		if err := c.bundle(r, file); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(r.Checks, func(k kernel.Check) bool { return k.State == kernel.CheckFail }) {
		return exits(exitFailed)
	}
	return nil
}

// examine asks the kernel how it stands, or says why it cannot be asked.
func (c *console) examine(ctx context.Context) kernel.DoctorReport {
	l, err := c.connect(ctx)
	if err == nil {
		defer l.close()
		var r kernel.DoctorReport
		if r, err = l.Infra.Doctor(ctx); err == nil {
			return r
		}
	}
	detail, hint := sys.AsError(err).Words()
	r := kernel.DoctorReport{Version: c.deps.Version, System: runtime.GOOS + "/" + runtime.GOARCH, Checks: []kernel.Check{
		{Name: "home", State: kernel.CheckOK, Detail: sys.Words{EN: c.home}},
		{Name: "kernel", State: kernel.CheckFail, Detail: detail, Hint: hint},
	}}
	if copies := c.copies(); len(copies) > 0 {
		r.Checks = append(r.Checks, kernel.Check{
			Name: "copies", State: kernel.CheckOK, Detail: sys.Words{EN: strings.Join(copies, ", ")},
			Hint: sys.Words{EN: "`oxios doctor --restore FILE` goes back to one; the present database is kept.", KO: "`oxios doctor --restore 파일`로 되돌릴 수 있고, 지금 데이터베이스는 보관됩니다."},
		})
	}
	return r
}

// copies are the copies of the database that lie beside it, if one can go back
// to them.
func (c *console) copies() []string {
	if c.deps.Restore == nil {
		return nil
	}
	list, err := filepath.Glob(filepath.Join(globSafe(c.home), "oxios.db.v*.bak"))
	if err != nil {
		return nil
	}
	return list
}

// globSafe is a path whose characters mean themselves in a pattern.
func globSafe(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

func (c *console) showReport(r kernel.DoctorReport) error {
	c.printf("oxios %s · %s", r.Version, r.System)
	marks := map[string]string{kernel.CheckOK: "✓", kernel.CheckWarn: "!", kernel.CheckFail: "✗"}
	var rows [][]string
	for _, k := range r.Checks {
		rows = append(rows, []string{marks[k.State], k.Name, k.Detail.In(c.lang == korean)})
		if hint := k.Hint.In(c.lang == korean); hint != "" {
			rows = append(rows, []string{"", "", "→ " + hint})
		}
	}
	return table(c.out, rows)
}

func (c *console) restore(ctx context.Context, backup string) error {
	path, err := filepath.Abs(backup)
	if err != nil {
		return err
	}
	replaced, err := c.deps.Restore(ctx, c.home, path)
	if err != nil {
		return err
	}
	c.printf(c.t("The database is that of %s again.", "데이터베이스를 %s로 되돌렸습니다."), backup)
	if replaced != "" {
		c.note("%s", fmt.Sprintf(c.t("The one that was there is kept as %s.", "있던 것은 %s(으)로 보관했습니다."), replaced))
	}
	return nil
}
