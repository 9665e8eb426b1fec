package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) memoryExtract() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "extract [SESSION]", Short: c.t("Look through conversations for what to remember, now", "대화에서 기억할 것을 지금 찾습니다"), Args: c.args(0, 1),
		Long: c.t("Looks through a conversation for what to remember, or through all that have something new: one call of each\nconversation's own model. It is done by itself when a conversation has rested for half an hour.",
			"대화 하나에서, 또는 새 내용이 있는 모든 대화에서 기억할 것을 찾습니다. 대화마다 그 대화의 모델을 한 번 부릅니다.\n대화가 30분 쉬면 저절로 합니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			session, err := c.sessionID(ctx, l, strings.Join(args, ""))
			if err != nil {
				return err
			}
			all, err := l.Memory.Extract(ctx, session)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(all)
			}
			if len(all) == 0 {
				c.printf("%s", c.t("No conversation has anything new.", "새 내용이 있는 대화가 없습니다."))
			}
			for _, x := range all {
				said := fmt.Sprintf(c.t("%d remembered", "%d개를 기억했습니다"), len(x.Memories))
				if x.Outcome == "bad" {
					said = c.t("its model gave no answer that can be used; nothing was remembered", "모델의 답을 쓸 수 없어 아무것도 기억하지 않았습니다")
				}
				c.printf("%s: %s.", short(x.Title, 60), said)
				for _, m := range x.Memories {
					c.printf("  %s", oneLine(m.Text))
				}
				if x.Left > 0 {
					c.note(c.t("%d were left: not in your words, a secret, or against what you pinned.", "%d개는 두었습니다. 사용자의 말이 아니거나, 비밀이거나, 고정한 것과 다릅니다."), x.Left)
				}
			}
			return nil
		}),
	})
}

func (c *console) memoryCurate() *cobra.Command {
	var last bool
	var undo int
	cmd := &cobra.Command{
		Use: "curate", Short: c.t("Put the memories in order, and say what was done", "기억을 정리하고 한 일을 말합니다"), Args: c.args(0, 0),
		Long: c.t("Merges what is said twice, makes dates like tomorrow exact, lets the newest of the facts about the same hold, and sets\naside what is old and was never of use. No model is asked. It is done by itself every night. --last shows the newest\nreport instead, and --undo N takes back one change of it.",
			"같은 말을 합치고, 내일 같은 날짜를 정확히 하고, 같은 것에 대한 사실은 새것을 두고, 오래되고 쓰이지 않은 것을 치웁니다.\n모델은 부르지 않습니다. 밤마다 저절로 합니다. --last는 마지막 보고를 보고, --undo N은 그중 하나를 되돌립니다."),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			var r kernel.MemoryCuration
			var err error
			if last || undo > 0 {
				list, lerr := l.Memory.Curations(ctx, 1)
				if lerr != nil {
					return lerr
				}
				if len(list) == 0 {
					c.printf("%s", c.t("The memories were not put in order so far.", "아직 기억을 정리한 적이 없습니다."))
					return nil
				}
				r = list[0]
				if undo > 0 {
					r, err = l.Memory.Uncurate(ctx, r.ID, undo-1)
				}
			} else {
				r, err = l.Memory.Curate(ctx)
			}
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(r)
			}
			c.tellCuration(r)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&last, "last", false, c.t("show the newest report", "마지막 보고를 봅니다"))
	cmd.Flags().IntVar(&undo, "undo", 0, c.t("undo this change of the newest report", "마지막 보고의 이 변경을 되돌립니다"))
	return c.withJSON(cmd)
}

func (c *console) tellCuration(r kernel.MemoryCuration) {
	c.printf(c.t("%s: %d merged, %d dates made exact, %d replaced, %d set aside.", "%s: 합침 %d, 날짜 %d, 바뀜 %d, 치움 %d."),
		r.At.Local().Format("2006-01-02 15:04"), r.Merged, r.Dated, r.Replaced, r.Pruned)
	kinds := map[string]string{
		"merged": c.t("merged", "합침"), "dated": c.t("date", "날짜"), "replaced": c.t("replaced", "바뀜"), "pruned": c.t("set aside", "치움"), "cleared": c.t("history deleted", "이전 내용 지움"),
	}
	for i, ch := range r.Changes {
		mark := ""
		if ch.Undone {
			mark = c.t(" (undone)", " (되돌림)")
		}
		if ch.Kind == "cleared" {
			c.printf("%3d  %s: %d", i+1, kinds[ch.Kind], ch.Count)
			continue
		}
		c.printf("%3d  %s%s", i+1, kinds[ch.Kind], mark)
		for _, b := range ch.Before {
			c.printf("     - %s", oneLine(b))
		}
		if ch.After != "" {
			c.printf("     + %s", oneLine(ch.After))
		}
		if len(ch.Before) == 0 && ch.After == "" {
			c.printf("     %s", c.t("forgotten since then", "그 뒤 잊었습니다"))
		}
	}
}
