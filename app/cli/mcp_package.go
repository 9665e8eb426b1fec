package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

// packageLines say what a server's command downloads, and what of it is installed.
func (c *console) packageLines(v kernel.MCPView) (lines []string) {
	p := v.Package
	if p == nil {
		return nil
	}
	i := p.Installed
	if i == nil {
		return []string{fmt.Sprintf(c.t("%s, not installed", "%s, 설치되지 않음"), p.Name), p.Says.In(c.lang == korean)}
	}
	lines = append(lines, strings.TrimSpace(p.Name+" "+i.Version),
		fmt.Sprintf(c.t("installed %s from %s, %s in %d files", "%s에 %s에서 설치함, %s, 파일 %d개"), i.At.Local().Format("2006-01-02 15:04"), i.From, byteSize(i.Size), i.Files),
		short(i.Hash, 23))
	if len(i.Scripts) > 0 {
		lines = append(lines, fmt.Sprintf(c.t("install scripts that were not run: %s", "실행하지 않은 설치 스크립트: %s"), strings.Join(i.Scripts, ", ")))
	}
	if i.Altered {
		lines = append(lines, fmt.Sprintf(c.t("its files changed since then, so it is not started. Install it again: oxios mcp install %s", "설치한 뒤에 파일이 바뀌어 시작하지 않습니다. 다시 설치: oxios mcp install %s"), v.Name))
	}
	return lines
}

// byteSize is a number of bytes as people read it.
func byteSize(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d kB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// installFirst installs what a server's command downloads, where that was not done yet.
func (c *console) installFirst(ctx context.Context, l *link, v kernel.MCPView) error {
	if v.Package == nil || v.Package.Installed != nil {
		return nil
	}
	c.note("%s", v.Package.Says.In(c.lang == korean))
	c.note(c.t("Installing %s…", "%s 설치 중…"), v.Package.Name)
	_, err := l.MCP.Install(ctx, v.Name, "")
	return err
}

func (c *console) mcpInstall() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "install NAME", Short: c.t("Install what a server's npx or uvx downloads, again as it was if it is installed", "서버의 npx나 uvx가 내려받는 패키지를 설치합니다. 이미 있으면 같은 버전으로 다시 설치합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := c.serverOf(ctx, l, args[0])
			if err != nil {
				return err
			}
			if v.Package != nil {
				c.note("%s", v.Package.Says.In(c.lang == korean))
			}
			if v, err = l.MCP.Install(ctx, args[0], ""); err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
}

func (c *console) mcpUpdate() *cobra.Command {
	var yes bool
	cmd := c.withJSON(&cobra.Command{
		Use: "update NAME", Short: c.t("Install the newest version of a server's package", "서버 패키지의 최신 버전을 설치합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := c.serverOf(ctx, l, args[0])
			if err != nil {
				return err
			}
			is, version := "", "newest"
			if v.Package != nil && v.Package.Installed != nil {
				is = v.Package.Installed.Version
			}
			if v.Package == nil || v.Package.Kind != "uv" {
				if version, err = l.MCP.Newest(ctx, args[0]); err != nil {
					return err
				}
				if version == is {
					c.note(c.t("%s is the newest version that its command allows.", "명령이 허용하는 최신 버전입니다: %s"), is)
					return c.showServer(v)
				}
			}
			c.note("%s: %s → %s", v.Package.Name, is, version)
			if !yes {
				if err := c.sure(c.t("Install the new version?", "새 버전을 설치할까요?")); err != nil {
					return err
				}
			}
			if v, err = l.MCP.Install(ctx, args[0], version); err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	return cmd
}
