package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) mcpResources() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "resources [NAME [URI]]", Short: c.t("List what servers have to read, or read one resource", "서버의 리소스를 보거나 하나를 읽습니다"), Args: c.args(0, 2),
		Example: "  oxios mcp resources notes\n  oxios mcp resources notes notes://today",
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if len(args) == 2 {
				r, err := asking(ctx, c, l, func() (kernel.MCPReading, error) {
					return l.MCP.Read(ctx, kernel.MCPRead{Server: args[0], URI: args[1]})
				})
				if err != nil {
					return err
				}
				return c.saidByServer(r, args[0], r.Text)
			}
			have, err := l.MCP.Resources(ctx, strings.Join(args, ""))
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(have)
			}
			head := []string{c.t("SERVER", "서버"), "URI", c.t("NAME", "이름")}
			err = list(c, have.Items, c.t("No resources.", "리소스가 없습니다."), head, func(r kernel.MCPResource) []string {
				name := short(r.Name, 60)
				if r.Template {
					name += c.t(" (template: fill in the parts in braces)", " (템플릿: 중괄호 부분을 채우세요)")
				}
				return []string{r.Server, oneLine(r.URI), name}
			})
			if have.Left > 0 {
				c.note(c.t("%d more are not listed: they are too many, or have characters in their names that cannot be seen.", "%d개는 목록에 없습니다. 너무 많거나 이름에 보이지 않는 글자가 있습니다."), have.Left)
			}
			return err
		}),
	})
}

// saidByServer prints what a server said, marked as its words.
func (c *console) saidByServer(v any, server, text string) error {
	if c.json {
		return c.writeJSON(v)
	}
	c.note(c.t("From the server %s:", "%s 서버에서 온 내용:"), server)
	c.printf("%s", safe(text))
	return nil
}

func (c *console) mcpPrompts() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "prompts [NAME [PROMPT [KEY=VALUE…]]]", Short: c.t("List the prompts of servers, or show what one gives", "서버의 프롬프트를 보거나 하나의 내용을 봅니다"), Args: c.args(0, -1),
		Example: "  oxios mcp prompts notes\n  oxios mcp prompts notes weekly topic=travel\n  oxios run \"/notes:weekly topic=travel\"",
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if len(args) >= 2 {
				in := kernel.MCPPrompting{Server: args[0], Prompt: args[1], Args: map[string]string{}}
				for _, kv := range args[2:] {
					name, value, ok := strings.Cut(kv, "=")
					if !ok {
						return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q is not KEY=VALUE. Nothing was called.", "%q 값은 KEY=VALUE 형식이 아닙니다. 호출하지 않았습니다."), kv), ""))
					}
					in.Args[name] = value
				}
				r, err := asking(ctx, c, l, func() (kernel.MCPPrompted, error) { return l.MCP.Prompt(ctx, in) })
				if err != nil {
					return err
				}
				return c.saidByServer(r, args[0], r.Text)
			}
			items, err := l.MCP.Prompts(ctx, strings.Join(args, ""))
			if err != nil {
				return err
			}
			head := []string{c.t("PROMPT", "프롬프트"), c.t("VALUES", "값"), c.t("WHAT IT DOES", "하는 일")}
			return list(c, items, c.t("No prompts.", "프롬프트가 없습니다."), head, func(p kernel.MCPPrompt) []string {
				var names []string
				for _, a := range p.Args {
					if a.Required {
						names = append(names, a.Name)
					} else {
						names = append(names, "["+a.Name+"]")
					}
				}
				return []string{"/" + p.Call, strings.Join(names, " "), short(p.Description, 80)}
			})
		}),
	})
}
