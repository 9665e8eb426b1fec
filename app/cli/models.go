package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) modelsCommand() *cobra.Command {
	var q kernel.ModelQuery
	cmd := &cobra.Command{
		Use: "models", Short: c.t("List the models that can be used", "쓸 수 있는 모델을 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			items, err := l.Infra.Models(cmd.Context(), q)
			if err != nil {
				return err
			}
			if len(items) == 0 && q.Provider != "" {
				known, err := l.Infra.Providers(cmd.Context())
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(known, func(p kernel.Provider) bool { return p.ID == q.Provider }) {
					return c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("There is no provider %q.", "%q 제공자가 없습니다."), q.Provider), c.t("`oxios providers list` lists them.", "`oxios providers list`로 목록을 보세요."))
				}
			}
			empty := c.t("No model was found. Start a local server, add one with `oxios providers add`, or try `oxios demo`.",
				"모델을 찾지 못했습니다. 로컬 서버를 켜거나 `oxios providers add`로 추가하거나 `oxios demo`를 써 보세요.")
			head := []string{c.t("MODEL", "모델"), c.t("PROVIDER", "제공자"), c.t("CONTEXT", "문맥"), c.t("PRICE IN/OUT PER 1M", "100만당 입력/출력 가격"), ""}
			return list(c, items, empty, head, func(m kernel.Model) []string {
				return []string{m.ID, m.Provider, number(m.ContextLength), c.modelPrice(m), c.labels(m)}
			})
		},
	}
	cmd.Flags().StringVar(&q.Search, "search", "", c.t("only those with these `words` in their name", "이름에 이 `단어`가 있는 모델만"))
	cmd.Flags().StringVar(&q.Provider, "provider", "", c.t("only of this `provider`", "이 `제공자`의 모델만"))
	cmd.Flags().BoolVar(&q.Refresh, "refresh", false, c.t("ask the providers again", "제공자에게 다시 물어봅니다"))
	return c.withJSON(cmd)
}

func number(n int) string {
	if n == 0 {
		return "?"
	}
	return strconv.Itoa(n)
}

func (c *console) modelPrice(m kernel.Model) string {
	switch {
	case m.Free:
		return c.t("free", "무료")
	case m.Price == nil:
		return c.t("unknown", "알 수 없음")
	}
	return fmt.Sprintf("$%.2f / $%.2f", m.Price.Input, m.Price.Output)
}

func (c *console) labels(m kernel.Model) string {
	var out []string
	for _, l := range []struct {
		on   bool
		text string
	}{
		{m.Default, c.t("default", "기본")},
		{m.Favourite, c.t("favourite", "즐겨찾기")},
		{m.ChatOnly, c.t("chat only", "대화 전용")},
		{m.Demo, c.t("scripted demo", "대본 데모")},
	} {
		if l.on {
			out = append(out, l.text)
		}
	}
	return strings.Join(out, ", ")
}
