package cli

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) backupCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "backup [FILE]", Short: c.t("Save everything in the home to one file", "데이터 폴더의 모든 것을 파일 하나로 저장합니다"), Args: c.args(0, 1),
		Long: c.t("Saves conversations, settings, the audit record and files to one .tar.gz, beside running agents,\nand reads it back before it gets its name. Keys are never in it. Without FILE it makes up a name here.",
			"대화, 설정, 감사 기록, 파일을 .tar.gz 하나로 저장합니다. 에이전트가 실행 중이어도 되며,\n다시 읽어 확인한 뒤에 이름을 붙입니다. 키는 담지 않습니다. 파일을 적지 않으면 이 폴더에 이름을 지어 만듭니다."),
		Example: "  oxios backup\n  oxios backup /media/stick/oxios.tar.gz",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.absolute(strings.Join(args, ""))
			if err != nil {
				return err
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			r, err := l.Infra.Backup(cmd.Context(), path)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(r)
			}
			c.printf(c.t("%s (%s)", "%s (%s)"), safe(r.Path), sizeText(r.Bytes))
			c.note(c.t("Conversations %d, messages %d, files %d, audit records %d. Read back and whole.",
				"대화 %d개, 메시지 %d개, 파일 %d개, 감사 기록 %d개. 다시 읽어 이상이 없음을 확인했습니다."), r.Sessions, r.Messages, r.Files, r.Audit.Entries)
			if !r.Audit.OK {
				c.note(c.t("The audit record in this home is damaged, and was saved as it is: %s", "이 데이터 폴더의 감사 기록이 손상되어 있으며, 있는 그대로 저장했습니다: %s"), safe(r.Audit.Problem))
			}
			c.withoutKeys(c.t("Keys are not in it. After a restore you enter again: %s", "키는 담지 않았습니다. 복원한 뒤 다시 입력할 것: %s"), r.Keys, r.Emptied)
			if len(r.Skipped) > 0 {
				c.note(c.t("Links were not followed, so not in it: %s", "링크는 따라가지 않아 담지 않았습니다: %s"), safe(strings.Join(r.Skipped, ", ")))
			}
			return nil
		},
	})
}

func (c *console) restoreCommand() *cobra.Command {
	var in kernel.RestoreInput
	cmd := &cobra.Command{
		Use: "restore FILE", Short: c.t("Add what a backup has and this home lacks", "백업에 있고 여기에 없는 것을 더합니다"), Args: c.args(1, 1),
		Long: c.t("Checks the whole backup, then adds what is missing here. What is here stays as it is: nothing is ever overwritten,\nand restoring twice adds nothing. Settings that change what agents may do, providers that would be given a key\nof this machine, and files that start programs are listed, and taken over only when you say so (--take NAME). To look at a backup apart, restore it into another home:\n  OXIOS_HOME=/tmp/other oxios restore FILE",
			"백업 전체를 확인한 다음 여기에 없는 것만 더합니다. 여기에 있는 것은 그대로 둡니다. 아무것도 덮어쓰지 않으며\n두 번 복원해도 더해지는 것이 없습니다. 에이전트의 권한을 바꾸는 설정, 이 컴퓨터의 키를 받게 될 제공자,\n프로그램을 시작하는 파일은 목록으로 보여 주고, 허락할 때만 가져옵니다(--take 이름). 백업을 따로 보려면 다른 데이터 폴더에 복원하세요:\n  OXIOS_HOME=/tmp/other oxios restore 파일"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if in.Path, err = c.absolute(args[0]); err != nil {
				return err
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			if c.terminal(c.in) && c.terminal(c.err) && !c.json && !in.Try && len(in.Take) == 0 {
				if in.Take, err = c.askTaken(cmd.Context(), l, in.Path); err != nil {
					return err
				}
			}
			r, err := l.Infra.Restore(cmd.Context(), in)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(r)
			}
			return c.restored(r)
		},
	}
	cmd.Flags().BoolVar(&in.Try, "check", false, c.t("only check it, and say what would be added", "확인만 하고, 무엇이 더해질지 알려 줍니다"))
	cmd.Flags().StringArrayVar(&in.Take, "take", nil, c.t("also take over this `name` of what is listed as not taken over, or all", "가져오지 않은 것 중 이 `이름`도 가져옵니다 (all은 전부)"))
	return c.withJSON(cmd)
}

// restored says what a restore did.
func (c *console) restored(r kernel.RestoreReport) error {
	if r.Tried {
		c.printf(c.t("%s is whole. Made %s by Oxios %s. Nothing was changed.", "%s: 이상 없음. %s, Oxios %s에서 만듦. 아무것도 바꾸지 않았습니다."),
			safe(r.Backup.Path), moment(r.Backup.MadeAt), safe(r.Backup.Version))
	} else {
		c.printf(c.t("%s, made %s by Oxios %s, was checked and restored.", "%s(%s, Oxios %s에서 만듦)을(를) 확인하고 복원했습니다."),
			safe(r.Backup.Path), moment(r.Backup.MadeAt), safe(r.Backup.Version))
	}
	rows := [][]string{{"", c.t("ADDED", "더함"), c.t("HERE ALREADY", "이미 있음"), c.t("DIFFERENT, KEPT", "다름, 그대로 둠")}}
	for _, k := range []struct {
		name string
		m    kernel.Merged
	}{
		{c.t("conversations", "대화"), r.Sessions},
		{c.t("files", "파일"), r.Files},
		{c.t("settings", "설정"), r.Settings},
		{c.t("costs", "비용"), r.Costs},
	} {
		rows = append(rows, []string{k.name, strconv.Itoa(k.m.Added), strconv.Itoa(k.m.Present), strconv.Itoa(k.m.Kept)})
	}
	if err := table(c.out, rows); err != nil {
		return err
	}
	if len(r.Differ) > 0 {
		c.note(c.t("Different in the backup; what is here stayed: %s", "백업과 다르지만 여기 것을 그대로 두었습니다: %s"), oneLine(strings.Join(r.Differ, ", ")))
	}
	c.tellAsked(r)
	if r.Archive != "" && !r.Tried {
		c.note(c.t("The audit record of the backup (%d records) is kept apart as %s, and this home's record vouches for it.",
			"백업의 감사 기록(%d개)은 %s에 따로 두었고, 이 데이터 폴더의 감사 기록이 그것을 보증합니다."), r.Backup.Audit.Entries, safe(r.Archive))
	}
	c.withoutKeys(c.t("Keys are never in a backup. Enter again: %s", "백업에는 키가 없습니다. 다시 입력할 것: %s"), r.Keys, r.Backup.Emptied)
	return nil
}

// asked is a piece that a restore asks about, in a line.
func (c *console) asked(a kernel.RestoreAsked) string {
	kind := map[string]string{
		kernel.AskedSetting: c.t("setting", "설정"), kernel.AskedProvider: c.t("provider", "제공자"), kernel.AskedFile: c.t("file", "파일"),
	}[a.Kind]
	return fmt.Sprintf("%s %s: %s", kind, oneLine(a.Name), oneLine(a.Value))
}

// tellAsked lists what was taken over besides data, and what was not.
func (c *console) tellAsked(r kernel.RestoreReport) {
	said := false
	for _, a := range r.Asked {
		if a.Taken {
			c.note(c.t("Taken over: %s", "가져옴: %s"), c.asked(a))
			continue
		}
		c.note(c.t("Not taken over: %s  (--take %s)", "가져오지 않음: %s  (--take %s)"), c.asked(a), oneLine(strconv.Quote(a.ID)))
		said = true
	}
	if said {
		c.note("%s", c.t("What was not taken over can change what agents may do, or start programs. Take over only what you know.", "가져오지 않은 것은 에이전트의 권한을 바꾸거나 프로그램을 시작할 수 있습니다. 아는 것만 가져오세요."))
	}
}

// askTaken asks about each piece that does more than hold data.
func (c *console) askTaken(ctx context.Context, l *link, path string) (take []string, err error) {
	tried, err := l.Infra.Restore(ctx, kernel.RestoreInput{Path: path, Try: true})
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(c.in)
	for _, a := range tried.Asked {
		fmt.Fprintf(c.err, c.t("Take over %s? [y/N] ", "%s — 가져올까요? [y/N] "), c.asked(a))
		line, _ := in.ReadString('\n') // an end without a line is no
		if yes(line) {
			take = append(take, a.ID)
		}
	}
	return take, nil
}

// withoutKeys says what a person must enter again.
func (c *console) withoutKeys(format string, keys []kernel.BackupKey, emptied []string) {
	var list []string
	for _, k := range keys {
		list = append(list, fmt.Sprintf("%s (%s)", k.Name, k.Host))
	}
	for _, where := range emptied {
		list = append(list, fmt.Sprintf(c.t("secrets in %s", "%s 속의 비밀"), where))
	}
	if len(list) > 0 {
		c.note(format, oneLine(strings.Join(list, ", ")))
	}
}

// absolute is a path as the kernel takes it, which may run in another folder.
func (c *console) absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	dir, err := c.getwd()
	return filepath.Join(dir, path), err
}

func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// sizeText is a size as people write it.
func sizeText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
