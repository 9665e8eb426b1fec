package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) providersCommand() *cobra.Command {
	return c.group("providers", "Where models come from", "모델 제공자",
		c.providersList(), c.providersAdd(), c.providersKey(), c.providersTest(), c.providersUse(), c.providersRemove(), c.providersFallbacks())
}

// linked is a command that needs the kernel and nothing else.
func (c *console) linked(do func(ctx context.Context, l *link, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		l, err := c.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer l.close()
		return do(cmd.Context(), l, args)
	}
}

func (c *console) providersList() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("List the providers that are known", "알려진 제공자를 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			items, err := l.Infra.Providers(ctx)
			if err != nil {
				return err
			}
			head := []string{"ID", c.t("NAME", "이름"), c.t("ADDRESS", "주소"), c.t("KEY", "키"), c.t("FROM", "출처"), ""}
			return list(c, items, c.t("No provider is known.", "알려진 제공자가 없습니다."), head, func(p kernel.Provider) []string {
				key := "-"
				if p.KeyWhere != "" {
					key = "…" + p.KeyTail + " (" + p.KeyWhere + ")"
				}
				state := p.Problem.In(c.lang == korean)
				if state == "" && p.Source == "window" && p.Test == nil {
					state = c.t("not tested", "시험 안 함")
				}
				if !p.Enabled {
					state = c.t("off", "꺼짐")
				}
				return []string{p.ID, p.Name, p.BaseURL, key, p.Source, state}
			})
		}),
	})
}

func (c *console) providersAdd() *cobra.Command {
	var in kernel.ProviderInput
	var key bool
	cmd := &cobra.Command{
		Use: "add [NAME] --url URL", Short: c.t("Add a provider", "제공자를 추가합니다"), Args: c.args(0, 1),
		Long: c.t("Adds a provider without asking it anything; test it with `oxios providers test`. Without a name it gets\nthe host of its address.",
			"제공자에 아무것도 보내지 않고 추가합니다. 시험은 `oxios providers test`로 합니다. 이름을 적지 않으면\n주소의 호스트 이름을 씁니다."),
		Example: `  oxios providers add Work --url https://models.example.com/v1 --key < key.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.BaseURL == "" {
				return usage(c.fail(sys.CodeInvalid, c.t("The provider needs an address.", "제공자 주소가 필요합니다."), c.t("Give it with --url.", "--url로 적어 주세요.")))
			}
			if len(args) > 0 {
				in.Name = args[0]
			}
			if key {
				var err error
				if in.Key, err = c.readKey(); err != nil {
					return err
				}
			}
			return c.linked(func(ctx context.Context, l *link, _ []string) error {
				return c.saved(l.Infra.SaveProvider(ctx, in))
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&in.BaseURL, "url", "", c.t("its `address`, like https://models.example.com/v1", "`주소` (예: https://models.example.com/v1)"))
	cmd.Flags().StringVar(&in.Kind, "kind", "", c.t("its `kind`: openai, ollama, lmstudio or llamacpp", "`종류`: openai, ollama, lmstudio, llamacpp"))
	cmd.Flags().StringVar(&in.Model, "model", "", c.t("use this `model` of it", "제공자의 이 `모델`을 씁니다"))
	cmd.Flags().StringVar(&in.ProxyURL, "proxy", "", c.t("reach it through this `proxy`", "이 `프록시`를 거칩니다"))
	cmd.Flags().StringVar(&in.CAFile, "ca", "", c.t("trust the certificates in this `file` too", "이 `파일`의 인증서도 믿습니다"))
	cmd.Flags().BoolVar(&key, "key", false, c.t("read its key from the terminal or standard input", "키를 터미널이나 표준 입력에서 읽습니다"))
	return c.withJSON(cmd)
}

func (c *console) saved(p kernel.Provider, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(p)
	}
	c.printf("%s %s", p.ID, safe(p.BaseURL))
	if p.KeyWhere != "" {
		c.note(c.t("Its key …%s is in the %s.", "키 …%s 저장 위치: %s."), p.KeyTail, p.KeyWhere)
	}
	return nil
}

// readKey reads a key, never from the arguments: other users see those.
func (c *console) readKey() (string, error) {
	in := c.in
	if f, ok := c.in.(*os.File); ok && c.terminal(c.in) {
		fmt.Fprint(c.err, c.t("Key (it is not shown): ", "키 (화면에 보이지 않음): "))
		restore, err := hush(f)
		if err != nil {
			return "", fmt.Errorf("hide the key: %w", err)
		}
		defer restore()
	}
	line, err := bufio.NewReader(io.LimitReader(in, 64<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the key: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", c.fail(sys.CodeInvalid, c.t("There is no key on standard input. Nothing was saved.", "표준 입력에 키가 없습니다. 저장하지 않았습니다."), "")
	}
	return line, nil
}

func (c *console) providersKey() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "key ID", Short: c.t("Give a provider another key, from the terminal or standard input", "제공자의 키를 바꿉니다 (터미널이나 표준 입력)"), Args: c.args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := c.readKey()
			if err != nil {
				return err
			}
			return c.linked(func(ctx context.Context, l *link, _ []string) error {
				p, err := c.provider(ctx, l, args[0])
				if err != nil {
					return err
				}
				if p.Source != "window" {
					return c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("The provider %q comes from %s, which names its key.", "제공자 %q은(는) %s에서 왔고 키도 거기서 정합니다."), p.ID, p.Source), "")
				}
				return c.saved(l.Infra.SaveProvider(ctx, kernel.ProviderInput{
					ID: p.ID, Name: p.Name, Kind: p.Kind, BaseURL: p.BaseURL, ProxyURL: p.ProxyURL, CAFile: p.CAFile, Enabled: &p.Enabled, Key: key,
				}))
			})(cmd, args)
		},
	})
}

func (c *console) provider(ctx context.Context, l *link, id string) (kernel.Provider, error) {
	list, err := l.Infra.Providers(ctx)
	if err != nil {
		return kernel.Provider{}, err
	}
	for _, p := range list {
		if p.ID == id {
			return p, nil
		}
	}
	return kernel.Provider{}, c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("There is no provider %q.", "제공자 %q이(가) 없습니다."), id),
		c.t("`oxios providers list` lists them.", "`oxios providers list`로 목록을 보세요."))
}

func (c *console) providersTest() *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Use: "test ID", Short: c.t("Try a provider with a real question", "제공자를 실제로 시험합니다"), Args: c.args(1, 1),
		Long: c.t("Asks the provider for a completion, a tool call and a look at an image. It costs a few hundred tokens.",
			"제공자에게 응답, 도구 호출, 이미지를 시험합니다. 토큰 몇백 개가 듭니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			r, err := l.Infra.TestProvider(ctx, args[0], model)
			if err != nil {
				return err
			}
			if c.json {
				err = c.writeJSON(r)
			} else {
				c.report(r)
			}
			if err != nil || r.Answers {
				return err
			}
			return exits(exitFailed)
		}),
	}
	cmd.Flags().StringVar(&model, "model", "", c.t("the `model`, instead of its first", "첫 모델 대신 쓸 `모델`"))
	return c.withJSON(cmd)
}

func (c *console) report(r kernel.TestReport) {
	known := func(b *bool) string {
		switch {
		case b == nil:
			return c.t("unknown", "알 수 없음")
		case *b:
			return c.t("yes", "예")
		}
		return c.t("no", "아니요")
	}
	answers := c.t("no", "아니요")
	if r.Answers {
		answers = c.t("yes", "예")
	}
	c.printf("%s %s", c.t("Answers:", "응답:"), answers)
	c.printf("%s %s", c.t("Tools:", "도구:"), known(r.Tools))
	c.printf("%s %s", c.t("Images:", "이미지:"), known(r.Images))
	c.printf("%s %s", c.t("Context:", "문맥:"), number(r.ContextLength))
	if r.Error != nil {
		c.explain(r.Error)
	}
}

func (c *console) providersUse() *cobra.Command {
	return &cobra.Command{
		Use: "use ID MODEL", Short: c.t("Make a model the default of new conversations", "새 대화의 기본 모델로 정합니다"), Args: c.args(2, 2),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if err := l.Infra.UseModel(ctx, args[0], args[1]); err != nil {
				return err
			}
			c.printf(c.t("New conversations use %s of %s.", "새 대화는 %s (%s)을(를) 씁니다."), args[1], args[0])
			return nil
		}),
	}
}

func (c *console) providersRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove ID", Short: c.t("Remove a provider and its key", "제공자와 키를 지웁니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if err := l.Infra.RemoveProvider(ctx, args[0]); err != nil {
				return err
			}
			c.printf(c.t("%s was removed, with its key.", "%s과(와) 키를 지웠습니다."), args[0])
			return nil
		}),
	}
}
