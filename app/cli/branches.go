package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// runIn makes a run's id of what the person named: a run of the shown branch of
// a conversation, or one that stands beside such a run.
func (c *console) runIn(ctx context.Context, l *link, session, name string) (string, error) {
	v, err := l.State.Session(ctx, session)
	if err != nil {
		return "", err
	}
	var known []string
	for _, r := range v.Runs {
		if len(r.Siblings) == 0 {
			known = append(known, r.Run.ID)
		}
		known = append(known, r.Siblings...)
	}
	id, err := find(c, c.t("run", "실행"), "oxios sessions show", name, known, func(id string) string { return id })
	if sys.CodeOf(err) == sys.CodeNotFound {
		return name, nil // perhaps a whole id further off; the kernel knows
	}
	return id, err
}

// place tells a message's run, where it stands among its siblings, and which
// those are.
func (c *console) place(r kernel.RunView) string {
	text := " · " + tail(r.Run.ID)
	if len(r.Siblings) < 2 {
		return text
	}
	var others []string
	for _, id := range r.Siblings {
		if id != r.Run.ID {
			others = append(others, tail(id))
		}
	}
	return text + fmt.Sprintf(c.t(" · %d of %d, others: %s", " · %[2]d개 중 %[1]d번째, 다른 것: %[3]s"), r.Sibling+1, len(r.Siblings), strings.Join(others, ", "))
}

// showBranches says that there is more than what was shown, and where a
// conversation came from.
func (c *console) showBranches(v kernel.SessionView) {
	if o := v.Origin; o != nil && o.Title != "" {
		c.printf(c.t("Branched from %s %s", "갈라져 나온 대화: %s %s"), tail(o.SessionID), oneLine(o.Title))
	}
	if others := v.Branches - 1; others > 0 {
		c.printf(c.t("Other branches, not shown: %d. `oxios sessions choose` shows another one.", "보이지 않는 다른 갈래: %d개. `oxios sessions choose`로 다른 갈래를 봅니다."), others)
	}
}

func (c *console) sessionsChoose() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "choose ID RUN", Short: c.t("Show another branch of a conversation", "대화의 다른 갈래를 봅니다"), Args: c.args(2, 2),
		Long: c.t("Shows the branch of a conversation on which the run stands, and goes on there with the next message.\n`oxios sessions show` names the runs that stand at the same place.",
			"그 실행이 있는 갈래를 보이고, 다음 메시지는 거기에 이어집니다.\n같은 자리에 있는 실행은 `oxios sessions show`에 나옵니다."),
		RunE: c.onSession(func(ctx context.Context, l *link, id string, args []string) error {
			run, err := c.runIn(ctx, l, id, args[1])
			if err != nil {
				return err
			}
			v, err := l.State.ChooseBranch(ctx, run)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			c.showSession(v)
			return nil
		}),
	})
}

func (c *console) sessionsBranch() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "branch ID [RUN]", Short: c.t("Begin a new conversation with a part of another", "대화의 일부로 새 대화를 시작합니다"), Args: c.args(1, 2),
		Long: c.t("Begins a new conversation with everything up to and with the run, or with all of the shown branch.\nFiles stay as they are.",
			"그 실행까지의 모든 내용, 또는 지금 보이는 갈래 전체로 새 대화를 시작합니다.\n파일은 그대로 둡니다."),
		RunE: c.onSession(func(ctx context.Context, l *link, id string, args []string) error {
			v, err := l.State.Session(ctx, id)
			if err != nil {
				return err
			}
			run := v.Session.HeadID
			if len(args) > 1 {
				if run, err = c.runIn(ctx, l, id, args[1]); err != nil {
					return err
				}
			}
			s, err := l.State.BranchSession(ctx, run)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(s)
			}
			c.printf("%s %s", tail(s.ID), oneLine(s.Title))
			return nil
		}),
	})
}
