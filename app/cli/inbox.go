package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) inboxCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "inbox", Short: c.t("What waits for you, and what ended while you did not look", "확인할 요청과, 보지 않는 동안 끝난 일을 봅니다"), Args: c.args(0, 0),
		Long: c.t("Lists what waits for you, what failed or was not met, and what is finished. An answer that you have seen, here or in the window, is not listed;\n--all lists the newest of those too. The list of the window and of the page is the same one.",
			"확인할 요청, 실패했거나 기준을 충족하지 못한 일, 완료된 일을 보여 줍니다. 터미널이나 창에서 이미 본 답은 빠지며, --all은 최근에 본 것까지 보여 줍니다.\n창과 페이지의 알림함도 같은 목록입니다."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			in, err := l.Agents.Inbox(cmd.Context(), all)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(in)
			}
			return c.showInbox(in)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, c.t("also what you have seen", "이미 본 것도 봅니다"))
	cmd.AddCommand(c.inboxClear())
	return c.withJSON(cmd)
}

func (c *console) showInbox(in kernel.Inbox) error {
	rows := [][]string{{c.t("STATE", "상태"), "ID", c.t("AGE", "경과"), c.t("CONVERSATION", "대화"), c.t("WHAT", "내용")}}
	for _, a := range in.Waiting {
		rows = append(rows, []string{c.runState("waiting"), tail(a.ID), ago(a.CreatedAt), short(a.Request.Agent, 32), short(c.title(a), 60)})
	}
	for _, f := range in.Findings {
		rows = append(rows, []string{c.t("problem", "문제"), f.Kind, ago(f.Since), "", short(sys.Words{EN: f.Message, KO: f.MessageKO}.In(c.lang == korean), 120)})
	}
	for _, h := range in.Held {
		why, _ := c.heldWords(h)
		state := c.t("limit reached", "한도 도달")
		if h.Kind == kernel.HeldByProvider {
			state = c.t("no connection", "연결 안 됨")
		}
		who, run := h.Runs[0].Name, h.Runs[0].RunID
		if h.Count > 1 {
			who = fmt.Sprintf(c.t("%d agents", "에이전트 %d개"), h.Count)
		}
		rows = append(rows, []string{state, tail(run), ago(h.Since), short(who, 32), short(why, 100)})
	}
	for _, r := range slices.Concat(in.Failed, in.Finished) {
		what := r.Answer
		if r.Run.Error != nil {
			what, _ = r.Run.Error.In(c.lang == korean)
		}
		end := r.Run.CreatedAt
		if r.Run.EndedAt != nil {
			end = *r.Run.EndedAt
		}
		rows = append(rows, []string{c.runEnd(string(r.Run.State), r.Run.NotMet), tail(r.Run.ID), ago(end), short(r.Title, 32), short(what, 60)})
	}
	if len(rows) == 1 {
		c.note("%s", c.t("Nothing waits for you, and you have seen what ended.", "확인할 요청이 없고, 끝난 일도 모두 보셨습니다."))
		return nil
	}
	if in.Older > 0 {
		c.note(c.t("%d older ones are not listed.", "더 오래된 %d개는 표시하지 않았습니다."), in.Older)
	}
	if err := table(c.out, rows); err != nil {
		return err
	}
	for _, f := range in.Findings {
		c.note("→ %s", sys.Words{EN: f.Hint, KO: f.HintKO}.In(c.lang == korean))
	}
	for _, h := range in.Held {
		_, hint := c.heldWords(h)
		c.note("→ %s", hint)
	}
	return nil
}

func (c *console) inboxClear() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "clear", Short: c.t("Take what is finished out; what failed, was not met or waits stays", "완료된 일을 비웁니다. 실패한 일, 기준을 충족하지 못한 일, 요청은 남습니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			ids, err := l.Agents.ClearInbox(cmd.Context())
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(map[string][]string{"cleared": slices.Concat([]string{}, ids)})
			}
			c.printf(c.t("Cleared: %d. The answers stay in their conversations.", "%d개를 비웠습니다. 답은 각 대화에 남아 있습니다."), len(ids))
			return nil
		},
	})
}
