package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel/sys"
)

// language is what a person reads.
type language int

const (
	english language = iota
	korean
)

// languagePattern finds the setting without the kernel, which a broken
// config.toml or a taken home must not keep from answering in the right words.
var languagePattern = sys.Pattern(`(?m)^[ \t]*language[ \t]*=[ \t]*["'](en|ko)["']`)

// languageOf is the language that config.toml names, else that of the
// environment.
func languageOf(home string, getenv func(string) string) language {
	raw, _ := os.ReadFile(filepath.Join(home, "config.toml")) // without it the environment decides
	if m := languagePattern().FindSubmatch(sys.WithoutMark(raw)); m != nil {
		if string(m[1]) == "ko" {
			return korean
		}
		return english
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := getenv(name); v != "" {
			if strings.HasPrefix(v, "ko") {
				return korean
			}
			return english
		}
	}
	return english
}

// t is a text in the person's language. Both stand side by side where they are
// used, so that neither can be forgotten.
func (c *console) t(en, ko string) string {
	if c.lang == korean {
		return ko
	}
	return en
}

// either is a text of the kernel, which brings both languages, in the
// person's. One without Korean is the same for both.
func (c *console) either(en, ko string) string { return sys.Words{EN: en, KO: ko}.In(c.lang == korean) }

// translate gives root and what hangs from it help in the person's language.
func (c *console) translate(root *cobra.Command) {
	root.SetUsageTemplate(c.usageTemplate())
	root.SetHelpCommand(&cobra.Command{
		Use: "help", Short: c.t("Explain a command", "명령을 설명합니다"),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return c.unknown(root, strings.Join(args, " "))
			}
			return target.Help()
		},
	})
	walk(root, func(cmd *cobra.Command) {
		cmd.DisableFlagsInUseLine = true // the template says it in the right language
		cmd.InitDefaultHelpFlag()
		if f := cmd.Flags().Lookup("help"); f != nil {
			f.Usage = c.t("explain this command", "이 명령을 설명합니다")
		}
	})
}

func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, child := range cmd.Commands() {
		walk(child, visit)
	}
}

func (c *console) usageTemplate() string {
	return c.t("Usage:", "사용법:") + `{{if .Runnable}}
  {{.UseLine}} ` + c.t("[options]", "[옵션]") + `{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} ` + c.t("[command]", "[명령]") + `{{end}}{{if .HasExample}}

` + c.t("Examples:", "예:") + `
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

` + c.t("Commands:", "명령:") + `{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

` + c.t("Options:", "옵션:") + `
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

` + c.t(`Explain a command: {{.CommandPath}} [command] --help`, `명령 설명: {{.CommandPath}} [명령] --help`) + `{{end}}
`
}
