package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) storageCommand() *cobra.Command {
	var part string
	var yes bool
	cmd := &cobra.Command{
		Use: "storage", Short: c.t("Show how large the home is, and clean a part of it", "데이터 폴더의 크기를 보고 일부를 정리합니다"), Args: c.args(0, 0),
		Example: "  oxios storage\n  oxios storage --clean logs\n  oxios storage free undo --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			if part != "" {
				return c.clean(cmd.Context(), l, part, yes)
			}
			s, err := l.Infra.Storage(cmd.Context())
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(s)
			}
			return c.showStorage(s)
		},
	}
	cmd.Flags().StringVar(&part, "clean", "", c.t("empty this `part`: copies, logs or cache", "이 `부분`을 비웁니다: copies, logs, cache"))
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	cmd.AddCommand(c.storageFree())
	return c.withJSON(cmd)
}

func (c *console) showStorage(s kernel.Storage) error {
	c.printf(c.t("%s: %s, and %s are free on its disk", "%s: %s, 디스크 여유 공간 %s"), safe(s.Home), sizeText(s.Bytes), sizeText(s.Free))
	rows := [][]string{{c.t("PART", "부분"), c.t("SIZE", "크기"), c.t("FILES", "파일"), c.t("KEPT", "보관"), c.t("CLEAN", "정리"), c.t("WHAT IT IS", "설명")}}
	for _, p := range s.Parts {
		files, clean := "", ""
		if p.Files > 0 {
			files = strconv.Itoa(p.Files)
		}
		if p.Clean > 0 {
			clean = "--clean " + p.ID
		}
		kept := ""
		switch {
		case p.Keeps != "" && p.Days == 0:
			kept = c.t("for ever", "계속")
		case p.Keeps != "":
			kept = fmt.Sprintf(c.t("%d days", "%d일"), p.Days)
		}
		if slices.Contains(freed, p.ID) {
			clean = "free " + p.ID
		}
		rows = append(rows, []string{p.ID, sizeText(p.Bytes), files, kept, clean, c.partText(p.ID)})
	}
	return table(c.out, rows)
}

func (c *console) partText(id string) string {
	switch id {
	case kernel.PartConversations:
		return c.t("messages, search index", "메시지, 검색 색인")
	case kernel.PartJournal:
		return c.t("the steps of runs and what they gave, for replay (journal_days)", "실행의 단계와 그 결과. 다시 재생하는 데 씁니다(journal_days)")
	case kernel.PartChanges:
		return c.t("files as they were before and after a run; they go with their conversation", "실행 전후의 파일 내용. 대화를 지우면 함께 지워집니다")
	case kernel.PartAudit:
		return c.t("the record of what agents did; oxios audit prune takes old ones out (audit_days, audit_max_entries)", "에이전트가 한 일의 기록. oxios audit prune으로 오래된 것을 정리합니다(audit_days, audit_max_entries)")
	case kernel.PartSpare:
		return c.t("room in the database that is used again by itself", "데이터베이스 안의 빈 공간. 저절로 다시 쓰입니다")
	case kernel.PartAttachments:
		return c.t("what was attached to messages; it goes with its conversation", "메시지에 첨부한 것. 대화를 지우면 함께 지워집니다")
	case kernel.PartWorkspace:
		return c.t("what was agreed on with agents, what came of it, and its history", "에이전트와 정한 작업, 그 결과와 기록")
	case kernel.PartUndo:
		return c.t("what runs replaced, so that it can be undone; it goes by itself (undo_days)", "되돌릴 수 있도록 보관한 이전 내용. 시간이 지나면 저절로 지워집니다(undo_days)")
	case kernel.PartExtensions:
		return c.t("what is known of MCP servers, their logs and what they keep; it goes with the server", "MCP 서버의 도구 목록과 로그, 서버가 보관하는 파일. 서버를 제거하면 함께 삭제됩니다")
	case kernel.PartFiles:
		return c.t("everything else", "그 밖의 파일")
	case kernel.PartSettings:
		return c.t("config.toml and the like", "config.toml 등")
	case kernel.PartKeys:
		return c.t("encrypted keys", "암호화된 키")
	case kernel.PartCopies:
		return c.t("copies of the database from before an update or a repair", "업데이트나 복구 전의 데이터베이스 사본")
	case kernel.PartLogs:
		return c.t("what Oxios wrote about itself", "Oxios가 스스로에 대해 남긴 로그")
	case kernel.PartCache:
		return c.t("what programs keep to be quicker the next time", "프로그램이 다음에 빨리 돌기 위해 두는 파일")
	}
	return ""
}

// remains says what a cleaning takes away, and what stays.
func (c *console) remains(id string) string {
	switch id {
	case kernel.PartCopies:
		return c.t("You can no longer go back to the database from before an update. Conversations and settings stay.", "업데이트 전의 데이터베이스로 돌아갈 수 없게 됩니다. 대화와 설정은 그대로 남습니다.")
	case kernel.PartLogs:
		return c.t("A report of a problem will know less. Conversations, settings and the audit record stay.", "문제를 알릴 때 알 수 있는 것이 줄어듭니다. 대화, 설정, 감사 기록은 그대로 남습니다.")
	}
	return c.t("Programs that agents run fetch it again when they need it. Conversations, settings and files stay.", "에이전트가 쓰는 프로그램이 필요할 때 다시 받습니다. 대화, 설정, 파일은 그대로 남습니다.")
}

func (c *console) clean(ctx context.Context, l *link, part string, yes bool) error {
	s, err := l.Infra.Storage(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Parts, func(p kernel.StoragePart) bool { return p.ID == part })
	cleanable := i >= 0 && slices.Contains([]string{kernel.PartCopies, kernel.PartLogs, kernel.PartCache}, part)
	if !cleanable {
		return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q cannot be cleaned. Nothing was changed.", "%q은(는) 정리할 수 없습니다. 아무것도 바꾸지 않았습니다."), part),
			c.t("What can be cleaned: copies, logs, cache.", "정리할 수 있는 것: copies, logs, cache.")))
	}
	if !yes && s.Parts[i].Clean > 0 {
		c.note("%s", c.remains(part))
		if err := c.sure(fmt.Sprintf(c.t("Remove %s (%s)?", "%s(%s)을(를) 지울까요?"), part, sizeText(s.Parts[i].Clean))); err != nil {
			return err
		}
	}
	done, err := l.Infra.Clean(ctx, part)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(done)
	}
	c.printf(c.t("%s freed. The home now takes %s.", "%s 비웠습니다. 데이터 폴더는 이제 %s입니다."), sizeText(done.Freed), sizeText(done.Storage.Bytes))
	return nil
}
