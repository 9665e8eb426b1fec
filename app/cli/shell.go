package cli

import (
	"fmt"
	"io"
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

// manualCommand prints the page of man(1), for packages.
func (c *console) manualCommand() *cobra.Command {
	return &cobra.Command{
		Use: "manual", Short: c.t("Print the page of man", "man 페이지를 출력합니다"), Args: c.args(0, 0), Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			writeManual(c.out, cmd.Root(), c.deps.Version)
			return nil
		},
	}
}

// writeManual writes one page about root and every command below it, in the
// macros of man(7).
func writeManual(w io.Writer, root *cobra.Command, version string) {
	fmt.Fprintf(w, ".TH OXIOS 1 \"\" \"oxios %s\" \"\"\n.SH NAME\noxios \\- %s\n", roff(version), roff(strings.TrimSuffix(root.Short, ".")))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B oxios\n[\\fIcommand\\fR] [\\fIoptions\\fR]\n.br\n.B oxios\\-desktop\n[\\fIlink\\fR]\n")
	fmt.Fprintf(w, ".SH DESCRIPTION\n%s\n.PP\n.B oxios\\-desktop\nis the window; a link oxios://session/ID opens that conversation in it.\n.SH COMMANDS\n", roff(root.Long))
	walk(root, func(cmd *cobra.Command) {
		if cmd == root || !cmd.IsAvailableCommand() || cmd.HasSubCommands() {
			return
		}
		fmt.Fprintf(w, ".SS %s\n%s.\n", roff(cmd.UseLine()), roff(strings.TrimSuffix(cmd.Short, ".")))
		if cmd.Long != "" {
			fmt.Fprintf(w, ".PP\n%s\n", roff(cmd.Long))
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, use := pflag.UnquoteUsage(f)
			if f.Name != "help" && !f.Hidden {
				fmt.Fprintf(w, ".TP\n\\fB\\-\\-%s\\fR \\fI%s\\fR\n%s\n", roff(f.Name), roff(value), roff(use))
			}
		})
	})
	fmt.Fprint(w, `.SH EXIT STATUS
.TP
0
It is done.
.TP
1
It failed, was stopped or was not found; the sentence on standard error says which.
.TP
2
The command line is wrong.
.TP
3
.B oxios run:
an approval waits, and nobody can answer here.
.TP
130
.B oxios run:
Ctrl\-C stopped the run.
.SH ENVIRONMENT
.TP
.B OXIOS_HOME
The folder with all data of Oxios, instead of ~/.oxios.
.SH FILES
.TP
.I ~/.oxios/config.toml
The settings; "oxios config get" explains them.
`)
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
