package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/skill"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// ShellArgs is a command line for the shell. It runs without a terminal and
// with empty input.
type ShellArgs struct {
	Command    string `json:"command"`
	Cwd        string `json:"cwd,omitempty"`        // inside the caller's folder; "" is the folder
	TimeoutS   int    `json:"timeout_s,omitempty"`  // seconds; 0 is the configured time, none in the background
	Background bool   `json:"background,omitempty"` // return at once; see [ExecAPI.JobLog]
	Network    bool   `json:"network,omitempty"`    // it needs the network although its words do not show it: asks
	Reason     string `json:"reason,omitempty"`     // what the caller says it is for
}

// StructuredArgs is one program with its arguments, run without a shell.
type StructuredArgs struct {
	Binary     string   `json:"binary"` // a name of the PATH, or a path
	Args       []string `json:"args,omitempty"`
	Cwd        string   `json:"cwd,omitempty"`
	TimeoutS   int      `json:"timeout_s,omitempty"`
	Background bool     `json:"background,omitempty"`
	Network    bool     `json:"network,omitempty"`
	Reason     string   `json:"reason,omitempty"`
}

// ExecResult is how a command ended. An exit code other than 0 is no error of
// the call.
type ExecResult struct {
	ExitCode      int           `json:"exit_code"` // 128 + the number for a signal
	Output        string        `json:"output"`    // both streams in their order, secrets masked
	Truncated     bool          `json:"truncated"`
	Dropped       int64         `json:"dropped"` // bytes of output that are kept nowhere
	DurationMS    int64         `json:"duration_ms"`
	TimedOut      bool          `json:"timed_out"`
	WantsPassword bool          `json:"wants_password"` // it asked for one, which nobody can type here
	Isolation     sys.Isolation `json:"isolation"`
	JobID         string        `json:"job_id,omitempty"`    // of a background command
	ReadMore      string        `json:"read_more,omitempty"` // the id under which the whole output can be read with JobLog
	Note          string        `json:"note,omitempty"`      // what happened besides, in words

	Asked []security.NetTry `json:"asked,omitempty"` // the machines that it asked for, at isolation 3
}

// Shell runs a command line. What it may do is found out by parsing it; where
// that asks for a person, they see the whole line.
func (a *ExecAPI) Shell(ctx context.Context, in ShellArgs) (ExecResult, error) {
	c := &command{
		caller: a.caller, call: "exec.shell", stood: &basis{}, line: in.Command, timeoutS: in.TimeoutS, background: in.Background, wantsNet: in.Network, claim: in.Reason,
	}
	c.prepare(in.Cwd)
	shell := "bash"
	c.argv = []string{"bash", "-c", in.Command}
	if runtime.GOOS == "windows" {
		shell = "powershell"
		c.argv = []string{"powershell", "-NoProfile", "-NonInteractive", "-Command", in.Command}
	}
	if strings.TrimSpace(in.Command) == "" {
		c.fail(sys.Errorf(sys.CodeInvalid, "The command is empty. Nothing was run."))
	}
	if err := a.noMark(in.Command); err != nil {
		c.fail(err)
	}
	c.judge(c.findRepositories(ctx, c.ofTheFolder(security.ClassifyCommand(in.Command, c.options(shell)), shell)))
	return guard(ctx, a.caller, c.action(), c.run)
}

// Structured runs one program with its arguments as they are: nothing in them
// is expanded. A shell, a program that starts another one and an interpreter
// that is given its program as an argument are refused: what the words of the
// call say is all that runs.
func (a *ExecAPI) Structured(ctx context.Context, in StructuredArgs) (ExecResult, error) {
	c := &command{
		caller: a.caller, call: "exec.structured", stood: &basis{}, argv: append([]string{in.Binary}, in.Args...), timeoutS: in.TimeoutS, background: in.Background, wantsNet: in.Network, claim: in.Reason,
	}
	c.line = quoteArgv(c.argv)
	c.prepare(in.Cwd)
	if in.Binary == "" || strings.ContainsAny(in.Binary, " \t\r\n;|&$`<>(){}[]*?'\"!#\x00") {
		c.fail(sys.Errorf(sys.CodeInvalid, "binary is %q, but must be the name or the path of one program. Nothing was run.", cutText(in.Binary, 100)).
			WithHint("Put its arguments into args, or use command for a line of the shell."))
	}
	if security.StartsAnother(c.argv) {
		c.fail(sys.Errorf(sys.CodeInvalid, "%s runs other commands or code from its arguments, which binary does not take. Nothing was run.", cutText(in.Binary, 100)).
			WithHint("Give the program itself, or use command for a line of the shell."))
	}
	if err := a.noMark(strings.Join(c.argv, "\n")); err != nil {
		c.fail(err)
	}
	c.judge(c.findRepositories(ctx, c.ofTheFolder(security.ClassifyArgv(c.argv, c.options("")), "bash")))
	return guard(ctx, a.caller, c.action(), c.run)
}

// plainWord needs no quotes in a shell.
var plainWord = sys.Pattern(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoteArgv writes argv the way a person would type it.
func quoteArgv(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		if words[i] = w; !plainWord().MatchString(w) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// command is one command on its way to the sandbox.
type command struct {
	caller     *caller
	call       string        // exec.shell, exec.structured or exec.script
	line       string        // as a person reads it
	argv       []string      // as it is started
	script     *skill.Script // that it is, of exec.script
	ran        *skill.Script // the copy of it that runs
	dir        string        // absolute
	env        []string
	timeoutS   int
	background bool
	wantsNet   bool
	claim      string

	verdict    security.Verdict
	executable string      // the file that its first program is
	stood      *basis      // what it stands on, as it was when it was judged or last asked about
	asked0     *undo.Index // its folder when it was asked about, where another command was at work there
	deletion   *deletion   // what goes with the folders that it deletes
	err        error       // why it cannot be run; told once it is let through

	repos []security.GitPlace // outside the folder, that it may use
	made  []madeNew           // for it, outside the folder
	told  Labels              // of what its output names
	began time.Time           // when it was let through
	meta  map[string]any      // of its audit records
	proxy *security.NetProxy  // its way to the network; nil where the guard sees nothing of it
	layer string              // over its cache, of a background command
}

func (c *command) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// prepare finds the folder and the environment of a command.
func (c *command) prepare(cwd string) {
	c.dir, c.env = c.caller.scope.folder, c.caller.k.envFor(c.caller.scope.sessionID, c.caller.scope.folder)
	if c.timeoutS < 0 || c.timeoutS > 86400 {
		c.fail(sys.Errorf(sys.CodeInvalid, "timeout_s is %d, but must be from 1 to 86400 seconds. Nothing was run.", c.timeoutS))
	}
	p := c.caller.place(cwd)
	switch {
	case p.err != nil:
		c.fail(p.err)
	case !p.inside:
		c.fail(sys.Errorf(sys.CodeRefused, "cwd %s lies outside the folder of this run. Nothing was run.", cwd).
			WithHint("Use a folder inside %s.", c.caller.scope.folder))
	case !isFolder(p.abs):
		c.fail(sys.Errorf(sys.CodeNotFound, "cwd %s is not a folder. Nothing was run.", cwd).WithHint("Use ls to see what there is."))
	default:
		c.dir = p.abs
	}
}

func (c *command) options(shell string) security.CommandOptions {
	return security.CommandOptions{Shell: shell, Dir: c.dir, Home: homeFolder(), OxiosHome: c.caller.k.opts.Home}
}

// judge takes policy's verdict and looks at the files that would run.
func (c *command) judge(v security.Verdict) {
	if c.wantsNet && !v.Network {
		v.Network, v.ReadOnly, v.Tier = true, false, max(v.Tier, security.TierAsk)
		if v.Effect != security.EffectOutside && v.Effect != security.EffectUnknown {
			v.Effect = security.EffectNetwork
			v.Reason, v.ReasonKO = "uses the network", "네트워크를 사용합니다"
		}
	}
	if v.Effect == security.EffectRead || v.Effect == security.EffectWrite {
		v.Effect = security.EffectExecute // only containment holds a command inside the folder
	}
	c.verdict = v.At(c.caller.k.isolation(), homeFolder())
	if len(v.Programs) > 0 {
		c.executable = findProgram(v.Programs[0], append(v.Paths, c.argv[0]), c.dir, c.env)
	}
	c.stood.set(c.stands())
	c.weighDeletion()
}

// findProgram returns the file that a program is, the way a shell in dir finds
// it. One of the written words may name it with its folder.
func findProgram(name string, written []string, dir string, env []string) string {
	for _, w := range written {
		if filepath.Base(w) == name {
			name = w
			break
		}
	}
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
		return ""
	}
	for _, d := range filepath.SplitList(envValue(env, "PATH")) {
		if !filepath.IsAbs(d) {
			continue
		}
		if p, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return p
		}
	}
	return ""
}

func envValue(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return v
		}
	}
	return ""
}

// run runs a command that the guard let through.
func (c *command) run(ctx context.Context) (ExecResult, error) {
	if c.err != nil {
		return ExecResult{}, c.err
	}
	if out, done, err := c.tried(ctx); done || err != nil {
		return out, err
	}
	if err := c.movedNow(); err != nil && approved(ctx) {
		return ExecResult{}, err
	}
	spec := c.spec(ctx)
	if err := c.openRepositories(ctx, &spec); err != nil {
		return ExecResult{}, err
	}
	k := c.caller.k
	c.began = k.clock.Now().Truncate(time.Millisecond)
	shown, err := c.outOfView(ctx, &spec)
	if err != nil {
		return ExecResult{}, err
	}
	defer shown()
	planting, err := c.beginPlanting(ctx, &spec)
	if err != nil {
		return ExecResult{}, err
	}
	atWork := false
	defer func() {
		if !atWork { // in the background
			planting.drop()
		}
	}()
	if approved(ctx) {
		if err := c.makeNew(&spec); err != nil {
			c.tidy()
			return ExecResult{}, err
		}
	}
	if !c.background {
		defer c.tidy()
	}
	onCopy := func() (ExecResult, error) {
		out, err := c.runOnCopy(ctx, spec, planting)
		out.note(planting.end(ctx))
		return out, err
	}
	if c.onCopy(ctx, spec.Level) {
		return onCopy()
	}
	watched, err := k.undos.watch(ctx, c)
	if err != nil {
		return ExecResult{}, err
	}
	if watched.why() != "" && c.onCopy(ctx, spec.Level) { // it is known only now that the folder holds too much
		return onCopy()
	}
	if err := errors.Join(watched.begin(ctx, spec.Level), c.taintOutside(ctx, spec.Writable)); err != nil {
		_ = watched.done(ctx)
		return ExecResult{}, notRecorded(err)
	}
	if c.background {
		job, err := k.sandbox.Start(ctx, spec)
		if err != nil {
			_ = watched.done(ctx)
			c.tidy()
			return ExecResult{}, err
		}
		c.meta["isolation"], atWork = int(spec.Level), true
		out := ExecResult{JobID: k.commands().add(ctx, c, job, watched, planting), Isolation: spec.Level, Note: watched.why()}
		if spec.Level >= sys.IsolationFull && spec.Network {
			out.note(c.portsNote(spec.Reach))
		}
		return out, nil
	}
	res, err := c.contained(ctx, spec)
	missed := watched.done(ctx)
	out := c.result(res, spec)
	out.note(missed)
	out.note(c.notOnCopy(ctx, spec.Level))
	out.note(planting.end(ctx))
	return out, err
}

// contained runs the command to its end and notes for the audit how.
func (c *command) contained(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	res, err := c.caller.k.sandbox.Run(ctx, spec)
	c.meta["isolation"] = int(res.Level)
	if asked := c.asked(); len(asked) > 0 {
		c.meta["asked"] = asked
	}
	return res, err
}

// spec is what the sandbox is told.
func (c *command) spec(ctx context.Context) sandbox.Spec {
	k := c.caller.k
	cfg := k.config.get()
	allowed := approved(ctx) || c.caller.who.Kind == sys.KindPerson
	s := sandbox.Spec{
		Argv: c.argv, Dir: c.dir, Env: c.env, Writable: []string{c.caller.scope.folder}, Hidden: append(k.hiddenFrom(c.caller.scope.folder), k.witnessPlace()...),
		Tag: c.caller.scope.runID, Network: c.verdict.Network && (allowed || networkOpen(ctx)),
		MaxMemory: int64(cfg.MaxMemoryMB) << 20, MaxProcs: 1024, MaxDisk: int64(cfg.MaxDiskMB) << 20,
	}
	if !c.background { // what it prints shows that its run gets on
		s.OnOutput = func(string, []byte) { sys.Beat(ctx) }
	}
	s.Level = c.caller.k.isolation()
	switch {
	case c.timeoutS > 0:
		s.Timeout = time.Duration(c.timeoutS) * time.Second
	case !c.background:
		s.Timeout = cfg.execTimeout()
	}
	s.Cache = c.cache(ctx)
	s.Readable = c.programFolders()
	switch {
	case s.Level >= sys.IsolationFull:
		c.proxy = k.netProxy(s.Network)
		s.Hole = c.proxy.Serve
		if s.Network {
			s.Reach, s.Serve = c.carried(ctx)
			c.proxy.Ports = s.Reach
		}
	case s.Network && c.guarded():
		c.proxy = k.netProxy(true)
		c.proxy.Password, c.proxy.Ports = rand.Text(), c.ports()
		s.Hole, s.HolePassword = c.proxy.Serve, c.proxy.Password
	}
	if allowed {
		c.grantOutside(&s, false)
	}
	c.giveScript(&s)
	return c.caller.bound(s)
}

// guarded reports whether what the command reaches of the network passes the guard.
func (c *command) guarded() bool {
	return c.caller.k.sandbox.Probe(c.caller.k.background).GuardsNetwork()
}

// programFolders are the folders of the person's PATH. One that holds the
// whole home, or Oxios' own, is none.
func (c *command) programFolders() []string {
	var out []string
	home, own := realPath(homeFolder()), realPath(c.caller.k.opts.Home)
	for _, d := range filepath.SplitList(envValue(c.env, "PATH")) {
		if real := realPath(d); filepath.IsAbs(d) && isFolder(d) && !security.Within(home, real) && !security.Within(own, real) && !security.Within(real, own) {
			out = append(out, real)
		}
	}
	return out
}

// note says more of what happened besides.
func (r *ExecResult) note(text string) { r.Note = strings.TrimSpace(r.Note + " " + text) }

// maxShown is how many bytes of output a result carries.
const maxShown = 60 << 10

// result tells how a command ended.
func (c *command) result(res sandbox.Result, spec sandbox.Spec) ExecResult {
	k := c.caller.k
	text := k.masked(outputText(res.Output))
	c.told = c.namesSecrets(outputText(res.Output))
	out := ExecResult{
		ExitCode: res.ExitCode, Output: text, Truncated: res.Truncated, Dropped: res.Dropped, DurationMS: res.Duration.Milliseconds(),
		TimedOut: res.TimedOut, WantsPassword: res.WantsPassword, Isolation: res.Level, Note: c.note(res, spec), Asked: c.asked(),
	}
	out.note(askedText(out.Asked))
	if len(text) > maxShown {
		out.ReadMore, out.Truncated = k.commands().keep(c.caller, text), true
		head, tail := cutText(text, maxShown/2), text[len(text)-maxShown/2:]
		tail = strings.ToValidUTF8(tail, "")
		out.Output = fmt.Sprintf("%s\n[%s left out here; the whole output has %s and can be read as %s]\n%s",
			head, sizeText(int64(len(text)-len(head)-len(tail))), sizeText(int64(len(text))), out.ReadMore, tail)
	}
	return out
}

// note says in words what the exit code does not.
func (c *command) note(res sandbox.Result, spec sandbox.Spec) string {
	switch {
	case res.TimedOut:
		return fmt.Sprintf("It was ended after %s, with all that it had started. Give it more time with timeout_s, or run it in the background.", spec.Timeout)
	case res.OutOfMemory:
		return fmt.Sprintf("It was ended because it used more than %s of memory.", sizeText(spec.MaxMemory))
	case res.TooManyProcesses:
		return fmt.Sprintf("It was ended because it started more than %d processes.", spec.MaxProcs)
	case res.OutOfDisk:
		return fmt.Sprintf("It was ended because, since it began, the disk has lost more than %s, or has less than 500 MB left. What it had written is still there: remove what is not needed before you try again.", sizeText(spec.MaxDisk))
	case spec.MaxDisk > 0 && (res.Signal == "SIGXFSZ" || res.ExitCode != 0 && fileTooLarge().Match(res.Output)):
		return fmt.Sprintf("No file may become larger than %s (max_disk_mb).", sizeText(spec.MaxDisk))
	case res.Level.Contained() && noRepository().Match(res.Output) && c.repositoryOutside() != "":
		return c.repositoryOutside()
	case res.ExitCode == 0:
		return ""
	case res.WantsPassword:
		return "It wanted a password. Nobody can type one here, so it could not go on. Ask the person to run it themselves."
	case res.Level >= sys.IsolationFull && c.missedThisComputer(res.Output) && c.portsNote(spec.Reach) != "":
		return c.portsNote(spec.Reach)
	case c.proxy != nil && spec.Network && netFailure().Match(res.Output):
		return "The network that was approved is http and https to public machines, through the proxy that http_proxy and https_proxy name. Programs that do not use it, and ssh, do not get out."
	case res.Level.Contained() && !spec.Network && netFailure().Match(res.Output):
		return "Commands have no network here unless the person approves it. If it needs the network, call again with network: true; the person is asked then."
	case res.Level.Contained() && c.writesAlone() && renameFailure().Match(res.Output):
		return "Outside the folder only the very file that was approved is open: it can be written, but not replaced by another one, nor can anything be made beside it. It is there already, empty if it is new. Write into it, or make it in the folder and ask for one cp of it."
	case c.keptFailure(res, spec) != "":
		return "Other programs run this or do as it says, so that commands can only read it: " + c.caller.k.masked(c.keptFailure(res, spec)) + ". Change it with the write or edit tool, or name the very file in the command; the person is asked then."
	case len(spec.Unread) > 0 && !c.verdict.ReadOnly && deniedFailure().Match(res.Output):
		return "Of the repository around the folder commands cannot read files that may hold passwords or keys, nor write any beside the folder. Name the files of the folder that are meant."
	case len(spec.Unread) > 0 && deniedFailure().Match(res.Output):
		return "A command that only looks cannot read files that may hold passwords or keys, unless the person approves the very file. Here these are: " + c.unreadNames(spec) + ". Name the one that it needs in the command; the person is asked then."
	case res.Level >= sys.IsolationFull && guardedFailure().Match(res.Output):
		return "Commands are contained: they write only below " + shortenHome(c.caller.scope.folder) + ", and there no hooks and settings of a repository and no start files of a shell. Ask the person to change these."
	case res.Level.Contained() && deniedFailure().Match(res.Output):
		return "Commands are contained: they write only below " + shortenHome(c.caller.scope.folder) + " and read only that and the system's programs."
	case res.Level >= sys.IsolationFull && c.missedOutside(res.Output):
		return "Commands are contained: but for " + shortenHome(c.caller.scope.folder) + " and the system's programs, no files exist for them unless the person approves the very path."
	}
	return ""
}

// missedOutside reports whether a program did not find a file outside the
// folder: at isolation 3 these do not exist.
func (c *command) missedOutside(output []byte) bool {
	for _, m := range missingFile().FindAllSubmatch(output, 10) {
		if !security.Within(string(m[1]), c.caller.scope.folder) {
			return true
		}
	}
	return false
}

var (
	noRepository = sys.Pattern(`(?i)not a git repository|fatal: invalid path`)
	missingFile  = sys.Pattern(`(/[^\s'":]+)['"’]?: No such file or directory`)
	fileTooLarge = sys.Pattern(`(?i)file (size limit exceeded|too large)|EFBIG`)
	netFailure   = sys.Pattern(`(?i)could not resolve|temporary failure in name resolution|network is unreachable|name or service not known|` +
		`EAI_AGAIN|getaddrinfo|no address associated|unable to resolve|failed to connect|couldn't connect|connection refused|` +
		`\b(socket|connect|dial)\b[^\n]{0,80}(operation not permitted|permission denied|EPERM|EACCES)|` +
		`(operation not permitted|permission denied)[^\n]{0,40}\b(socket|connect)\b`)
	guardedFailure = sys.Pattern(`(?i)(\.git/|\bconfig\b|hooks/|\.(bash|zsh|profile|ssh|git)[a-z_]*)[^\n]{0,80}(read-only file system|device or resource busy)`)
	deniedFailure  = sys.Pattern(`(?i)permission denied|operation not permitted|EACCES|EPERM|read-only file system`)
)

// outputText makes text of what a command wrote.
func outputText(raw []byte) string {
	text := string(raw)
	if strings.ToValidUTF8(text, "") != text {
		decoded, enc, err := decodeText(raw)
		utf16 := enc == encUTF16LE || enc == encUTF16BE
		// What one program writes as UTF-16, the next one in the line may go on with as UTF-8.
		mixed := utf16 && (len(raw)%2 == 1 || enc == encUTF16LE && raw[len(raw)-1] == '\n')
		if err == nil && !mixed {
			text = decoded
		}
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	return security.WithoutControl(asShown(text))
}

// hostEnv is the environment that the sandbox reads its PATH folders from: that
// of commands once it is known. Asking the login shell may take seconds, and
// nothing at start waits for it.
func (k *Kernel) hostEnv() []string {
	if k.cmds.envRead.Load() {
		return k.commandEnv()
	}
	return os.Environ()
}

// readEnv asks the login shell before the first command needs it.
func (k *Kernel) readEnv(ctx context.Context) error {
	read := make(chan struct{})
	go func() { // it ends with the kernel's background at the latest
		defer close(read)
		k.commandEnv()
	}()
	select {
	case <-read:
	case <-ctx.Done():
	}
	return nil
}

// commandEnv is the environment of commands: that of the person's login shell,
// with the secrets left out. It is asked for once.
func (k *Kernel) commandEnv() []string {
	return k.commands().env(func() []string {
		env, err := k.opts.LoginEnv(k.background)
		if err != nil {
			k.log.Warn("The login shell did not tell its environment; commands get that of Oxios", "error", err)
		}
		return sandbox.ScrubEnv(env)
	})
}
