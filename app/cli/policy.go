package cli

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) policyCommand() *cobra.Command {
	return c.group("policy", "What policy says about something, without doing it", "실제로 하지 않고 정책의 판단만 봅니다",
		c.policyOfCommand(), c.policyOfPath(), c.policyOfURL(), c.policyRedact())
}

func (c *console) policyOfCommand() *cobra.Command {
	var shell, folder string
	batch := ""
	cmd := &cobra.Command{
		Use: "command LINE", Short: c.t("Judge a command line; it is not run", "명령줄을 판단합니다. 실행하지 않습니다"), Args: c.args(0, 1),
		Long: c.t("Says whether a command line only reads, needs an approval, or is refused whoever approves it, and which part of it is the reason.\nA batch has one JSON object a line: {\"id\",\"cmd\",\"shell\"}. It is judged as in a folder of a made-up home, unless --folder names one.",
			"명령줄이 읽기만 하는지, 승인이 필요한지, 승인해도 거부되는지와 그 원인이 된 부분을 알려 줍니다.\n묶음은 한 줄에 JSON 객체 하나입니다: {\"id\",\"cmd\",\"shell\"}. --folder가 없으면 가상의 홈 안 폴더에서 실행하는 것으로 판단합니다."),
		Example: "  oxios policy command 'git log | head'\n  oxios policy command --batch commands.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"bash", "powershell", "cmd"}, shell) {
				return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("There is no shell %q: use bash, powershell or cmd.", "%q 셸은 없습니다: bash, powershell, cmd 중에서 고르세요."), shell), ""))
			}
			if batch != "" {
				place, err := c.policyPlace(folder, true)
				if err != nil {
					return err
				}
				return c.batch(cmd, args, batch, func(_ context.Context, row policyRow) (any, error) {
					if row.Cmd == nil {
						return nil, errLacks("cmd")
					}
					v := place.Command(*row.Cmd, firstOf(row.Shell, shell))
					v.ID = row.ID
					return v, nil
				})
			}
			return c.one(cmd, args, func(_ context.Context, line string) (kernel.PolicyVerdict, error) {
				place, err := c.policyPlace(folder, false)
				return place.Command(line, shell), err
			})
		},
	}
	cmd.Flags().StringVar(&shell, "shell", "bash", c.t("bash, powershell or cmd", "bash, powershell 또는 cmd"))
	c.folderFlag(cmd, &folder)
	return c.policyFlags(cmd, &batch)
}

func (c *console) policyOfPath() *cobra.Command {
	var op, folder string
	batch := ""
	cmd := &cobra.Command{
		Use: "path PATH", Short: c.t("Judge the use of a file; it is not touched", "파일 사용을 판단합니다. 파일은 건드리지 않습니다"), Args: c.args(0, 1),
		Long: c.t("Says whether an agent that works in the folder may use a file, must ask, or never may, following links.\nA batch has one JSON object a line: {\"id\",\"kind\",\"op\",\"path\",\"fs\"}. Rows of the kind fs, string and race are tried with the functions of the file tools,\nin a temporary folder that is made from fs; path_fs_trees.json beside the batch names trees.",
			"폴더에서 일하는 에이전트가 파일을 쓸 수 있는지, 물어야 하는지, 절대 안 되는지를 링크를 따라가며 알려 줍니다.\n묶음은 한 줄에 JSON 객체 하나입니다: {\"id\",\"kind\",\"op\",\"path\",\"fs\"}. kind가 fs, string, race인 줄은 fs로 만든 임시 폴더에서\n파일 도구의 함수로 실제로 시험하며, 묶음 옆의 path_fs_trees.json에 이름 붙은 트리를 둘 수 있습니다."),
		Example: "  oxios policy path ~/.ssh/id_ed25519\n  oxios policy path .git/hooks/pre-commit --op write",
		RunE: func(cmd *cobra.Command, args []string) error {
			if batch != "" {
				place, err := c.policyPlace(folder, true)
				if err != nil {
					return err
				}
				trees, err := c.trees(batch)
				if err != nil {
					return err
				}
				return c.batch(cmd, args, batch, func(_ context.Context, row policyRow) (any, error) {
					if row.Path == nil {
						return nil, errLacks("path")
					}
					return c.pathRow(place, row, firstOf(row.Op, op), trees)
				})
			}
			return c.one(cmd, args, func(_ context.Context, name string) (kernel.PolicyVerdict, error) {
				place, err := c.policyPlace(folder, false)
				return place.Path(name, op, true), err
			})
		},
	}
	cmd.Flags().StringVar(&op, "op", "read", c.t("the `operation`: read, write, delete, …", "`작업`: read, write, delete, …"))
	c.folderFlag(cmd, &folder)
	return c.policyFlags(cmd, &batch)
}

func (c *console) pathRow(place kernel.PolicyPlace, row policyRow, op string, trees map[string][]string) (v kernel.PolicyVerdict, err error) {
	if row.Kind == "" || row.Kind == "policy" {
		v = place.Path(*row.Path, op, false)
	} else if v, err = kernel.PolicyPathTrial(kernel.PathTrial{Kind: row.Kind, Op: op, Path: *row.Path, FS: row.FS, Target: row.Target}, row.Expect, trees); err != nil {
		return v, err
	}
	v.ID = row.ID
	return v, nil
}

func (c *console) policyOfURL() *cobra.Command {
	var grants []string
	batch := ""
	cmd := &cobra.Command{
		Use: "url URL", Short: c.t("Judge a web address; it is not opened", "웹 주소를 판단합니다. 열지 않습니다"), Args: c.args(0, 1),
		Long: c.t("Says whether an agent could reach a web address. The name is looked up, every answer is checked, and nothing is opened.\nA batch has one JSON object a line: {\"id\",\"url\",\"dns\",\"redirect\"}. It brings its own answers of name servers and machines, and nothing is looked up.",
			"에이전트가 웹 주소에 닿을 수 있는지 알려 줍니다. 이름을 찾아 모든 답을 검사하며, 아무것도 열지 않습니다.\n묶음은 한 줄에 JSON 객체 하나입니다: {\"id\",\"url\",\"dns\",\"redirect\"}. 이름 서버와 기기의 응답을 함께 담으며, 실제로 찾지 않습니다."),
		Example: "  oxios policy url https://example.com/\n  oxios policy url http://192.168.1.10/ --grant 192.168.1.0/24",
		RunE: func(cmd *cobra.Command, args []string) error {
			granted, err := c.grants(grants)
			if err != nil {
				return err
			}
			if batch != "" {
				return c.batch(cmd, args, batch, func(ctx context.Context, row policyRow) (any, error) {
					if row.URL == nil {
						return nil, errLacks("url")
					}
					v := kernel.PolicyURLTrial(ctx, *row.URL, row.DNS, row.Redirect, granted)
					v.ID = row.ID
					return v, nil
				})
			}
			return c.one(cmd, args, func(ctx context.Context, address string) (kernel.PolicyVerdict, error) {
				return kernel.PolicyURL(ctx, address, granted), nil
			})
		},
	}
	cmd.Flags().StringArrayVar(&grants, "grant", nil, c.t("judge as if you had opened this `address` or range of your own network", "내부 네트워크의 이 `주소`나 범위를 열어 준 것으로 판단합니다"))
	return c.policyFlags(cmd, &batch)
}

// grants reads addresses and ranges of addresses.
func (c *console) grants(list []string) ([]netip.Prefix, error) {
	var granted []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if a, aerr := netip.ParseAddr(s); err != nil && aerr == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q is neither an address nor a range such as 192.168.1.0/24.", "%q은(는) 주소도, 192.168.1.0/24 같은 범위도 아닙니다."), s), ""))
		}
		granted = append(granted, p)
	}
	return granted, nil
}

// maxRedact is how much text is masked at once, in bytes.
const maxRedact = 64 << 20

func (c *console) policyRedact() *cobra.Command {
	batch := ""
	cmd := &cobra.Command{
		Use: "redact [TEXT|-]", Short: c.t("Mask what looks like a secret in a text", "텍스트에서 비밀로 보이는 것을 가립니다"), Args: c.args(0, 1),
		Long: c.t("Prints the text, or standard input, with passwords, keys and tokens masked.\nA batch has one JSON object a line: {\"id\",\"text\"}.",
			"텍스트나 표준 입력에서 비밀번호, 키, 토큰을 가려 출력합니다.\n묶음은 한 줄에 JSON 객체 하나입니다: {\"id\",\"text\"}."),
		Example: "  oxios policy redact 'password=hunter2x'\n  oxios policy redact - < log.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			if batch != "" {
				return c.batch(cmd, args, batch, func(_ context.Context, row policyRow) (any, error) {
					if row.Text == nil {
						return nil, errLacks("text")
					}
					return redactedText{row.ID, kernel.Redact(*row.Text)}, nil
				})
			}
			text := strings.Join(args, "")
			if text == "-" || len(args) == 0 {
				raw, err := io.ReadAll(io.LimitReader(c.in, maxRedact+1))
				if err != nil {
					return err
				}
				if len(raw) > maxRedact {
					return c.fail(sys.CodeInvalid, c.t("The text is longer than 64 MB.", "텍스트가 64MB보다 깁니다."), "")
				}
				text = string(raw)
			}
			out := kernel.Redact(text)
			if c.json {
				return c.writeJSON(redactedText{Text: out})
			}
			if c.terminal(c.out) {
				out = safe(out)
			}
			if _, err := io.WriteString(c.out, out); err != nil || strings.HasSuffix(out, "\n") {
				return err
			}
			c.printf("")
			return nil
		},
	}
	return c.policyFlags(cmd, &batch)
}

func (c *console) policyFlags(cmd *cobra.Command, batch *string) *cobra.Command {
	cmd.Flags().StringVar(batch, "batch", "", c.t("judge each line of this `file` (- for standard input), one JSON line each", "이 `파일`(표준 입력은 -)의 줄마다 판단해 JSON 한 줄씩 출력합니다"))
	return c.withJSON(cmd)
}

func (c *console) folderFlag(cmd *cobra.Command, folder *string) {
	cmd.Flags().StringVar(folder, "folder", "", c.t("the `folder` that the agent works in; this one without it", "에이전트가 일하는 `폴더` (없으면 현재 폴더)"))
}

// one judges what the command line holds and says the verdict. A verdict is an
// answer, whatever it is: the exit code is 0.
func (c *console) one(cmd *cobra.Command, args []string, judge func(context.Context, string) (kernel.PolicyVerdict, error)) error {
	if err := c.args(1, 1)(cmd, args); err != nil {
		return err
	}
	v, err := judge(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(v)
	}
	c.printf(c.t("%s (tier %d): %s", "%s (등급 %d): %s"), v.Verdict, v.Tier, oneLine(c.t(v.Reason, v.ReasonKO)))
	if v.Part != "" && v.Part != args[0] {
		c.printf("  %s", oneLine(v.Part))
	}
	return nil
}
