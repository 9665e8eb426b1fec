package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) answerCommand() *cobra.Command {
	var in kernel.AnswerInput
	var accept, decline, cancel bool
	cmd := &cobra.Command{
		Use: "answer RUN [answer...]", Short: c.t("Answer what an agent or a server asks", "에이전트나 서버가 묻는 것에 답합니다"), Args: c.args(1, -1),
		Long: c.t(
			"Answers what an agent asks before it begins. Without an answer the questions are shown.\nThere is one answer for each question, in their order; \"\" leaves one open, and what is left open is asked again, unless --assume is given.\nWhat a server asks in the middle of a call is answered with NAME=VALUE for each field, or with --accept, --decline or --cancel.",
			"에이전트가 시작 전에 묻는 것에 답합니다. 답이 없으면 질문을 보여 줍니다.\n답은 질문 순서대로 하나씩 씁니다. \"\"는 비워 두는 것이며, 비운 질문은 --assume이 없으면 다시 묻습니다.\n서버가 호출 중에 묻는 것에는 항목마다 NAME=VALUE로 답하거나 --accept, --decline, --cancel을 씁니다."),
		Example: `  oxios answer 4f2a
  oxios answer 4f2a "the old addresses" ""
  oxios answer 4f2a --text "Keep the addresses, and leave out drafts"
  oxios answer 4f2a --assume
  oxios answer 4f2a name=Ann beds=2
  oxios answer 4f2a --decline`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Answers = args[1:]
			if accept {
				in.Values = json.RawMessage("{}")
			}
			if decline {
				in.Action = "decline"
			}
			if cancel {
				in.Action = "cancel"
			}
			return c.answer(cmd.Context(), args[0], in)
		},
	}
	cmd.Flags().StringVar(&in.Text, "text", "", c.t("answer all questions in your own `words`", "모든 질문에 자신의 `말`로 답합니다"))
	cmd.Flags().BoolVar(&in.Assume, "assume", false, c.t("start, and let the agent assume what is left open", "비워 둔 것은 가정하고 시작합니다"))
	cmd.Flags().BoolVar(&decline, "decline", false, c.t("say no to what a server asks", "서버의 요청을 거절합니다"))
	cmd.Flags().BoolVar(&cancel, "cancel", false, c.t("leave what a server asks", "서버의 요청을 취소합니다"))
	cmd.Flags().BoolVar(&accept, "accept", false, c.t("agree to what a server asks, with its defaults", "서버의 요청을 기본값으로 수락합니다"))
	cmd.MarkFlagsMutuallyExclusive("accept", "decline", "cancel", "assume", "text")
	return c.withJSON(cmd)
}

// answer is `oxios answer`.
func (c *console) answer(ctx context.Context, name string, in kernel.AnswerInput) error {
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	pending, err := l.Security.Approvals(ctx, kernel.ApprovalQuery{State: "pending"})
	if err != nil {
		return err
	}
	var asking []kernel.Approval
	for _, a := range pending {
		if len(a.Request.Questions) > 0 || a.Request.Form != nil {
			asking = append(asking, a)
		}
	}
	a, err := find(c, c.t("run that asks", "묻는 실행"), "oxios approvals list", name, asking, func(a kernel.Approval) string { return cmp.Or(a.Request.RunID, a.ID) })
	if err != nil {
		return err
	}
	form := a.Request.Form
	if form != nil && len(in.Answers) > 0 {
		if in.Values, err = c.valuesOf(in.Answers); err != nil {
			return err
		}
		in.Answers = nil
	}
	if len(in.Answers) == 0 && len(in.Values) == 0 && in.Text == "" && !in.Assume && in.Action == "" {
		if c.json {
			return c.writeJSON(a)
		}
		c.card(a)
		return nil
	}
	in.RunID, in.ApprovalID = a.Request.RunID, a.ID
	if a, err = l.Agents.Answer(ctx, in); err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(a)
	}
	c.printf("%s: %s", tail(cmp.Or(a.Request.RunID, a.ID)), c.t("answered", "답함"))
	if l.own != nil {
		c.note("%s", c.t("Your answer is recorded. The run goes on when Oxios runs next: the window, or `oxios serve`.",
			"답이 기록되었습니다. 다음에 Oxios가 실행될 때(창 또는 `oxios serve`) 이어집니다."))
	}
	return nil
}

// questions shows what a run asks.
func (c *console) questions(r kernel.ApprovalRequest) {
	for i, q := range r.Questions {
		c.note("  %d. %s", i+1, oneLine(q.Text))
		for _, o := range q.Options {
			c.note("     - %s", oneLine(o))
		}
	}
	if r.Agent != "" {
		c.note("  %s %s", c.t("Agent:", "에이전트:"), oneLine(r.Agent))
	}
}

// askNext asks for the answer to the next of the questions on the screen.
func (w *watcher) askNext() {
	q := w.queue[0].Request.Questions
	fmt.Fprintf(w.err, w.t("Answer %d of %d (Enter leaves it open, ! assumes the rest and starts): ", "답 %d/%d (Enter: 비워 둠, !: 나머지는 가정하고 시작): "), len(w.given)+1, len(q))
}

// answerNext takes up what was typed to it.
func (w *watcher) answerNext(ctx context.Context, line string) error {
	a := w.queue[0]
	in := kernel.AnswerInput{RunID: a.Request.RunID, ApprovalID: a.ID, Assume: line == "!"}
	if !in.Assume {
		w.given = append(w.given, line)
	}
	if !in.Assume && len(w.given) < len(a.Request.Questions) {
		w.askNext()
		return nil
	}
	if !in.Assume && strings.Join(w.given, "") == "" {
		w.note("%s", w.t("Nothing was answered. Answer one of them, or type ! to start all the same.", "답한 것이 없습니다. 하나라도 답하거나 !를 입력해 그대로 시작하세요."))
		w.given = nil
		w.askNext()
		return nil
	}
	in.Answers = w.given
	if _, err := w.link.Agents.Answer(ctx, in); err != nil && sys.CodeOf(err) != sys.CodeConflict {
		return err
	}
	w.drop(a.ID)
	return nil
}
