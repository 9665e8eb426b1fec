package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) mcpCommand() *cobra.Command {
	return c.group("mcp", "Manage MCP servers, which lend tools to agents", "에이전트에게 도구를 빌려 주는 MCP 서버를 관리합니다",
		c.mcpList(), c.mcpShow(), c.mcpAdd(), c.mcpInstall(), c.mcpUpdate(), c.mcpConnect(), c.mcpTools(), c.mcpCall(), c.mcpResources(), c.mcpPrompts(), c.mcpAccept(),
		c.mcpEnable("enable", "Turn a server on", "서버를 켭니다", true), c.mcpEnable("disable", "Turn a server off and end it", "서버를 끄고 종료합니다", false),
		c.mcpLogin(), c.mcpLogout(), c.mcpKey(), c.mcpLog(), c.mcpRemove(), c.mcpImport(), c.mcpServe(), c.mcpClients())
}

// serverState is the state of a server in words.
func (c *console) serverState(state string) string {
	switch state {
	case "off":
		return c.t("off", "꺼짐")
	case "configured":
		return c.t("not connected yet", "연결한 적 없음")
	case "known":
		return c.t("ready", "준비됨")
	case "changed":
		return c.t("changed: review it", "바뀜: 확인 필요")
	case "running":
		return c.t("running", "실행 중")
	case "broken":
		return c.t("keeps stopping", "계속 종료됨")
	case "sign-in":
		return c.t("sign in needed", "로그인 필요")
	case "unusable":
		return c.t("cannot be used", "쓸 수 없음")
	}
	return state
}

func (c *console) serverEffect(e kernel.MCPEffect) string {
	switch e {
	case "none":
		return c.t("compute only", "계산만")
	case "read":
		return c.t("read its folders", "폴더 읽기")
	case "write":
		return c.t("change its folders", "폴더 변경")
	case "network":
		return c.t("connect to the internet (asks each time)", "인터넷 연결 (매번 확인)")
	}
	return c.t("nothing: every call asks", "없음: 호출마다 확인")
}

func (c *console) mcpList() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("List the servers", "서버를 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			items, err := l.MCP.Servers(ctx)
			if err != nil {
				return err
			}
			head := []string{c.t("SERVER", "서버"), c.t("STATE", "상태"), c.t("TOOLS", "도구"), c.t("WITHOUT APPROVAL", "승인 없이")}
			empty := c.t("No servers yet. Add one: oxios mcp add NAME -- COMMAND", "아직 서버가 없습니다. 추가: oxios mcp add NAME -- COMMAND")
			return list(c, items, empty, head, func(v kernel.MCPView) []string {
				return []string{v.Name, c.serverState(v.State) + c.serverOrigin(v), fmt.Sprint(len(v.Known.Tools)), c.serverEffect(v.Server.Effect)}
			})
		}),
	})
}

// serverOf returns one server of those that there are.
func (c *console) serverOf(ctx context.Context, l *link, name string) (kernel.MCPView, error) {
	items, err := l.MCP.Servers(ctx)
	for _, v := range items {
		if v.Name == name {
			return v, nil
		}
	}
	if err == nil {
		err = c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("There is no server %q.", "이름이 %q인 서버가 없습니다."), name), c.t("`oxios mcp list` shows them.", "`oxios mcp list` 명령으로 서버 목록을 확인하세요."))
	}
	return kernel.MCPView{}, err
}

func (c *console) mcpShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show NAME", Short: c.t("Show a server, its tools and what changed in them", "서버와 도구, 바뀐 내용을 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := c.serverOf(ctx, l, args[0])
			if err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
}

func (c *console) showServer(v kernel.MCPView) error {
	if c.json {
		return c.writeJSON(v)
	}
	c.printf("%s: %s", v.Name, c.serverState(v.State))
	line := func(en, ko, value string) {
		if value != "" {
			c.printf("  %s %s", c.t(en, ko), oneLine(value))
		}
	}
	for _, said := range c.originLines(v) {
		line("From:", "출처:", said)
	}
	line("Program:", "프로그램:", strings.TrimSpace(v.Known.Title+" "+v.Known.Version))
	line("Command:", "명령:", strings.TrimSpace(strings.Join(append([]string{v.Server.Command}, v.Server.Args...), " ")))
	for _, said := range c.packageLines(v) {
		line("Package:", "패키지:", said)
	}
	line("Address:", "주소:", v.Server.URL)
	line("Headers:", "헤더:", strings.Join(v.Server.Headers, ", "))
	for _, said := range c.signInLines(v) {
		line("Sign-in:", "로그인:", said)
	}
	line("Protocol:", "프로토콜:", v.Known.Protocol)
	line("Extensions:", "확장 기능:", strings.Join(v.Known.Extensions, ", "))
	line("Reads:", "읽는 폴더:", strings.Join(v.Server.Read, ", "))
	line("Changes:", "변경하는 폴더:", strings.Join(v.Server.Write, ", "))
	if v.Server.Network {
		line("Network:", "네트워크:", c.t("can connect to the internet", "인터넷에 연결할 수 있음"))
	}
	line("Without approval:", "승인 없이:", c.serverEffect(v.Server.Effect))
	if v.Server.Always {
		line("Tools:", "도구:", c.t("offered to every run", "모든 실행에 제공"))
	}
	if v.Server.Sampling {
		line("Model:", "모델:", c.t("can be asked, each time with your approval", "승인을 받아 물을 수 있음"))
	}
	for _, t := range v.Known.Tools {
		c.printf("  %s  %s", t.Call, short(t.Description, 90))
	}
	for _, t := range v.Known.Left {
		c.printf("  %s %s", c.t("Left out:", "제외됨:"), oneLine(t.Name+" · "+t.Why.In(c.lang == korean)))
	}
	if v.Known.Changed == nil {
		return nil
	}
	c.printf("%s", c.t("The server now offers something else:", "서버의 도구가 바뀌었습니다:"))
	for _, row := range changedTools(v.Known.Tools, v.Known.Changed.Tools) {
		c.printf("  %s", row)
	}
	if was, is := v.Known.Instructions, v.Known.Changed.Instructions; was != is {
		row := func(sign, text string) {
			if text != "" {
				c.printf("  %s %s %s", sign, c.t("Instructions:", "사용 지침:"), oneLine(text))
			}
		}
		row("-", was)
		row("+", is)
	}
	c.note(c.t("Accept it with `oxios mcp accept %s %s`, or remove the server.", "`oxios mcp accept %s %s` 명령으로 수락하거나 서버를 제거하세요."), v.Name, v.Known.Changed.Hash[:12])
	return nil
}

// changedTools are the lines of two lists of tools that differ: what was with "-", what is with "+". Characters that cannot
// be seen were made visible by [safe].
func changedTools(before, after []kernel.MCPTool) (rows []string) {
	text := func(t kernel.MCPTool) string {
		return oneLine(t.Call + "  " + t.Title + "  " + t.Description + "  " + string(t.Schema) + "  " + string(t.Output))
	}
	old := map[string]string{}
	for _, t := range before {
		old[t.Call] = text(t)
	}
	for _, t := range after {
		was, known := old[t.Call]
		delete(old, t.Call)
		switch now := text(t); {
		case !known:
			rows = append(rows, "+ "+now)
		case was != now:
			rows = append(rows, "- "+was, "+ "+now)
		}
	}
	for _, t := range before {
		if was, gone := old[t.Call]; gone {
			rows = append(rows, "- "+was)
		}
	}
	return rows
}

func (c *console) mcpAdd() *cobra.Command {
	var def kernel.MCPServer
	var effect string
	var env map[string]string
	var elsewhere remoteFlags
	cmd := c.withJSON(&cobra.Command{
		Use: "add NAME [--url URL | -- COMMAND [ARG…]]", Short: c.t("Add a server and connect it", "서버를 추가하고 연결합니다"), Args: c.args(1, -1),
		Example: "  oxios mcp add notes -- npx -y notes-server\n  oxios mcp add tracker --url https://mcp.example.com/mcp",
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if err := elsewhere.into(c, &def, args[1:]); err != nil {
				return err
			}
			def.Effect, def.Env = kernel.MCPEffect(effect), env
			for _, list := range [][]string{def.Read, def.Write} {
				for i := range list {
					if err := c.here(&list[i]); err != nil {
						return err
					}
				}
			}
			switch _, err := c.serverOf(ctx, l, args[0]); {
			case err == nil:
				return c.fail(sys.CodeConflict, fmt.Sprintf(c.t("There is a server %q already. Nothing was changed.", "이름이 %q인 서버가 이미 있습니다. 바뀐 것은 없습니다."), args[0]), c.t("Choose another name, or remove that one first.", "다른 이름을 고르거나 그 서버를 먼저 제거하세요."))
			case sys.CodeOf(err) != sys.CodeNotFound:
				return err
			}
			added, err := l.MCP.Set(ctx, args[0], def)
			if err != nil {
				return err
			}
			if err := elsewhere.keys(ctx, c, l, args[0]); err != nil {
				return err
			}
			var v kernel.MCPView
			if err = c.installFirst(ctx, l, added); err == nil {
				v, err = l.MCP.Connect(ctx, args[0])
			}
			if err != nil {
				c.note(c.t("The server was added, but not connected.", "서버를 추가했지만 연결하지 못했습니다."))
				return err
			}
			return c.showServer(v)
		}),
	})
	elsewhere.flags(c, cmd)
	f := cmd.Flags()
	f.StringSliceVar(&def.Read, "read", nil, c.t("`folders` that it sees, with commas between them", "볼 수 있는 `폴더`. 쉼표로 나눕니다"))
	f.StringSliceVar(&def.Write, "write", nil, c.t("`folders` that it can change", "변경할 수 있는 `폴더`"))
	f.BoolVar(&def.Network, "network", false, c.t("let it connect to the internet", "인터넷에 연결할 수 있게 합니다"))
	f.StringVar(&effect, "allow", "", c.t("what its tools can do without approval: none, read, write or network", "승인 없이 할 수 있는 일: none, read, write, network"))
	f.BoolVar(&def.Always, "always", false, c.t("offer its tools to every run", "모든 실행에 이 서버의 도구를 제공합니다"))
	f.BoolVar(&def.Sampling, "sampling", false, c.t("let it ask the model, each time with your approval", "승인을 받아 모델에 물을 수 있게 합니다"))
	f.StringToStringVar(&env, "env", nil, c.t("`NAME=VALUE` for its environment", "환경 변수 `NAME=VALUE`"))
	return cmd
}

func (c *console) mcpConnect() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "connect NAME", Short: c.t("Start a server and read what it offers", "서버를 시작하고 도구를 읽습니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := c.serverOf(ctx, l, args[0])
			if err == nil {
				err = c.installFirst(ctx, l, v)
			}
			if err == nil {
				v, err = l.MCP.Connect(ctx, args[0])
			}
			if err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
}

func (c *console) mcpTools() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "tools [NAME]", Short: c.t("List the tools that agents are offered", "에이전트가 쓸 수 있는 서버 도구를 봅니다"), Args: c.args(0, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			all, err := l.MCP.Tools(ctx)
			if err != nil {
				return err
			}
			items := all[:0:0]
			for _, t := range all {
				if len(args) == 0 || t.Server == args[0] {
					items = append(items, t)
				}
			}
			head := []string{c.t("TOOL", "도구"), c.t("WHAT IT DOES", "하는 일")}
			return list(c, items, c.t("No tools.", "도구가 없습니다."), head, func(t kernel.MCPTool) []string {
				return []string{t.Call, short(t.Description, 90)}
			})
		}),
	})
}

func (c *console) mcpCall() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "call NAME TOOL ['{…}']", Short: c.t("Call a tool of a server", "서버의 도구를 호출합니다"), Args: c.args(2, 3),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			in := kernel.MCPCall{Server: args[0], Tool: args[1]}
			if len(args) == 3 {
				var err error
				if in.Args, err = c.jsonArg(args[2]); err != nil {
					return err
				}
			}
			r, err := asking(ctx, c, l, func() (kernel.MCPResult, error) { return l.MCP.Call(ctx, in) })
			if err != nil {
				return err
			}
			if c.json {
				err = c.writeJSON(r)
			} else {
				c.printf("%s", safe(r.Text))
			}
			if r.Failed && err == nil {
				return exits(exitFailed)
			}
			return err
		}),
	})
}

func (c *console) mcpAccept() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "accept NAME HASH", Short: c.t("Accept what a server offers now; `mcp show` shows the difference and the hash", "서버의 바뀐 도구를 수락합니다. `mcp show`로 차이와 해시를 봅니다"), Args: c.args(2, 2),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := c.serverOf(ctx, l, args[0])
			if err != nil {
				return err
			}
			hash := args[1]
			if ch := v.Known.Changed; ch != nil && len(hash) >= 8 && strings.HasPrefix(ch.Hash, hash) {
				hash = ch.Hash
			}
			if v, err = l.MCP.Accept(ctx, args[0], hash); err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
}

func (c *console) mcpEnable(use, en, ko string, on bool) *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: use + " NAME", Short: c.t(en, ko), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := l.MCP.Enable(ctx, args[0], on)
			if err != nil {
				return err
			}
			return c.showServer(v)
		}),
	})
}

func (c *console) mcpLog() *cobra.Command {
	return &cobra.Command{
		Use: "log NAME", Short: c.t("Show what a server wrote to its log", "서버의 로그를 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			text, err := l.MCP.Log(ctx, args[0])
			if err != nil {
				return err
			}
			c.printf("%s", safe(strings.TrimRight(text, "\n")))
			return nil
		}),
	}
}

func (c *console) mcpRemove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: c.t("Remove a server and delete its folder", "서버를 제거하고 폴더를 삭제합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if _, err := c.serverOf(ctx, l, args[0]); err != nil {
				return err
			}
			if !yes {
				if err := c.sure(fmt.Sprintf(c.t("Remove the server %s, with its folder and what is known of it?", "%s 서버를 폴더와 저장된 정보와 함께 제거할까요?"), args[0])); err != nil {
					return err
				}
			}
			if err := l.MCP.Remove(ctx, args[0]); err != nil {
				return err
			}
			c.printf(c.t("%s: removed", "%s: 제거함"), args[0])
			return nil
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	return cmd
}
