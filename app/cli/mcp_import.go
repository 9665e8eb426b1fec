package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) mcpImport() *cobra.Command {
	var yes, dry bool
	cmd := c.withJSON(&cobra.Command{
		Use: "import FILE|PROGRAM [NAME…]", Short: c.t("Add the servers of another program", "다른 프로그램의 서버를 추가합니다"), Args: c.args(1, -1),
		Long: c.t("Adds the servers that another program has, all or those named. Nothing is started or overwritten, and keys go to the credential store.\n\nPROGRAM is claude, claude-code, codex, goose, opencode, openclaw, cursor or vscode. FILE is the settings of one of these, or what Cherry Studio exports.",
			"다른 프로그램에 있는 서버를 모두, 또는 이름을 준 것만 추가합니다. 시작하거나 덮어쓰지 않으며, 키는 키 저장소에 보관합니다.\n\nPROGRAM은 claude, claude-code, codex, goose, opencode, openclaw, cursor, vscode 중 하나입니다. FILE은 이 프로그램들의 설정 파일이나 Cherry Studio에서 내보낸 파일입니다."),
		Example: "  oxios mcp import claude\n  oxios mcp import ~/.codex/config.toml github",
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			from := args[0]
			if strings.ContainsAny(from, "/\\.") && !strings.HasPrefix(from, "~") {
				path, err := c.workFolder(from)
				if err != nil {
					return err
				}
				from = path
			}
			seen, err := l.MCP.ImportPreview(ctx, from)
			if err != nil {
				return err
			}
			names := args[1:]
			if unknown := slices.IndexFunc(names, func(n string) bool {
				return !slices.ContainsFunc(seen.Items, func(i kernel.MCPItem) bool { return i.Name == n })
			}); unknown >= 0 {
				return c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("%s has no server %q. Nothing was imported.", "%s 파일에 %q 서버가 없습니다. 가져오지 않았습니다."), seen.From, names[unknown]), c.t("Run it without a name to see them.", "이름 없이 실행하면 목록을 볼 수 있습니다."))
			}
			can := slices.ContainsFunc(seen.Items, func(i kernel.MCPItem) bool {
				return i.Why.EN == "" && (len(names) == 0 || slices.Contains(names, i.Name))
			})
			if dry || !can {
				return c.showImport(seen, names)
			}
			if !yes {
				if err := c.showImport(seen, names); err != nil {
					return err
				}
				if err := c.sure(c.t("Add these servers?", "이 서버를 추가할까요?")); err != nil {
					return err
				}
			}
			done, err := l.MCP.Import(ctx, from, names)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(done)
			}
			c.printf(c.t("Added: %s", "추가함: %s"), strings.Join(done.Added, ", "))
			for _, i := range done.Items {
				for _, key := range i.Asked {
					if slices.Contains(done.Added, i.Name) {
						c.note(c.t("%s needs a value for %s: oxios mcp key %s %s", "%s 서버에 %s 값이 필요합니다: oxios mcp key %s %s"), i.Name, key, i.Name, key)
					}
				}
			}
			return nil
		}),
	})
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	cmd.Flags().BoolVar(&dry, "dry-run", false, c.t("only show what would be added", "추가할 것만 보여 줍니다"))
	return cmd
}

// showImport lists what an import would add, and what it leaves out.
func (c *console) showImport(seen kernel.MCPImport, names []string) error {
	var items []kernel.MCPItem
	for _, i := range seen.Items {
		if len(names) == 0 || slices.Contains(names, i.Name) {
			items = append(items, i)
		}
	}
	if c.json {
		seen.Items = items
		return c.writeJSON(seen)
	}
	head := []string{c.t("SERVER", "서버"), c.t("COMMAND OR ADDRESS", "명령 또는 주소"), c.t("KEYS", "키"), c.t("LEFT OUT BECAUSE", "제외 이유")}
	return list(c, items, "", head, func(i kernel.MCPItem) []string {
		what := i.Server.URL
		if what == "" {
			what = strings.Join(append([]string{i.Server.Command}, i.Server.Args...), " ")
		}
		return []string{oneLine(i.Name), short(what, 70), strings.Join(i.Keys, ", "), i.Why.In(c.lang == korean)}
	})
}
