// Package cli is the command line: the commands of `oxios`, one a file.
//
// It promises that a command gives the same answer whether it reaches a running
// Oxios over its socket or opens the home itself; that standard output carries
// the answer alone, and everything else goes to standard error; and that
// nothing an agent wrote can steer the terminal or stand in for a person's yes.
//
// # Exit codes
//
//	0    done
//	1    it failed, was stopped or was not found; the sentence says which
//	2    the command line itself is wrong
//	3    oxios run: an approval or a question waits and nobody can answer here
//	130  oxios run: Ctrl-C stopped the run
//
// # With --json
//
// Standard output is one JSON document on one line. A failure is the document
// {"error":{"code","message","hint"}} there, so that a script has one place to
// read, and a sentence on standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// The exit codes.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitWaiting = 3
	exitStopped = 130
)

// Deps is what the commands are made from. Version and Open are needed.
type Deps struct {
	Version  string
	Frontend fs.FS // the built front end, for serve

	// Open opens the kernel of a home for the face that will own it.
	Open func(ctx context.Context, home, owner string, log *slog.Logger) (*kernel.Kernel, error)

	// Restore puts a copy of the database in its place, in a home that nobody
	// uses, and returns where the replaced one was kept. Nil: doctor offers
	// no --restore.
	Restore func(ctx context.Context, home, backup string) (replaced string, err error)
}

// Main runs the command that args name and returns the exit code. Ctrl-C and
// SIGTERM end it in order; a second one ends it at once.
func Main(args []string, d Deps) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal finds the default again
	return execute(ctx, args, d, system())
}

// streams are what a command reads and writes. Tests bring their own.
type streams struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	getwd    func() (string, error)
	terminal func(stream any) bool // whether a stream of this struct is one
	after    func(time.Duration) <-chan time.Time
}

func system() streams {
	return streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, getwd: os.Getwd,
		terminal: func(s any) bool {
			f, ok := s.(*os.File)
			return ok && isTerminal(f)
		},
		after: time.After,
	}
}

// console is one command at work.
type console struct {
	streams
	deps Deps
	home string
	lang language
	json bool // the flag
}

func execute(ctx context.Context, args []string, d Deps, s streams) int {
	c := &console{streams: s, deps: d}
	var err error
	if c.home, err = homeOf(c.getenv); err == nil {
		c.lang = languageOf(c.home, c.getenv)
		err = c.root(args).ExecuteContext(ctx)
	}
	return c.exit(err, args)
}

// homeOf is $OXIOS_HOME, else the usual home.
func homeOf(getenv func(string) string) (string, error) {
	if home := getenv("OXIOS_HOME"); home != "" {
		return filepath.Abs(home)
	}
	return kernel.DefaultHome()
}

// exitError is an exit code, and what to say about it, if anything is left to
// be said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exits ends the command with a code; all has been said.
func exits(code int) error { return &exitError{code: code} }

// usage is a wrong command line.
func usage(err error) error { return &exitError{code: exitUsage, err: err} }

// exit says what err is and returns its code.
func (c *console) exit(err error, args []string) int {
	if err == nil {
		return 0
	}
	code := exitFailed
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
		if e.err == nil {
			return code
		}
	}
	problem := sys.AsError(err)
	if code == exitUsage && problem.Code == sys.CodeInternal {
		problem.Code = sys.CodeInvalid
	}
	c.explain(problem)
	// A flag that cobra stumbled over may stand before --json.
	if c.json || slices.Contains(args, "--json") {
		_ = c.writeJSON(map[string]*sys.Error{"error": problem})
	}
	return code
}

// root is the command `oxios` with all that hang from it.
func (c *console) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "oxios",
		Short: c.t("An operating system for AI agents.", "AI 에이전트를 위한 운영체제."),
		Long: c.t(
			"Oxios is an operating system for AI agents.\n\nWithout a command it opens the window. Every command talks to the Oxios that is running,\nor opens its home ($OXIOS_HOME, else ~/.oxios) itself when none is.",
			"Oxios는 AI 에이전트를 위한 운영체제입니다.\n\n명령 없이 실행하면 창을 엽니다. 모든 명령은 실행 중인 Oxios에 연결하고,\n없으면 데이터 폴더($OXIOS_HOME, 없으면 ~/.oxios)를 직접 엽니다."),
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !isLink(args[0]) {
				return c.unknown(cmd, args[0])
			}
			return c.openDesktop(args)
		},
	}
	root.AddCommand(c.commands(args)...)
	root.SetArgs(args)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		what, hint := c.wrongOption(err)
		if hint == "" {
			hint = fmt.Sprintf(c.t("See `%s --help`.", "`%s --help`를 보세요."), cmd.CommandPath())
		}
		return usage(c.fail(sys.CodeInvalid, what, hint))
	})
	c.translate(root)
	return root
}

// topCommands are the commands by the word that names them.
var topCommands = []struct {
	name string
	make func(*console) *cobra.Command
}{
	{"serve", (*console).serveCommand},
	{"quick", (*console).quickCommand},
	{"run", (*console).runCommand},
	{"approvals", (*console).approvalsCommand},
	{"grants", (*console).grantsCommand},
	{"taint", (*console).taintCommand},
	{"permissions", (*console).permissionsCommand},
	{"answer", (*console).answerCommand},
	{"seeds", (*console).seedsCommand},
	{"inbox", (*console).inboxCommand},
	{"ps", (*console).psCommand},
	{"kill", (*console).killCommand},
	{"pause", (*console).pauseCommand},
	{"resume", (*console).resumeCommand},
	{"message", (*console).messageCommand},
	{"wait", (*console).waitCommand},
	{"a2a", (*console).a2aCommand},
	{"runs", (*console).runsCommand},
	{"replay", (*console).replayCommand},
	{"undo", (*console).undoCommand},
	{"redo", (*console).redoCommand},
	{"sessions", (*console).sessionsCommand},
	{"audit", (*console).auditCommand},
	{"events", (*console).eventsCommand},
	{"config", (*console).configCommand},
	{"models", (*console).modelsCommand},
	{"providers", (*console).providersCommand},
	{"keys", (*console).keysCommand},
	{"memory", (*console).memoryCommand},
	{"spaces", (*console).spacesCommand},
	{"tools", (*console).toolsCommand},
	{"mcp", (*console).mcpCommand},
	{"skills", (*console).skillsCommand},
	{"prompt", (*console).promptCommand},
	{"web", (*console).webCommand},
	{"vault", (*console).vaultCommand},
	{"doctor", (*console).doctorCommand},
	{"demo", (*console).demoCommand},
	{"version", (*console).versionCommand},
	{"folders", (*console).foldersCommand},
	{"backup", (*console).backupCommand},
	{"restore", (*console).restoreCommand},
	{"storage", (*console).storageCommand},
	{"budget", (*console).budgetCommand},
	{"cost", (*console).costCommand},
	{"resources", (*console).resourcesCommand},
	{"policy", (*console).policyCommand},
	{"address", (*console).addressCommand},
	{"service", (*console).serviceCommand},
	{"autostart", (*console).autostartCommand},
	{"completion", (*console).completionCommand},
	{"manual", (*console).manualCommand},
}

// commands are those that args may mean: only the one that its first word names,
// as all of them take as long to make as the rest of a start takes. What speaks of
// the whole, as help does, gets the whole.
func (c *console) commands(args []string) []*cobra.Command {
	var all []*cobra.Command
	for _, t := range topCommands {
		if len(args) > 0 && args[0] == t.name && t.name != "completion" && t.name != "manual" {
			return []*cobra.Command{t.make(c)}
		}
	}
	for _, t := range topCommands {
		all = append(all, t.make(c))
	}
	return all
}

// onlyHolds marks a command that does nothing itself.
const onlyHolds = "only holds others"

// group is a command that only holds others.
func (c *console) group(use, en, ko string, children ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{
		Use: use, Short: c.t(en, ko), Args: cobra.ArbitraryArgs, Annotations: map[string]string{onlyHolds: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return c.unknown(cmd, args[0])
			}
			if err := cmd.Help(); err != nil {
				return err
			}
			return exits(exitUsage)
		},
	}
	g.AddCommand(children...)
	return g
}

// unknown is a command that does not exist, with what may have been meant.
func (c *console) unknown(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	e := sys.Errorf(sys.CodeInvalid, c.t("There is no command %q.", "%q 명령은 없습니다."), cmd.CommandPath()+" "+name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return usage(e.WithHint(c.t("Did you mean `%s %s`?", "`%s %s`을(를) 찾으셨나요?"), cmd.CommandPath(), near[0]))
	}
	return usage(e.WithHint(c.t("`%s --help` lists them.", "`%s --help`에서 목록을 볼 수 있습니다."), cmd.CommandPath()))
}

// wrongOption says in the person's words what is wrong with an option.
func (c *console) wrongOption(err error) (what, hint string) {
	var unknown *pflag.NotExistError
	var lacks *pflag.ValueRequiredError
	var value *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if group := unknown.GetSpecifiedShortnames(); group != "" {
			name = "-" + group
		}
		if _, err := strconv.ParseFloat(name, 64); err == nil {
			hint = c.t("Write -- before what begins with - and is no option.", "-로 시작하지만 옵션이 아닌 것 앞에는 --를 쓰세요.")
		}
		return fmt.Sprintf(c.t("There is no option %s.", "%s 옵션은 없습니다."), name), hint
	case errors.As(err, &lacks):
		return fmt.Sprintf(c.t("The option --%s lacks its value.", "--%s 옵션에 값이 빠졌습니다."), lacks.GetFlag().Name), ""
	case errors.As(err, &value):
		if must := c.mustBe(value.GetFlag().Value.Type()); must != "" {
			return fmt.Sprintf(c.t("--%s is %q, but must be %s.", "--%s의 값 %q은(는) %s 합니다."), value.GetFlag().Name, value.GetValue(), must), ""
		}
	case errors.As(err, &syntax):
		return fmt.Sprintf(c.t("%q is no option.", "%q은(는) 옵션이 아닙니다."), syntax.GetSpecifiedFlag()), ""
	}
	return fmt.Sprintf(c.t("Wrong option: %v.", "옵션이 잘못되었습니다: %v."), err), ""
}

// mustBe is what a value of a kind of option has to be, "" where any will do.
func (c *console) mustBe(kind string) string {
	switch kind {
	case "bool":
		return c.t("true or false", "true나 false여야")
	case "int":
		return c.t("a whole number", "정수여야")
	case "float64":
		return c.t("a number", "숫자여야")
	case "duration":
		return c.t("a time like 90s or 10m", "90s나 10m 같은 시간이어야")
	}
	return ""
}

// args checks how many arguments a command gets.
func (c *console) args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		what := c.t("`%s` lacks an argument.", "`%s`에 인자가 빠졌습니다.")
		if len(args) > least {
			what = c.t("`%s` got too many arguments.", "`%s`에 인자가 너무 많습니다.")
		}
		return usage(sys.Errorf(sys.CodeInvalid, what, cmd.CommandPath()).WithHint(c.t("It is used like this: %s", "사용법: %s"), cmd.UseLine()))
	}
}

// withJSON gives cmd the flag --json.
func (c *console) withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&c.json, "json", false, c.t("print one JSON document", "JSON 문서 하나로 출력합니다"))
	return cmd
}
