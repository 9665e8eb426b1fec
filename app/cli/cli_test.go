package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/demo"
)

func TestHelpSpeaksBothLanguages(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "English", d.must(0, "--help").out, "Usage:", "approvals", "an operating system for AI agents", "Commands:")
	d.env["LC_ALL"] = "ko_KR.UTF-8"
	contains(t, "Korean", d.must(0, "--help").out, "사용법:", "운영체제", "명령:")
	contains(t, "Korean run", d.must(0, "run", "--help").out, "옵션:", "이 명령을 설명합니다")
	contains(t, "Korean error", d.must(exitUsage, "sesions").err, "명령은 없습니다", "oxios sessions")
	d.env["LC_ALL"], d.env["LANG"] = "", "ko_KR.UTF-8"
	contains(t, "LANG", d.must(0, "help", "audit", "verify").out, "사용법:")
	d.must(0, "config", "set", "language", "en")
	contains(t, "config wins", d.must(0, "--help").out, "Usage:")
}

// Each command, at any depth, explains itself in both languages, and no two
// texts are the same: a translation that was forgotten is.
func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	d := setup(t)
	en := &console{deps: d.deps, lang: english}
	ko := &console{deps: d.deps, lang: korean}
	var paths [][]string
	shorts := map[string]string{}
	walkCommands(en, func(path, text string) { shorts[path] = text; paths = append(paths, strings.Fields(path)[1:]) })
	walkCommands(ko, func(path, text string) {
		if text == "" || text == shorts[path] {
			t.Errorf("%s: got %q in both languages", path, text)
		}
	})
	for _, p := range paths {
		r := d.do(append(p, "--help")...)
		if r.code != 0 || !strings.Contains(r.out, "Usage:") || r.err != "" {
			t.Errorf("oxios %s --help: got %+v", strings.Join(p, " "), r)
		}
		lists := len(p) > 0 && (p[len(p)-1] == "list" || p[0] == "ps" || p[0] == "models")
		if lists && !strings.Contains(r.out, "--json") {
			t.Errorf("oxios %s lists, but has no --json", strings.Join(p, " "))
		}
	}
}

func TestACommandIsMadeAloneByItsName(t *testing.T) {
	t.Parallel()
	c := &console{}
	for _, top := range topCommands {
		if name := top.make(c).Name(); name != top.name {
			t.Errorf("%s is found as %s", name, top.name)
		}
		want := 1
		if top.name == "completion" || top.name == "manual" {
			want = len(topCommands) // they speak of all
		}
		if got := len(c.commands([]string{top.name, "--help"})); got != want {
			t.Errorf("oxios %s: made %d commands, want %d", top.name, got, want)
		}
	}
}

func walkCommands(c *console, visit func(path, text string)) {
	root := c.root(nil)
	for list := root.Commands(); len(list) > 0; list = list[1:] {
		visit(list[0].CommandPath(), list[0].Short)
		list = append(list, list[0].Commands()...)
	}
}

// TestWhatIsNotThereIsToldWithWhereToLook calls every command that takes a name
// with one that nothing has.
func TestWhatIsNotThereIsToldWithWhereToLook(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.must(0, "config", "set", "language", "ko")
	d.own()
	tried := 0
	for _, name := range []string{"nosuchid", "zz"} {
		walk((&console{}).root(nil), func(cmd *cobra.Command) {
			path := strings.Fields(cmd.CommandPath())[1:]
			if cmd.HasSubCommands() || len(path) == 0 || !strings.ContainsAny(cmd.Use, "ACDEFGHIJKLMNOPQRSTUVWXYZ") || slices.Contains([]string{"demo", "serve", "service", "quick", "web"}, path[0]) {
				return
			}
			args := append(path, name)
			for cmd.ValidateArgs(args[len(path):]) != nil && len(args) < len(path)+4 {
				args = append(args, name)
			}
			r := d.do(append(args, "--json")...)
			if r.code == 2 { // without --json
				r = d.do(args...)
			}
			if r.code != exitFailed || !strings.Contains(r.err, name+`"이(가) 없습니다`) {
				return
			}
			tried++
			if strings.Count(strings.TrimSpace(r.err), "\n") == 0 {
				t.Errorf("oxios %s: says %q and not where to look", strings.Join(args, " "), r.err)
			}
		})
	}
	if tried < 80 {
		t.Errorf("got %d commands that told that something is not there, want more", tried)
	}
}

func TestAFileThatCannotBeReadIsToldWithWhatToDo(t *testing.T) {
	t.Parallel()
	d := setup(t)
	if err := os.Mkdir(filepath.Join(d.Folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"memory", "import"}, {"audit", "verify"}, {"policy", "command", "--batch"}, {"demo", "--script"}, {"replay", "x", "--policy"},
	} {
		for file, says := range map[string]string{"none.txt": "There is no file none.txt.\nCheck its name", "sub": "sub is a folder.\nName a file in it."} {
			r := d.do(append(slices.Clone(args), file)...)
			if r.code == 0 || !strings.Contains(r.err, says) {
				t.Errorf("oxios %s %s: got %d, %q, want %q", strings.Join(args, " "), file, r.code, r.err, says)
			}
		}
	}
}

func TestModelsOfAProviderThatIsNotThere(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "the models", d.must(exitFailed, "models", "--provider", "nope").err, `There is no provider "nope"`, "oxios providers list")
}

func TestWrongOptionIsToldInThePersonsWords(t *testing.T) {
	t.Parallel()
	d := setup(t)
	ko := setup(t)
	ko.must(0, "config", "set", "language", "ko")
	for _, tt := range []struct {
		args         []string
		says, korean string
	}{
		{[]string{"run", "--nope", "x"}, "There is no option --nope.", "--nope 옵션은 없습니다."},
		{[]string{"run", "--max-cost", "abc", "x"}, `--max-cost is "abc", but must be a number.`, `--max-cost의 값 "abc"은(는) 숫자여야 합니다.`},
		{[]string{"run", "--timeout", "5", "x"}, `--timeout is "5", but must be a time like 90s or 10m.`, `--timeout의 값 "5"은(는) 90s나 10m 같은 시간이어야 합니다.`},
		{[]string{"cost", "--days", "1.5"}, `--days is "1.5", but must be a whole number.`, `--days의 값 "1.5"은(는) 정수여야 합니다.`},
		{[]string{"ps", "--all=maybe"}, `--all is "maybe", but must be true or false.`, `--all의 값 "maybe"은(는) true나 false여야 합니다.`},
		{[]string{"run", "x", "--model"}, "The option --model lacks its value.", "--model 옵션에 값이 빠졌습니다."},
		{[]string{"run", "--=x"}, `"--=x" is no option.`, `"--=x"은(는) 옵션이 아닙니다.`},
		{[]string{"config", "set", "max_children", "-1"}, "There is no option -1.\nWrite -- before what begins with - and is no option.", "-1 옵션은 없습니다.\n-로 시작하지만 옵션이 아닌 것 앞에는 --를 쓰세요."},
	} {
		for d, want := range map[*desk]string{d: tt.says, ko: tt.korean} {
			if r := d.must(exitUsage, tt.args...); !strings.Contains(r.err, want) || strings.Contains(r.err, "strconv") {
				t.Errorf("oxios %s: says %q, want %q", strings.Join(tt.args, " "), r.err, want)
			}
		}
	}
}

func TestWrongCommandLineIsExitCode2(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"sesions"}, "oxios sessions"},
		{[]string{"approvals", "aprove", "x"}, "oxios approvals approve"},
		{[]string{"approvals", "approve"}, "oxios approvals approve ID"},
		{[]string{"approvals", "approve", "abcd", "--scope", "always"}, "once or run"},
		{[]string{"kill"}, "argument"},
		{[]string{"kill", "a", "b"}, "too many"},
		{[]string{"ps", "--everything"}, "everything"},
		{[]string{"audit", "list", "--limit", "0"}, "--limit"},
		{[]string{"serve", "--addr", "0.0.0.0:80"}, "this machine"},
		{[]string{"serve", "--addr", "127.0.0.1:http"}, "port"},
		{[]string{"serve", "--addr", "nonsense"}, "address"},
		{[]string{"providers", "add", "x"}, "--url"},
		{[]string{"doctor", "file"}, "--bundle"},
		{[]string{"oxios://evil/$(id)"}, "not a link"},
		{[]string{"oxios://session/0193", "more"}, "One link"},
	} {
		r := d.do(tt.args...)
		if r.code != exitUsage || !strings.Contains(r.err, tt.says) || r.out != "" {
			t.Errorf("%v: got %+v, want exit code 2 and %q on stderr", tt.args, r, tt.says)
		}
	}
	if r := d.do("sessions"); r.code != exitUsage || !strings.Contains(r.out, "Usage:") {
		t.Errorf("a group alone: got %+v, want its help", r)
	}
}

func TestBareCommandWithoutDisplaySaysHowToGoOn(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for _, args := range [][]string{nil, {"oxios://session/01932c07-9f5d-7f3a-9a51-4b1f6a0c0d1e"}} {
		r := d.do(args...)
		if r.code != exitFailed || !strings.Contains(r.err, "display") || !strings.Contains(r.err, "oxios serve") {
			t.Errorf("%v: got %+v", args, r)
		}
	}
}

func TestAnswersAreTheSameWithAndWithoutAnOwner(t *testing.T) {
	t.Parallel()
	d := setup(t)
	got := decode[kernel.RunResult](t, d.must(0, "run", "--json", writes).out)
	waiting := decode[kernel.RunResult](t, d.must(exitWaiting, "run", "--json", "--mode", "ask", writes).out)
	commands := [][]string{
		{"sessions", "list", "--json"},
		{"sessions", "list", "--search", "hello", "--json"},
		{"sessions", "show", got.SessionID},
		{"sessions", "show", waiting.SessionID, "--json"},
		{"sessions", "export", tail(got.SessionID)},
		{"sessions", "export", got.SessionID, "--format", "json"},
		{"sessions", "show", "ffffffff"},
		{"approvals", "list", "--json"},
		{"approvals", "approve", "zzzz"},
		{"config", "get"},
		{"config", "get", "mode"},
		{"config", "get", "nothing"},
		{"config", "set", "mode", "wild"},
		{"tools", "list"},
		{"tools", "off", "nothing"},
		{"providers", "list", "--json"},
		{"models", "--json"},
		{"audit", "list", "--run", got.RunID, "--json"},
		{"kill", "zzzz"},
	}
	var alone []result
	for _, c := range commands {
		alone = append(alone, d.do(c...))
	}
	stop := d.own()
	for i, c := range commands {
		r := d.do(c...)
		// The owner takes the waiting run up, which shows for a moment.
		for end := time.Now().Add(5 * time.Second); r != alone[i] && time.Now().Before(end); r = d.do(c...) {
			time.Sleep(20 * time.Millisecond)
		}
		if r != alone[i] {
			t.Errorf("oxios %s:\nalone %+v\nowned %+v", strings.Join(c, " "), alone[i], r)
		}
	}
	stop()
}

func TestTwoProcessesOneHome(t *testing.T) {
	t.Parallel()
	d := setup(t)
	results := make(chan result, 6)
	for range cap(results) {
		go func() { results <- d.do("run", "--json", "Hello!") }()
	}
	for range cap(results) {
		r := <-results
		if r.code != 0 || decode[kernel.RunResult](t, r.out).State != "done" {
			t.Errorf("got %+v, want each to be done, whoever owns the home", r)
		}
	}
	stop := d.own()
	r := d.must(exitFailed, "serve")
	contains(t, "serve beside a window", r.err, "already runs", "desktop")
	stop()
	if n := len(decode[[]kernel.Session](t, d.must(0, "sessions", "list", "--json").out)); n != 6 {
		t.Errorf("got %d conversations, want 6", n)
	}
}

func TestServeIsReadyAndEndsCleanly(t *testing.T) {
	t.Parallel()
	d := setup(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var out buffer
	ended := make(chan result, 1)
	go func() { ended <- d.with(typing{ctx: ctx, out: &out}, "serve") }()
	until(t, "serve is ready", func() bool { return strings.HasSuffix(out.String(), "\n") })
	line := strings.TrimSpace(out.String())
	url, code, ok := strings.Cut(strings.TrimPrefix(line, "Oxios is ready: "), "/#code=")
	if !ok || !strings.HasPrefix(url, "http://127.0.0.1:") || code == "" {
		t.Fatalf("got %q", line)
	}
	resp, err := http.Get(url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("got status %d", resp.StatusCode)
	}
	contains(t, "a command meanwhile", d.must(0, "run", "Hello!").out, "demo")
	contains(t, "a second serve", d.must(exitFailed, "serve").err, "already runs", "serve")
	stop()
	r := <-ended
	r.check(t, 0, "serve")
	if strings.Count(r.out, "\n") != 1 {
		t.Errorf("got %q, want exactly one line", r.out)
	}
	http.DefaultClient.CloseIdleConnections()
	d.must(0, "ps")
}

func TestBrokenConfigurationIsPointedAtAndKept(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "path", d.must(0, "config", "path").out, filepath.Join(d.Home, "config.toml"))
	contains(t, "set", d.must(0, "config", "set", "mode", "ask").out, "mode = ask")
	path := filepath.Join(d.Home, "config.toml")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(good, "mdoe = 1\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	r := d.must(0, "config", "get", "mode")
	if r.out != "ask\n" {
		t.Errorf("got %q, want the last good value", r.out)
	}
	contains(t, "the line", r.err, "line ", "mdoe")
	contains(t, "set", d.must(exitFailed, "config", "set", "mode", "guarded").err, "nothing was changed")
	contains(t, "doctor", d.must(exitFailed, "doctor").out, "✗", "mdoe")
}

func TestSessionsAreFoundRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	d := setup(t)
	got := decode[kernel.RunResult](t, d.must(0, "run", "--json", writes).out)
	contains(t, "rename", d.must(0, "sessions", "rename", tail(got.SessionID), "My", "file").out, "My file")
	contains(t, "list", d.must(0, "sessions", "list").out, "My file", tail(got.SessionID))
	show := d.must(0, "sessions", "show", got.SessionID).out
	contains(t, "show", show, writes, "✓ ", "is written")
	file := filepath.Join(t.TempDir(), "out.md")
	d.must(0, "sessions", "export", got.SessionID, "-o", file)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "export", string(raw), "# My file", writes)

	contains(t, "delete with nobody to ask", d.must(exitFailed, "sessions", "delete", got.SessionID).err, "--yes")
	if r := d.with(typing{terminal: true, stdin: strings.NewReader("\n")}, "sessions", "delete", got.SessionID); r.code != exitFailed {
		t.Errorf("delete, nothing typed: got %+v", r)
	}
	if r := d.with(typing{terminal: true, stdin: strings.NewReader("y\n")}, "sessions", "delete", got.SessionID); r.code != 0 {
		t.Errorf("delete, yes: got %+v", r)
	}
	contains(t, "list", d.must(0, "sessions", "list").err, "There is no conversation")
	if out := d.must(0, "sessions", "list", "--json").out; out != "[]\n" {
		t.Errorf("got %q, want an empty list", out)
	}
}

func TestSessionsArePinnedAndArchived(t *testing.T) {
	t.Parallel()
	d := setup(t)
	first := decode[kernel.RunResult](t, d.must(0, "run", "--json", writes).out)
	second := decode[kernel.RunResult](t, d.must(0, "run", "--json", "Look around.").out)
	ids := func(args ...string) string {
		t.Helper()
		var out []string
		for _, s := range decode[[]kernel.Session](t, d.must(0, append([]string{"sessions", "list", "--json"}, args...)...).out) {
			out = append(out, map[string]string{first.SessionID: "first", second.SessionID: "second"}[s.ID])
		}
		return strings.Join(out, " ")
	}
	for _, step := range []struct{ do, says, list, archived string }{
		{"pin", "pinned", "first second", ""},
		{"unpin", "unpinned", "second first", ""},
		{"archive", "archived", "second", "first"},
		{"unarchive", "in the list", "second first", ""},
	} {
		contains(t, step.do, d.must(0, "sessions", step.do, tail(first.SessionID)).out, tail(first.SessionID), step.says)
		if list, archived := ids(), ids("--archived"); list != step.list || archived != step.archived {
			t.Errorf("after %s: got %q and %q archived, want %q and %q", step.do, list, archived, step.list, step.archived)
		}
	}
	if s := decode[kernel.Session](t, d.must(0, "sessions", "archive", first.SessionID, "--json").out); !s.Archived {
		t.Errorf("got %+v, want it archived", s)
	}
	d.must(exitFailed, "sessions", "pin", "zzzz")

	// Who writes in an archived conversation has it in the list again.
	d.must(0, "run", "--session", first.SessionID, "Look around.")
	if list := ids(); list != "first second" {
		t.Errorf("got %q, want the conversation back", list)
	}
}

func TestAuditListIsNarrowed(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.must(0, "run", writes)
	all := decode[[]kernel.AuditEntry](t, d.must(0, "audit", "list", "--json").out)
	agents := decode[[]kernel.AuditEntry](t, d.must(0, "audit", "list", "--json", "--actor", "agent:", "--since", "1h").out)
	if len(agents) == 0 || len(agents) >= len(all) {
		t.Errorf("got %d of %d entries of agents", len(agents), len(all))
	}
	for _, e := range agents {
		if !strings.HasPrefix(e.Actor, "agent:") {
			t.Errorf("got %s among the agents", e.Actor)
		}
	}
	if got := decode[[]kernel.AuditEntry](t, d.must(0, "audit", "list", "--json", "--until", "2020-01-01").out); len(got) != 0 {
		t.Errorf("got %d entries of before there was any", len(got))
	}
	if got := decode[[]kernel.AuditEntry](t, d.must(0, "audit", "list", "--json", "--denied").out); len(got) != 0 {
		t.Errorf("got %+v refused", got)
	}
	d.with(typing{}, "audit", "list", "--since", "yesterdayish").check(t, exitUsage, "audit", "list", "--since")
}

func TestExportedChainVerifiesAlone(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.must(0, "run", writes)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	d.must(0, "audit", "export", "-o", file)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	nowhere := &desk{t: t, env: map[string]string{"OXIOS_HOME": filepath.Join(t.TempDir(), "none")}, deps: Deps{}}
	contains(t, "verify", nowhere.must(0, "audit", "verify", file).out, "intact")
	signed := decode[kernel.AuditReport](t, nowhere.must(0, "audit", "verify", "--json", file).out)
	if signed.Signed == 0 || len(signed.Key) != 64 {
		t.Fatalf("got %+v, want it signed", signed)
	}
	nowhere.must(0, "audit", "verify", "--key", signed.Key, file)
	nowhere.with(typing{}, "audit", "verify", "--key", strings.Repeat("0", 64), file).check(t, exitFailed, "audit", "verify", "--key")
	witness := filepath.Join(d.Home, "audit", "checkpoints.jsonl") // as good as any copy of it
	if r := decode[kernel.AuditReport](t, nowhere.must(0, "audit", "verify", "--json", "--witness", witness, file).out); r.Witnessed != signed.Signed {
		t.Errorf("got %+v, want it witnessed to entry %d", r, signed.Signed)
	}
	cut := string(raw)[:strings.LastIndex(strings.TrimSuffix(string(raw)[:strings.Index(string(raw), `{"checkpoint"`)], "\n"), "\n")+1]
	shorter := nowhere.with(typing{stdin: strings.NewReader(cut)}, "audit", "verify", "-", "--witness", witness)
	shorter.check(t, exitFailed, "audit", "verify", "-", "--witness")
	contains(t, "stderr", shorter.err, "was witnessed at")
	alone := nowhere.with(typing{stdin: strings.NewReader(cut)}, "audit", "verify", "-")
	alone.check(t, exitFailed, "audit", "verify", "-")
	contains(t, "cut off, and nothing to compare with", alone.err, "has no last line")
	bad := strings.Replace(string(raw), "kernel opened", "kernel openeD", 1)
	if bad == string(raw) {
		t.Fatal("nothing to tamper with")
	}
	r := nowhere.with(typing{stdin: strings.NewReader(bad)}, "audit", "verify", "-")
	r.check(t, exitFailed, "audit", "verify", "-")
	contains(t, "stderr", r.err, "broken at record")
	if rep := decode[kernel.AuditReport](t, nowhere.must(0, "audit", "verify", "--json", file).out); !rep.OK || rep.Entries == 0 {
		t.Errorf("got %+v", rep)
	}
}

func TestDemoServesUntilItIsEnded(t *testing.T) {
	t.Parallel()
	d := setup(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var out buffer
	ended := make(chan result, 1)
	go func() { ended <- d.with(typing{ctx: ctx, out: &out}, "demo") }()
	until(t, "the demo is ready", func() bool { return strings.HasSuffix(out.String(), "\n") })
	url, ok := strings.CutPrefix(strings.TrimSpace(out.String()), "OXIOS_BASE_URL=")
	if !ok {
		t.Fatalf("got %q", out.String())
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	resp, err := client.Get(url + "/models")
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	contains(t, "models", string(raw), demo.ModelID)
	stop()
	(<-ended).check(t, 0, "demo")
	contains(t, "another address", d.must(exitFailed, "demo", "--addr", "0.0.0.0:0").err, "this machine")
}

func TestNothingThatAnAgentWroteSteersTheTerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain text, 한글, 👩‍💻": "plain text, 한글, 👩‍💻",
		"a\x1b[2Jb":           `a\x1b[2Jb`,
		"rm a\rls":            `rm a\x0dls`,
		"safe\u202etxt.exe":   `safe\u{202e}txt.exe`,
		"x\u200by":            `x\u{200b}y`,
		"c1 \u009b31m":        `c1 \x9b31m`,
		"two\nlines\tand tab": "two\nlines\tand tab",
	} {
		if got := safe(in); got != want {
			t.Errorf("safe(%q): got %q, want %q", in, got, want)
		}
	}
	var errs buffer
	c := &console{streams: streams{err: &errs}}
	a := kernel.Approval{}
	a.Request.Title, a.Request.Command, a.Request.Claim = "Runs\x1b[1A", "echo ok\n\x1b[2Krm -rf ~", "fine\u202e"
	c.card(a)
	if strings.ContainsAny(errs.String(), "\x1b\u202e") {
		t.Errorf("got %q, want every control visible", errs.String())
	}
	contains(t, "the card", errs.String(), `\x1b[2Krm -rf ~`, "    echo ok\n")
}

func TestColumnsStandUnderEachOtherInKoreanToo(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := table(&b, [][]string{{"상태", "x"}, {"a", "y"}, {"긴 이름", "z"}}); err != nil {
		t.Fatal(err)
	}
	want := "상태     x\na        y\n긴 이름  z\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if got := short("가나다라마바사", 7); columns(got) > 7 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %q", got)
	}
}

func TestAnUnknownPriceIsNeverNothing(t *testing.T) {
	t.Parallel()
	c := &console{}
	for want, cost := range map[string]kernel.Cost{
		"-": {}, "free": {Calls: 1, Free: true}, "unknown": {Calls: 1, Unknown: true}, "≥ $0.5000": {Calls: 2, Unknown: true, USD: 0.5}, "$0.0100": {Calls: 1, USD: 0.01},
	} {
		if got := c.price(cost); got != want {
			t.Errorf("%+v: got %q, want %q", cost, got, want)
		}
	}
}
