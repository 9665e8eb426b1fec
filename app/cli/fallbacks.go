package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) providersFallbacks() *cobra.Command {
	var none bool
	cmd := &cobra.Command{
		Use: "fallbacks [PROVIDER/MODEL [PROVIDER/MODEL...]]", Short: c.t("Show or say which models answer for one that cannot", "답하지 못하는 모델 대신 답할 모델을 보거나 정합니다"),
		Long: c.t(
			"Shows which models answer in place of one that cannot: its provider is away, overloaded or out of credit, or does not know it.\nWith several models, those after the first answer for the first, in this order.\nYour conversations with the first then go to them, also to another provider. Without such a list they never do.",
			"제공자에 연결되지 않거나 과부하이거나 크레딧이 없거나 모델을 모를 때, 대신 답할 모델을 보여 줍니다.\n여러 모델을 적으면 첫 모델 대신 나머지가 적은 순서대로 답합니다.\n그때 첫 모델과의 대화는 그 모델로, 다른 제공자라도 전해집니다. 이 목록이 없으면 절대 그러지 않습니다."),
		Example: "  oxios providers fallbacks anthropic/claude-sonnet openai/gpt ollama/llama3\n  oxios providers fallbacks anthropic/claude-sonnet --none",
		Args:    c.args(0, 9),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if none != (len(args) == 1) {
				return usage(c.fail(sys.CodeInvalid, c.t("Name a model and those that answer for it, or one model with --none.", "모델과 대신 답할 모델을 적거나, 모델 하나와 --none을 적으세요."), ""))
			}
			if len(args) == 0 {
				all, err := l.Infra.Fallbacks(ctx)
				if err != nil {
					return err
				}
				return c.showFallbacks(all)
			}
			provider, model, ok := strings.Cut(args[0], "/")
			if !ok {
				return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q names no model.", "%q은(는) 모델 이름이 아닙니다."), args[0]), c.t("Write it as PROVIDER/MODEL.", "제공자/모델로 적어 주세요.")))
			}
			all, err := l.Infra.SetFallbacks(ctx, provider, model, args[1:])
			if err != nil {
				return err
			}
			return c.showFallbacks(all)
		}),
	}
	cmd.Flags().BoolVar(&none, "none", false, c.t("nobody answers for this model", "이 모델 대신 아무도 답하지 않습니다"))
	return c.withJSON(cmd)
}

func (c *console) showFallbacks(all []kernel.Fallbacks) error {
	if c.json {
		return c.writeJSON(all)
	}
	type row struct {
		of string
		kernel.Fallback
	}
	var rows []row
	crosses := false
	for _, f := range all {
		for _, then := range f.Then {
			rows = append(rows, row{f.Provider + "/" + f.Model, then})
			crosses = crosses || then.Crosses
		}
	}
	none := c.t("No model answers for another one.", "다른 모델 대신 답하는 모델이 없습니다.")
	head := []string{c.t("MODEL", "모델"), c.t("ANSWERS FOR IT", "대신 답하는 모델"), ""}
	err := list(c, rows, none, head, func(r row) []string {
		word := ""
		switch problem := r.Problem.In(c.lang == korean); {
		case problem != "":
			word = problem
		case r.Local:
			word = c.t("on this machine", "이 컴퓨터")
		case r.Crosses:
			word = fmt.Sprintf(c.t("the conversation goes to %s", "대화가 %s(으)로 갑니다"), r.ProviderName)
		}
		return []string{r.of, r.Provider + "/" + r.Model, word}
	})
	if err == nil && crosses {
		c.note("%s", c.t("What is said with a model goes to the providers that answer for it, when it cannot.", "모델이 답하지 못하면, 그 모델과 나눈 대화는 대신 답하는 제공자에게 전해집니다."))
	}
	return err
}
