package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) sessionsCommand() *cobra.Command {
	return c.group("sessions", "Conversations", "대화 목록과 내용",
		c.sessionsList(), c.sessionsShow(), c.sessionsChoose(), c.sessionsBranch(), c.sessionsRename(),
		c.sessionsPin(true), c.sessionsPin(false), c.sessionsArchive(true), c.sessionsArchive(false), c.sessionsExport(), c.sessionsDelete())
}

// onSession is a command that works on the conversation its first argument names.
func (c *console) onSession(do func(ctx context.Context, l *link, id string, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		l, err := c.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer l.close()
		id, err := c.sessionID(cmd.Context(), l, args[0])
		if err != nil {
			return err
		}
		return do(cmd.Context(), l, id, args)
	}
}

func (c *console) sessionsList() *cobra.Command {
	var q kernel.SessionQuery
	var space string
	cmd := &cobra.Command{
		Use: "list", Short: c.t("List conversations, the newest first", "대화를 최근 순으로 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			if space != "" {
				id, err := c.spaceID(cmd.Context(), l, space)
				if err != nil {
					return err
				}
				q.Space = &id
			}
			items, err := l.State.Sessions(cmd.Context(), q)
			if err != nil {
				return err
			}
			head := []string{"ID", c.t("STATE", "상태"), c.t("CHANGED", "변경"), c.t("COST", "비용"), c.t("TITLE", "제목")}
			return list(c, items, c.t("There is no conversation.", "대화가 없습니다."), head, func(s kernel.Session) []string {
				return []string{tail(s.ID), c.runEnd(s.State, s.NotMet), ago(s.UpdatedAt), c.price(s.Cost), short(s.Title, 80)}
			})
		},
	}
	cmd.Flags().StringVar(&q.Search, "search", "", c.t("only those in which these `words` stand", "이 `단어`가 있는 대화만"))
	cmd.Flags().BoolVar(&q.Archived, "archived", false, c.t("the archived ones", "보관된 대화"))
	cmd.Flags().IntVar(&q.Limit, "limit", 50, c.t("at most this `number`", "최대 `개수`"))
	return c.withJSON(c.spaceFlag(cmd, &space))
}

func (c *console) sessionsShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show ID", Short: c.t("Show a conversation", "대화를 봅니다"), Args: c.args(1, 1),
		RunE: c.onSession(func(ctx context.Context, l *link, id string, _ []string) error {
			v, err := l.State.Session(ctx, id)
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

func (c *console) showSession(v kernel.SessionView) {
	c.printf("%s", oneLine(v.Session.Title))
	c.printf("%s · %s · %s · %s", v.Session.ID, c.runEnd(v.Session.State, v.Session.NotMet), oneLine(v.Session.Folder), c.price(v.Session.Cost))
	c.showBranches(v)
	steps := map[string][]kernel.StepView{}
	places := map[string]string{} // of a run, told at the message that began it
	for _, r := range v.Runs {
		steps[r.Run.ID], places[r.Run.ID] = r.Steps, c.place(r)
	}
	for _, m := range v.Messages {
		who, place := c.t("Agent", "에이전트"), ""
		if m.Role == "user" {
			who, place = c.t("You", "나"), places[m.RunID]
			delete(places, m.RunID)
		}
		c.printf("\n%s · %s%s", who, m.At.Local().Format("2006-01-02 15:04"), place)
		if m.Role != "user" {
			c.showSteps(steps[m.RunID])
			delete(steps, m.RunID) // an answer in several messages shows them once
		}
		if m.Content != "" {
			c.printf("%s", safe(strings.TrimRight(m.Content, "\n")))
		}
		if m.Status != "" {
			c.printf("(%s)", m.Status)
		}
		if m.Demo {
			c.printf("(%s)", c.t("Demo: scripted, no language model", "데모: 대본대로 답하며 언어 모델이 아닙니다"))
		}
	}
	for _, r := range v.Runs { // a run without an answer yet
		if left, ok := steps[r.Run.ID]; ok && len(left) > 0 {
			c.printf("\n%s · %s", c.t("Agent", "에이전트"), c.runEnd(string(r.Run.State), r.Run.NotMet))
			c.showSteps(left)
		}
	}
	for _, q := range v.Queued {
		c.printf("\n%s · %s", c.t("You, not read yet", "나 (아직 읽지 않음)"), oneLine(q.Text))
	}
}

func (c *console) showSteps(steps []kernel.StepView) {
	for _, s := range steps {
		if s.Kind != "tool" && s.Kind != "context" {
			continue
		}
		mark := "✗"
		switch {
		case s.State == "waiting":
			mark = "?"
		case s.State != "closed":
			mark = "·"
		case s.Outcome == "ok":
			mark = "✓"
		}
		title := c.either(s.Title, s.TitleKO)
		if title == "" {
			title = s.Name
		}
		c.printf("  %s %s", mark, short(title, 120))
	}
}

func (c *console) sessionsRename() *cobra.Command {
	return &cobra.Command{
		Use: "rename ID TITLE", Short: c.t("Give a conversation another title", "대화 제목을 바꿉니다"), Args: c.args(2, -1),
		RunE: c.onSession(func(ctx context.Context, l *link, id string, args []string) error {
			title := strings.Join(args[1:], " ")
			s, err := l.State.UpdateSession(ctx, id, kernel.SessionPatch{Title: &title})
			if err != nil {
				return err
			}
			c.printf("%s %s", tail(s.ID), oneLine(s.Title))
			return nil
		}),
	}
}

func (c *console) sessionsPin(on bool) *cobra.Command {
	p := kernel.SessionPatch{Pinned: &on}
	if !on {
		return c.sessionsSet("unpin ID", c.t("Put a conversation back in its order", "대화 고정을 풉니다"), c.t("unpinned", "고정 해제"), p)
	}
	return c.sessionsSet("pin ID", c.t("Keep a conversation at the top of the list", "대화를 목록 맨 위에 고정합니다"), c.t("pinned", "고정"), p)
}

func (c *console) sessionsArchive(on bool) *cobra.Command {
	p := kernel.SessionPatch{Archived: &on}
	if !on {
		return c.sessionsSet("unarchive ID", c.t("Put a conversation back in the list", "보관한 대화를 목록으로 되돌립니다"), c.t("in the list", "목록에 있음"), p)
	}
	return c.sessionsSet("archive ID", c.t("Take a conversation out of the list and keep it", "대화를 목록에서 빼서 보관합니다"), c.t("archived", "보관"), p)
}

// sessionsSet is a command that makes one change and says what then is.
func (c *console) sessionsSet(use, about, now string, p kernel.SessionPatch) *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: use, Short: about, Args: c.args(1, 1),
		RunE: c.onSession(func(ctx context.Context, l *link, id string, _ []string) error {
			s, err := l.State.UpdateSession(ctx, id, p)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(s)
			}
			c.printf("%s %s: %s", tail(s.ID), oneLine(s.Title), now)
			return nil
		}),
	})
}

func (c *console) sessionsExport() *cobra.Command {
	var format, file string
	cmd := &cobra.Command{
		Use: "export ID", Short: c.t("Write a conversation as Markdown or JSON", "대화를 Markdown이나 JSON으로 내보냅니다"), Args: c.args(1, 1),
		Example: "  oxios sessions export ID > talk.md\n  oxios sessions export ID --format json -o talk.json",
		RunE: c.onSession(func(ctx context.Context, l *link, id string, _ []string) error {
			if file != "" && file != "-" { // of any size: the kernel writes it itself
				path, err := c.absolute(file)
				if err != nil {
					return err
				}
				if _, err := l.State.SaveSession(ctx, id, format, path, true); err != nil {
					return err
				}
				c.note(c.t("Written to %s.", "%s에 썼습니다."), file)
				return nil
			}
			text, err := l.State.ExportSession(ctx, id, format)
			if sys.CodeOf(err) == sys.CodeTooLarge {
				return sys.AsError(err).WithHint("%s", c.t("Write it to a file with -o FILE, which takes any size.", "-o 파일로 쓰면 크기에 제한이 없습니다."))
			}
			if err != nil {
				return err
			}
			return c.save(file, []byte(text))
		}),
	}
	cmd.Flags().StringVar(&format, "format", "md", c.t("`md` or json", "`md` 또는 json"))
	cmd.Flags().StringVarP(&file, "output", "o", "", c.t("write to this `file`", "이 `파일`에 씁니다"))
	return cmd
}

// save writes data to file, which only the person may read, or to standard
// output.
func (c *console) save(file string, data []byte) error {
	if file == "" || file == "-" {
		_, err := c.out.Write(data)
		return err
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("%s cannot be written: %v.", "%s에 쓸 수 없습니다: %v."), file, err), "")
	}
	c.note(c.t("Written to %s.", "%s에 썼습니다."), file)
	return nil
}

// sure asks the person; all but a clear yes is no.
func (c *console) sure(question string) error {
	if !c.terminal(c.in) || !c.terminal(c.err) {
		return c.fail(sys.CodeWaiting, c.t("Nobody can be asked here, so nothing was changed.", "여기서는 물어볼 수 없어 아무것도 바꾸지 않았습니다."), c.t("Say it with --yes.", "--yes를 붙여 주세요."))
	}
	fmt.Fprintf(c.err, "%s [y/N] ", question)
	line, _ := bufio.NewReader(c.in).ReadString('\n') // an end without a line is no
	if yes(line) {
		return nil
	}
	c.note("%s", c.t("Nothing was changed.", "아무것도 바꾸지 않았습니다."))
	return exits(exitFailed)
}

func yes(line string) bool {
	return slices.Contains([]string{"y", "yes", "예", "네"}, strings.ToLower(strings.TrimSpace(line)))
}
