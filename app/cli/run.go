package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// maxStdin is how much of standard input is read: more than the kernel takes,
// so that its sentence names the size.
const maxStdin = 12 << 20

// runFlags are the flags of `oxios run`.
type runFlags struct {
	session, provider, model, mode, role, name, folder string
	space                                              string // its name; "" finds it out
	insteadOf                                          string // a run, or a part of its id
	attach                                             []string

	timeout    time.Duration
	maxCost    *float64
	agents     *int
	noWait     bool
	trust      bool
	background bool
}

func (c *console) runCommand() *cobra.Command {
	var f runFlags
	var most float64
	var agents int
	cmd := &cobra.Command{
		Use:   `run [message]`,
		Short: c.t("Say something to an agent and wait for what comes of it", "에이전트에게 일을 시키고 결과를 기다립니다"),
		Long: c.t(
			"Says something to an agent and waits for what comes of it. The agent works in the current folder.\nThe message is read from standard input when there is none, or when it is -.\n\nThe answer goes to standard output, what the agent does to standard error.\nExit codes: 0 done, 1 failed or stopped, 2 wrong use, 3 an approval waits and nobody can answer here, 130 Ctrl-C.",
			"에이전트에게 일을 시키고 결과를 기다립니다. 에이전트는 현재 폴더에서 일합니다.\n메시지가 없거나 -이면 표준 입력에서 읽습니다.\n\n답은 표준 출력으로, 진행 상황은 표준 오류로 나옵니다.\n종료 코드: 0 완료, 1 실패 또는 중지, 2 잘못된 사용, 3 승인이 필요한데 여기서 답할 사람이 없음, 130 Ctrl-C."),
		Example: `  oxios run "Write a hello file"
  git diff | oxios run -
  oxios run --attach report.pdf "What does page 3 say?"
  oxios run --max-cost 0.50 "Sum up this folder"
  oxios run --agents 3 "Compare these three folders"
  oxios run --json --mode ask "Tidy this folder" | jq .response`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.insteadOf == "" && len(f.attach) == 0 && c.terminal(c.in) {
				if err := cmd.Help(); err != nil {
					return err
				}
				return exits(exitUsage)
			}
			if cmd.Flags().Changed("max-cost") {
				f.maxCost = &most
			}
			if cmd.Flags().Changed("agents") {
				f.agents = &agents
			}
			return c.say(cmd.Context(), args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.session, "session", "", c.t("go on with this `conversation`", "이 `대화`를 이어 갑니다"))
	fl.StringVar(&f.insteadOf, "instead-of", "", c.t("say it in place of the message of this `run` of --session, as another branch; without a message the same one again", "--session에 있는 이 `실행`의 메시지 대신 다른 갈래로 말합니다. 메시지가 없으면 같은 말을 다시 합니다"))
	fl.StringArrayVar(&f.attach, "attach", nil, c.t("send this `file` or folder along; may be repeated", "이 `파일`이나 폴더를 함께 보냅니다. 여러 번 쓸 수 있습니다"))
	fl.StringVar(&f.model, "model", "", c.t("the `model`", "사용할 `모델`"))
	fl.StringVar(&f.provider, "provider", "", c.t("the `provider` of the model", "모델의 `제공자`"))
	fl.StringVar(&f.mode, "mode", "", c.t("what it may do without asking: `ask`, guarded or auto", "묻지 않고 할 수 있는 일: `ask`, guarded, auto"))
	fl.StringVar(&f.name, "name", "", c.t("the agent's `name`, by which rules of config.toml can be for it alone", "에이전트의 `이름`. config.toml에서 이 이름만의 규칙을 정할 수 있습니다"))
	fl.StringVar(&f.role, "role", "", c.t("what it may do at most: a `role` of `oxios permissions roles list`", "최대 권한: `oxios permissions roles list`의 `역할`"))
	fl.StringVar(&f.folder, "folder", "", c.t("work in this `folder` instead of the current one", "현재 폴더 대신 이 `폴더`에서 일합니다"))
	fl.DurationVar(&f.timeout, "timeout", 0, c.t("stop it after this `time`, like 90s or 10m", "이 `시간`이 지나면 멈춥니다 (예: 90s, 10m)"))
	fl.Float64Var(&most, "max-cost", 0, c.t("end it before it costs more than so many `dollars`", "이 `달러`보다 더 들기 전에 끝냅니다"))
	fl.IntVar(&agents, "agents", 0, c.t("let at most `N` agents work on it at once, the first included; 1 forks none", "에이전트를 한 번에 `N`명까지 씁니다(첫 에이전트 포함). 1이면 나누지 않습니다"))
	fl.BoolVar(&f.noWait, "no-wait", false, c.t("exit with 3 instead of waiting for an approval", "승인을 기다리지 않고 코드 3으로 끝냅니다"))
	fl.StringVar(&f.space, "space", "", c.t("the `space` that the conversation belongs to, and without --folder its folder; default is the default one", "대화가 속할 `공간`. --folder가 없으면 그 폴더에서 일합니다. default는 기본 공간"))
	fl.BoolVar(&f.trust, "trust", false, c.t("trust the folder from now on, and follow its AGENTS.md or CLAUDE.md", "이제부터 폴더를 신뢰하고 그 AGENTS.md나 CLAUDE.md를 따릅니다"))
	fl.BoolVar(&f.background, "background", false, c.t("return at once; the Oxios that runs goes on with it", "바로 돌아옵니다. 실행 중인 Oxios가 이어서 합니다"))
	return c.withJSON(cmd)
}

// message is what the person says.
func (c *console) message(args []string) (text string, piped bool, err error) {
	if len(args) > 0 && !slices.Equal(args, []string{"-"}) {
		return strings.Join(args, " "), false, nil
	}
	raw, err := io.ReadAll(io.LimitReader(c.in, maxStdin))
	if err != nil {
		return "", true, c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("Standard input cannot be read: %v.", "표준 입력을 읽을 수 없습니다: %v."), err), "")
	}
	return string(sys.WithoutMark(raw)), true, nil
}

// workFolder is where the agent works.
func (c *console) workFolder(named string) (string, error) {
	here, err := c.getwd()
	if err != nil && !filepath.IsAbs(named) {
		return "", c.fail(sys.CodeUnavailable, fmt.Sprintf(c.t("The current folder is not known: %v.", "현재 폴더를 알 수 없습니다: %v."), err),
			c.t("Name one with --folder.", "--folder로 정해 주세요."))
	}
	if named == "" {
		return here, nil
	}
	if filepath.IsAbs(named) {
		return filepath.Clean(named), nil
	}
	return filepath.Join(here, named), nil
}

// say is `oxios run`.
func (c *console) say(ctx context.Context, args []string, f runFlags) error {
	if f.mode != "" && !slices.Contains([]string{"ask", "guarded", "auto", "autonomous"}, f.mode) {
		return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("There is no mode %q.", "%q 모드는 없습니다."), f.mode), c.t("Use ask, guarded or auto.", "ask, guarded, auto 중에서 고르세요.")))
	}
	if f.agents != nil && *f.agents < 1 {
		return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("--agents is %d, but must be 1 or more. Nothing was sent.", "--agents는 %d이(가) 아니라 1 이상이어야 합니다. 아무것도 보내지 않았습니다."), *f.agents), ""))
	}
	if f.timeout < 0 {
		return usage(c.fail(sys.CodeInvalid, c.t("The time of --timeout is negative.", "--timeout 시간이 음수입니다."), ""))
	}
	if f.insteadOf != "" && f.session == "" {
		return usage(c.fail(sys.CodeInvalid, c.t("--instead-of needs the conversation.", "--instead-of에는 대화가 필요합니다."), c.t("Name it with --session.", "--session으로 정해 주세요.")))
	}
	again := f.insteadOf != "" && len(args) == 0
	wordless := len(f.attach) > 0 && len(args) == 0 && c.terminal(c.in) // what is attached says it all
	var text string
	var piped bool
	var err error
	if !again && !wordless {
		if text, piped, err = c.message(args); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" && !again && len(f.attach) == 0 {
		return usage(c.fail(sys.CodeInvalid, c.t("The message is empty. Nothing was sent.", "메시지가 비어 있습니다. 아무것도 보내지 않았습니다."), ""))
	}
	folder, err := c.workFolder(f.folder)
	if err != nil {
		return err
	}
	// What the run does is followed until its end, also after Ctrl-C.
	follow, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	l, alone, events, err := c.begin(ctx, follow, &f)
	if err != nil {
		return err
	}
	defer func() { l.close() }()
	if v, err := l.Infra.Config(ctx); err == nil && v.Problem != nil {
		c.explain(v.Problem)
	}
	if f.background && alone {
		return c.nobodyWorks()
	}
	attached, err := c.attach(ctx, l, f.attach)
	if err != nil {
		return err
	}
	canAsk := !piped && !c.json && c.terminal(c.in) && c.terminal(c.err)
	if canAsk {
		if err := c.unlockHere(ctx, l); err != nil {
			return err
		}
	}
	var space *string
	if f.space != "" {
		id, err := c.spaceID(ctx, l, f.space)
		if err != nil {
			return err
		}
		if space = &id; f.folder == "" && id != "" {
			folder = "" // that of the space
		}
	}
	if folder != "" {
		if err := c.meet(ctx, l, folder, f.trust, canAsk); err != nil {
			return err
		}
	}
	via := "terminal"
	if f.background { // nobody waits here: it may wait itself, and the person hears of it
		via = "background"
	}
	var pasted []kernel.Span
	if piped { // standard input may hold anybody's words
		pasted = []kernel.Span{{To: len(text), Foreign: true}}
	}
	sent, err := l.Agents.Submit(ctx, kernel.Submit{
		Pasted:   pasted,
		Terminal: kernel.TerminalEnv(c.getenv),
		Space:    space,
		MaxUSD:   f.maxCost, Agents: value(f.agents),
		SessionID: f.session, InsteadOf: f.insteadOf, Text: text, Attachments: attached, Folder: folder, Provider: f.provider, Model: f.model, Mode: f.mode, Role: f.role, Name: f.name, Via: via,
	})
	if err != nil {
		return err
	}
	if f.background {
		if c.json {
			return c.writeJSON(sent)
		}
		c.printf(c.t("%s is at work; `oxios wait %s` shows what comes of it.", "%s이(가) 일합니다. `oxios wait %s`로 결과를 봅니다."), tail(sent.RunID), tail(sent.RunID))
		return nil
	}
	w := &watcher{
		console: c, link: l, sent: sent, alone: alone, noWait: f.noWait,
		canAsk:   !f.noWait && canAsk,
		progress: progress{console: c, stream: !c.json && c.terminal(c.out)},
	}
	err = w.follow(ctx, follow, events, f.timeout)
	l = w.link // another one, if the first owner went away
	c.finishOthers(ctx, l)
	return err
}

// value is what p points to, else nothing.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// begin connects for a run and follows the events from before its start. An
// owner that ends meanwhile, as another `oxios run` may, is no reason to fail:
// nothing was sent yet.
func (c *console) begin(ctx, follow context.Context, f *runFlags) (l *link, alone bool, events <-chan kernel.Event, err error) {
	for end := time.Now().Add(patience); ; {
		if l, err = c.connectToWork(ctx); err != nil {
			return nil, false, nil, err
		}
		var session string
		alone, err = l.alone(ctx)
		if err == nil {
			session, err = c.sessionID(ctx, l, f.session)
		}
		if err == nil && f.insteadOf != "" {
			f.insteadOf, err = c.runIn(ctx, l, session, f.insteadOf)
		}
		if err == nil {
			events, err = l.Infra.Events(follow, 0)
		}
		if err == nil {
			f.session = session
			return l, alone, events, nil
		}
		gone := l.own == nil && sys.CodeOf(err) == sys.CodeUnavailable
		l.close()
		if !gone || time.Now().After(end) {
			return nil, false, nil, err
		}
	}
}

// sessionID makes a session's id of what the person named; "" stays "".
func (c *console) sessionID(ctx context.Context, l *link, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	s, err := l.State.Session(ctx, name)
	if err == nil {
		return s.Session.ID, nil
	}
	if sys.CodeOf(err) != sys.CodeNotFound {
		return "", err
	}
	open, err := l.State.Sessions(ctx, kernel.SessionQuery{Limit: 500})
	archived, aerr := l.State.Sessions(ctx, kernel.SessionQuery{Limit: 500, Archived: true})
	if err = errors.Join(err, aerr); err != nil {
		return "", err
	}
	found, err := find(c, c.t("conversation", "대화"), "oxios sessions list", name, slices.Concat(open, archived), func(s kernel.Session) string { return s.ID })
	return found.ID, err
}
