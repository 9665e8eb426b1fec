package cli

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oxios/app/mcp"
	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) mcpServe() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "serve", Short: c.t("Serve Oxios to another program over standard input and output", "표준 입출력으로 다른 프로그램에 Oxios를 제공합니다"), Args: c.args(0, 0),
		Long: c.t("Serves the tools, notes and runs of Oxios to one program, which speaks the Model Context Protocol, over standard input and output.\nAdd the program first: oxios mcp clients add NAME --scope read.\n`oxios serve` serves the same over HTTP at /mcp, to programs that send their token.",
			"Model Context Protocol를 쓰는 프로그램 하나에 표준 입출력으로 Oxios의 도구, 노트, 실행을 제공합니다.\n먼저 프로그램을 추가하세요: oxios mcp clients add NAME --scope read.\n`oxios serve`는 토큰을 보내는 프로그램에 같은 것을 HTTP /mcp 주소로 제공합니다."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if strings.TrimSpace(name) == "" {
				return usage(c.fail(sys.CodeInvalid, c.t("Say which program is served: --client NAME.", "어느 프로그램에 제공하는지 알려 주세요: --client NAME."), c.t("`oxios mcp clients add NAME --scope read` adds one.", "`oxios mcp clients add NAME --scope read` 명령으로 추가하세요.")))
			}
			return c.serveProgram(cmd.Context(), name)
		},
	}
	cmd.Flags().StringVar(&name, "client", "", c.t("the `name` of the program, as `oxios mcp clients list` shows it", "oxios mcp clients list에 보이는 프로그램 `이름`"))
	return cmd
}

// serveProgram serves one program over the standard streams: through the Oxios that runs, or one of our own.
func (c *console) serveProgram(ctx context.Context, name string) error {
	h, end, err := c.openAs(ctx, name)
	if err != nil {
		return err
	}
	defer end()
	return mcp.Stdio(ctx, h, c.deps.Version, io.NopCloser(c.in), keepOpen{c.out}, slog.New(slog.DiscardHandler))
}

// programs serves programs over HTTP.
func (c *console) programs(k *kernel.Kernel, log *slog.Logger) *mcp.Server {
	return mcp.New(mcp.Config{
		Version: c.deps.Version, Log: log, Person: remote.Local(k.As(sys.Person("programs"))),
		Open: func(ctx context.Context, token string) (*remote.Handle, error) {
			who, err := k.ClientOf(ctx, token)
			if err != nil {
				return nil, err
			}
			return remote.Local(k.As(who)), nil
		},
		Peer: func(r *http.Request) remote.Behind { return remote.PeerOf(k, r) },
	})
}

// keepOpen is standard output, which the process closes.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// openAs is the kernel as a program sees it.
func (c *console) openAs(ctx context.Context, name string) (*remote.Handle, func(), error) {
	client, err := remote.DialAs(ctx, c.home, name)
	if err != nil && sys.CodeOf(err) != sys.CodeUnavailable {
		return nil, nil, err
	}
	if client != nil {
		return client.Handle(), func() { _ = client.Close() }, nil
	}
	l, err := c.connectToWork(ctx)
	if err != nil {
		return nil, nil, err
	}
	if l.own == nil { // another process was faster
		l.close()
		if client, err = remote.DialAs(ctx, c.home, name); err != nil || client == nil {
			return nil, nil, err
		}
		return client.Handle(), func() { _ = client.Close() }, nil
	}
	who, err := l.own.ClientNamed(ctx, name)
	if err != nil {
		l.close()
		return nil, nil, err
	}
	return remote.Local(l.own.As(who)), l.close, nil
}

func (c *console) mcpClients() *cobra.Command {
	return c.group("clients", "Manage programs that use Oxios", "Oxios를 쓰는 프로그램을 관리합니다", c.clientsList(), c.clientsAdd(), c.clientsRevoke())
}

func (c *console) clientsList() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("List the programs and what they can do", "프로그램과 할 수 있는 일을 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			items, err := l.Clients.List(ctx)
			if err != nil {
				return err
			}
			head := []string{c.t("PROGRAM", "프로그램"), c.t("SCOPES", "범위"), c.t("ADDED", "추가"), c.t("LAST USED", "마지막 사용")}
			empty := c.t("No programs yet. Add one: oxios mcp clients add NAME --scope read", "아직 프로그램이 없습니다. 추가: oxios mcp clients add NAME --scope read")
			return list(c, items, empty, head, func(v kernel.Client) []string {
				used := c.t("never", "없음")
				if v.UsedAt != nil {
					used = v.UsedAt.Local().Format(time.DateTime)
				}
				return []string{v.Name, strings.Join(v.Scopes, ", "), v.CreatedAt.Local().Format(time.DateOnly), used}
			})
		}),
	})
}

func (c *console) clientsAdd() *cobra.Command {
	var scopes []string
	cmd := c.withJSON(&cobra.Command{
		Use: "add NAME", Short: c.t("Add a program and print its token, once", "프로그램을 추가하고 토큰을 한 번 출력합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			made, err := l.Clients.Add(ctx, args[0], scopes)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(made)
			}
			c.printf("%s", made.Token)
			c.note(c.t("This is the token of %s. It is not shown again.", "%s 프로그램의 토큰입니다. 다시 표시되지 않습니다."), safe(made.Client.Name))
			all, err := l.Clients.Scopes(ctx)
			for _, s := range all {
				for _, has := range made.Client.Scopes {
					if s.Name == has {
						c.note("  %s: %s", s.Title.In(c.lang == korean), s.About.In(c.lang == korean))
					}
				}
			}
			return err
		}),
	})
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, c.t("what it can do: read, run, vault, approvals; with commas between them", "할 수 있는 `일`: read, run, vault, approvals. 쉼표로 나눕니다"))
	return cmd
}

func (c *console) clientsRevoke() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "revoke NAME", Short: c.t("Take all access from a program at once", "프로그램의 접근을 바로 취소합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			gone, err := l.Clients.Revoke(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(gone)
			}
			c.printf(c.t("%s: revoked", "%s: 취소함"), safe(gone.Name))
			return nil
		}),
	})
}
