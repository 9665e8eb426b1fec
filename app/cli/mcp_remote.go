package cli

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// remoteFlags are what `mcp add` knows of a server that runs elsewhere.
type remoteFlags struct {
	url, clientID string
	headers       []string
	stdin         bool
}

func (r *remoteFlags) flags(c *console, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.url, "url", "", c.t("`address` of a server that runs elsewhere, instead of a command", "명령 대신, 다른 곳에서 실행되는 서버의 `주소`"))
	f.StringSliceVar(&r.headers, "header", nil, c.t("`names` of headers that it needs; their values are asked for and kept as keys", "서버에 필요한 헤더의 `이름`. 값은 물어서 키로 보관합니다"))
	f.StringVar(&r.clientID, "client-id", "", c.t("the `id` under which Oxios is registered at its authorization server", "인증 서버에 등록한 Oxios의 `ID`"))
	f.BoolVar(&r.stdin, "stdin", false, c.t("read the values of headers from standard input, each on a line", "헤더 값을 표준 입력에서 한 줄씩 읽습니다"))
}

// into fills in a server, and says what cannot be meant.
func (r *remoteFlags) into(c *console, def *kernel.MCPServer, command []string) error {
	switch {
	case r.url == "" && len(command) == 0:
		return usage(c.fail(sys.CodeInvalid, c.t("A server needs a command or an address.", "서버에는 명령이나 주소가 필요합니다."), c.t("Write `oxios mcp add NAME -- COMMAND` or `oxios mcp add NAME --url URL`.", "`oxios mcp add NAME -- COMMAND`나 `oxios mcp add NAME --url URL`처럼 쓰세요.")))
	case r.url != "" && len(command) > 0:
		return usage(c.fail(sys.CodeInvalid, c.t("A server has a command or an address, not both.", "서버에는 명령과 주소 가운데 하나만 쓸 수 있습니다."), c.t("Leave out the command or --url.", "명령이나 --url 가운데 하나를 빼세요.")))
	case len(command) > 0:
		def.Command, def.Args = command[0], command[1:]
	}
	def.URL, def.Headers, def.ClientID = r.url, r.headers, r.clientID
	return nil
}

// keys asks for the values of the headers.
func (r *remoteFlags) keys(ctx context.Context, c *console, l *link, name string) error {
	ask := c.secrets(r.stdin)
	for _, h := range r.headers {
		value, err := ask(h + ": ")
		if err == nil {
			_, err = l.MCP.SetKey(ctx, name, h, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// signInLines say how the person is signed in at a server.
func (c *console) signInLines(v kernel.MCPView) (lines []string) {
	in := v.SignIn
	if in == nil {
		return nil
	}
	if in.Needed {
		return append(lines, fmt.Sprintf(c.t("not signed in: oxios mcp login %s", "로그인 필요: oxios mcp login %s"), v.Name))
	}
	lines = append(lines, fmt.Sprintf(c.t("signed in at %s", "로그인됨: %s"), in.Issuer))
	if len(in.Scopes) > 0 {
		lines = append(lines, c.t("permissions: ", "권한: ")+strings.Join(in.Scopes, ", "))
	}
	if !in.Until.IsZero() && !in.Renews {
		lines = append(lines, c.t("until ", "만료: ")+moment(in.Until))
	}
	if more := missing(in.Asks, in.Scopes); len(more) > 0 {
		lines = append(lines, fmt.Sprintf(c.t("a call needed more (%s): oxios mcp login %s", "호출에 권한이 더 필요했음 (%s): oxios mcp login %s"), strings.Join(more, ", "), v.Name))
	}
	return lines
}

func missing(wanted, have []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return slices.Contains(have, w) })
}

func (c *console) mcpLogin() *cobra.Command {
	var noBrowser bool
	cmd := c.withJSON(&cobra.Command{
		Use: "login NAME", Short: c.t("Sign in at a server", "서버에 로그인합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			page, err := l.MCP.SignIn(ctx, args[0])
			if err != nil {
				return err
			}
			c.note(c.t("Sign in at %s. If no browser opens, open this address:", "로그인할 곳: %s. 브라우저가 열리지 않으면 이 주소를 여세요:"), oneLine(page.Host))
			c.note("%s", oneLine(page.URL))
			if page.TokenHost != "" {
				c.note(c.t("What you allow there is handed to another machine, %s. Go on only if you know both.", "로그인 결과를 넘겨받는 곳은 다른 컴퓨터입니다: %s. 둘 다 아는 곳일 때만 계속하세요."), oneLine(page.TokenHost))
			}
			if !noBrowser {
				c.browse(page.URL)
			}
			if _, err := l.MCP.SignedIn(ctx, args[0]); err != nil {
				return err
			}
			v, err := l.MCP.Connect(ctx, args[0])
			if err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, c.t("print the address and open nothing", "주소만 출력하고 브라우저를 열지 않습니다"))
	return cmd
}

// browse shows an address in the person's browser. Where there is none, the address was printed.
func (c *console) browse(address string) {
	program := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		program = []string{"open"}
	case "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	cmd := exec.Command(program[0], append(program[1:], address)...) //nolint:noctx // it outlives the call, as what it opens does
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // it ends as soon as the browser has the address
	}
}

func (c *console) mcpLogout() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "logout NAME", Short: c.t("Sign out at a server and delete its token", "서버에서 로그아웃하고 토큰을 삭제합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := l.MCP.SignOut(ctx, args[0])
			if err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
}

func (c *console) mcpKey() *cobra.Command {
	var stdin, remove bool
	cmd := c.withJSON(&cobra.Command{
		Use: "key NAME KEY", Short: c.t("Enter or remove the value of a header or variable that a server needs", "서버에 필요한 헤더나 환경 변수의 값을 입력하거나 없앱니다"), Args: c.args(2, 2),
		Long: c.t("Enters or removes a value that a server needs. It is kept as a key, for that server alone.\nKEY is one of the headers or secrets in the server's table in config.toml, or client_secret, the secret that belongs to its client_id.",
			"서버에 필요한 값을 입력하거나 없앱니다. 값은 그 서버에만 쓰는 키로 보관합니다.\nKEY는 config.toml의 서버 표에 있는 헤더(headers)나 환경 변수(secrets)이거나, client_id에 딸린 비밀인 client_secret입니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) (err error) {
			value := ""
			if !remove {
				if value, err = c.secrets(stdin)(args[1] + ": "); err != nil {
					return err
				}
				if strings.TrimSpace(value) == "" {
					return usage(c.fail(sys.CodeInvalid, c.t("The value is empty. Nothing was changed.", "값이 비어 있습니다. 바뀐 것은 없습니다."), c.t("Use --remove to remove it.", "없애려면 --remove를 쓰세요.")))
				}
			}
			v, err := l.MCP.SetKey(ctx, args[0], args[1], value)
			if err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
	cmd.Flags().BoolVar(&stdin, "stdin", false, c.t("read it from standard input", "표준 입력에서 읽습니다"))
	cmd.Flags().BoolVar(&remove, "remove", false, c.t("remove it", "없앱니다"))
	return cmd
}
