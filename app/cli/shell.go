package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"oxios/kernel/sys"
)

// completionCommand prints what makes a shell complete oxios.
func (c *console) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: c.t("Print the completion script of a shell", "셸 자동 완성 스크립트를 출력합니다"), Args: c.args(1, 1),
		Long: c.t("Prints a script that makes your shell complete oxios. The package of Oxios brings them installed.",
			"셸에서 oxios 명령을 자동 완성하는 스크립트를 출력합니다. Oxios 패키지에는 설치되어 있습니다."),
		Example:   "  source <(oxios completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(c.out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(c.out)
			case "fish":
				return cmd.Root().GenFishCompletion(c.out, true)
			}
			return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("There is no completion for %q.", "%q용 자동 완성은 없습니다."), args[0]),
				c.t("It is there for bash, zsh and fish.", "bash, zsh, fish를 지원합니다.")))
		},
	}
}

// manualCommand prints the page of man(1), for packages, or the same as
// Markdown, for docs/.
func (c *console) manualCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use: "manual", Short: c.t("Print the page of man", "man 페이지를 출력합니다"), Args: c.args(0, 0), Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if markdown {
				c.writeReference(cmd.Root())
				return nil
			}
			c.writeManual(cmd.Root())
			return nil
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, c.t("as Markdown", "Markdown으로 출력합니다"))
	return cmd
}

// explained calls command for each command that does something, in the order of
// their names, and after it option for each of its options.
func explained(root *cobra.Command, command func(*cobra.Command), option func(f *pflag.Flag, value, use string)) {
	walk(root, func(cmd *cobra.Command) {
		if cmd == root || !cmd.IsAvailableCommand() || cmd.Annotations[onlyHolds] != "" {
			return
		}
		command(cmd)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if value, use := pflag.UnquoteUsage(f); f.Name != "help" && !f.Hidden {
				option(f, value, use)
			}
		})
	})
}

// exitCodes are the exit codes with what they mean.
func (c *console) exitCodes() [][2]string {
	return [][2]string{
		{"0", c.t("It is done.", "끝났습니다.")},
		{"1", c.t("It failed, was stopped, was not found, or its task did not pass. The sentence on standard error says which.", "실패했거나, 멈췄거나, 찾지 못했거나, 과제의 기준을 충족하지 못했습니다. 표준 오류의 문장이 알려 줍니다.")},
		{"2", c.t("The command line is wrong.", "명령이 잘못되었습니다.")},
		{"3", c.t("oxios run: an approval waits, and nobody can answer here.", "oxios run: 승인이 필요한데 여기서 답할 사람이 없습니다.")},
		{"130", c.t("oxios run: Ctrl-C stopped the run.", "oxios run: Ctrl-C로 실행을 멈췄습니다.")},
	}
}

// writeManual writes one page about root and every command below it, in the
// macros of man(7).
func (c *console) writeManual(root *cobra.Command) {
	w := c.out
	fmt.Fprintf(w, ".TH OXIOS 1 \"\" \"oxios %s\" \"\"\n.SH NAME\noxios \\- %s\n", roff(c.deps.Version), roff(strings.TrimSuffix(root.Short, ".")))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B oxios\n[\\fIcommand\\fR] [\\fIoptions\\fR]\n.br\n.B oxios\\-desktop\n[\\fIlink\\fR]\n")
	fmt.Fprintf(w, ".SH DESCRIPTION\n%s\n.PP\n.B oxios\\-desktop\nis the window; a link oxios://session/ID opens that conversation in it.\n.SH COMMANDS\n", roff(root.Long))
	explained(root, func(cmd *cobra.Command) {
		fmt.Fprintf(w, ".SS %s\n%s.\n", roff(cmd.UseLine()), roff(strings.TrimSuffix(cmd.Short, ".")))
		if cmd.Long != "" {
			fmt.Fprintf(w, ".PP\n%s\n", roff(cmd.Long))
		}
	}, func(f *pflag.Flag, value, use string) {
		fmt.Fprintf(w, ".TP\n\\fB\\-\\-%s\\fR \\fI%s\\fR\n%s\n", roff(f.Name), roff(value), roff(use))
	})
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, e := range c.exitCodes() {
		fmt.Fprintf(w, ".TP\n%s\n%s\n", e[0], roff(e[1]))
	}
	fmt.Fprint(w, `.SH ENVIRONMENT
.TP
.B OXIOS_HOME
The folder with all data of Oxios, instead of ~/.oxios.
.SH FILES
.TP
.I ~/.oxios/config.toml
The settings; "oxios config get" explains them.
`)
}

// writeReference writes the same as Markdown.
func (c *console) writeReference(root *cobra.Command) {
	w := c.out
	fmt.Fprintf(w, "# %s\n\n", c.t("Command line", "명령줄"))
	fmt.Fprintf(w, "<!-- %s -->\n\n", c.t("Written by `go run ./build/gen` from app/cli. Do not edit.", "`go run ./build/gen`이 app/cli에서 만듭니다. 고치지 마세요."))
	fmt.Fprintf(w, "%s\n\n%s\n\n", root.Long, c.t(
		"With `--json` standard output is one JSON document on one line; a failure is `{\"error\": {\"code\", \"message\", \"hint\"}}` there.",
		"`--json`을 쓰면 표준 출력은 한 줄짜리 JSON 문서 하나이고, 실패하면 `{\"error\": {\"code\", \"message\", \"hint\"}}`입니다."))
	fmt.Fprintf(w, "| %s | %s |\n|---|---|\n", c.t("Exit code", "종료 코드"), c.t("Meaning", "뜻"))
	for _, e := range c.exitCodes() {
		fmt.Fprintf(w, "| %s | %s |\n", e[0], e[1])
	}
	var first bool // the next option is the first of its command
	explained(root, func(cmd *cobra.Command) {
		first = true
		text := strings.TrimSuffix(cmd.Short, ".") + "."
		if cmd.Long != "" {
			text = strings.ReplaceAll(cmd.Long, "\n  ", "\n\n    ")
		}
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n```\n%s\n```\n", cmd.CommandPath(), text, strings.TrimSpace(cmd.UseLine()+"\n"+strings.ReplaceAll("\n"+cmd.Example, "\n  ", "\n")))
	}, func(f *pflag.Flag, value, use string) {
		if first {
			fmt.Fprintf(w, "\n| %s | |\n|---|---|\n", c.t("Option", "옵션"))
			first = false
		}
		if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) {
			use += fmt.Sprintf(c.t(" (default `%s`)", " (기본값 `%s`)"), f.DefValue)
		}
		fmt.Fprintf(w, "| `%s` | %s |\n", strings.TrimSpace("--"+f.Name+" "+value), use)
	})
}

// roff makes text safe inside a page: a backslash or hyphen stands for itself,
// and no line of it is a macro.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
