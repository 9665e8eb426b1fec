package kernel_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oxios/kernel/security"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func contained(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	p, err := k.Person().Security.Policy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !p.Isolation.Contained() {
		t.Skipf("this system contains no commands: %s", p.Problem)
	}
}

func shell(h *kernel.Handle, in kernel.ShellArgs) func(context.Context) (kernel.ExecResult, error) {
	return func(ctx context.Context) (kernel.ExecResult, error) { return h.Exec.Shell(ctx, in) }
}

func TestReadOnlyCommandRunsUnaskedInGuardedMode(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "a.txt"), "hello\n")
	write(t, filepath.Join(k.Folder, "sub", "b.txt"), "there\n")
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat a.txt"})
	if err != nil || r.ExitCode != 0 || r.Output != "hello\n" || !r.Isolation.Contained() {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat b.txt", Cwd: "sub"}); err != nil || r.Output != "there\n" {
		t.Errorf("in a folder: got %+v, %v", r, err)
	}
	if r, err = h.Exec.Structured(t.Context(), kernel.StructuredArgs{Binary: "cat", Args: []string{"a.txt"}}); err != nil || r.Output != "hello\n" {
		t.Errorf("structured: got %+v, %v", r, err)
	}
	if r, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat none.txt"}); err != nil || r.ExitCode != 1 || !strings.Contains(r.Output, "No such file") {
		t.Errorf("a failure: got %+v, %v, want a result", r, err)
	}
}

func TestEveryCommandAsksWhereNothingIsContained(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Uncontained())
	h := k.Agent("autonomous")
	r, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "echo hello"}))
	if err != nil || r.Output != "hello\n" || r.Isolation != sys.IsolationNone || ap.Request.Contained != 0 {
		t.Errorf("got %+v, %v, contained %d", r, err, ap.Request.Contained)
	}
}

func TestSudoIsNotEvenStarted(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Uncontained())
	h := k.Agent("autonomous")
	bin := t.TempDir()
	write(t, filepath.Join(bin, "ran"), "")
	for _, c := range []kernel.ShellArgs{
		{Command: "sudo touch ran"}, {Command: "env X=1 sh -c 'sudo touch ran'"}, {Command: "echo hi; rm -rf *"}, {Command: "sudo touch ran", Background: true},
	} {
		_, err := h.Exec.Shell(t.Context(), c)
		wantCode(t, c.Command, err, sys.CodeRefused, "Nothing was done", "nobody can approve it")
	}
	_, err := h.Exec.Structured(t.Context(), kernel.StructuredArgs{Binary: "sudo", Args: []string{"touch", "ran"}})
	wantCode(t, "structured", err, sys.CodeRefused)
	if _, err := os.Stat(filepath.Join(k.Folder, "ran")); err == nil {
		t.Error("something ran")
	}
	jobs, err := k.Person().Exec.Jobs(t.Context())
	if err != nil || len(jobs) != 0 {
		t.Errorf("got jobs %+v, %v", jobs, err)
	}
}

func TestApprovalShowsTheWholeCommandAndWhatIsKnownOfIt(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	where := filepath.Base(k.Folder)
	for name, text := range map[string]string{"there.txt": "kept", "tidy.sh": "for f in *.tmp; do\n  rm \"$f\"\ndone\n", "tidy.py": "import shutil\nshutil.move('a', 'b')\n"} {
		write(t, filepath.Join(k.Folder, name), text)
	}
	for _, c := range []struct {
		in                  kernel.ShellArgs
		title, ko           string
		network, hidden, ok bool
	}{
		{kernel.ShellArgs{Command: "rm old.txt", Reason: "it is old"}, "Deletes files in " + where, where + "에서 파일을 삭제합니다", false, false, true},
		{kernel.ShellArgs{Command: "git push origin main"}, "Reaches the network: git push origin main", "네트워크를 사용합니다: git push origin main", true, false, true},
		{kernel.ShellArgs{Command: "rm *.txt"}, "Deletes files in " + where, where + "에서 파일을 삭제합니다", false, true, false},
		{kernel.ShellArgs{Command: "rm a\nrm b\nrm c"}, "Deletes files in " + where, where + "에서 파일을 삭제합니다", false, false, false},
		{kernel.ShellArgs{Command: "mkdir -p receipts && mv *.pdf receipts"}, "Moves files in " + where, where + "에서 파일을 옮깁니다", false, true, false},
		{kernel.ShellArgs{Command: "date > there.txt"}, "Overwrites files in " + where, where + "에서 파일을 덮어씁니다", false, false, true},
		{kernel.ShellArgs{Command: "bash tidy.sh"}, "Deletes files in " + where, where + "에서 파일을 삭제합니다", false, false, true},
		{kernel.ShellArgs{Command: "python3 ./tidy.py"}, "Moves files in " + where, where + "에서 파일을 옮깁니다", false, false, true},
		{kernel.ShellArgs{Command: "mkdir x && cp tidy.sh x"}, "Writes files in " + where + ": mkdir x", where + "에서 파일을 씁니다: mkdir x", false, false, true},
		{kernel.ShellArgs{Command: "date > new.txt"}, "Writes files in " + where + ": date > new.txt", where + "에서 파일을 씁니다: date > new.txt", false, false, true},
		{kernel.ShellArgs{Command: "make all", Network: true}, "Reaches the network: make all", "네트워크를 사용합니다: make all", true, false, true},
		{kernel.ShellArgs{Command: "rm " + strings.Repeat("a", 300)}, "Deletes files in " + where, where + "에서 파일을 삭제합니다", false, false, false},
	} {
		_, err, ap := answered(t, k, h, false, shell(h, c.in))
		wantCode(t, c.in.Command, err, sys.CodeDenied)
		r := ap.Request
		if r.Command != c.in.Command || r.Title != c.title || r.TitleKO != c.ko || r.Claim != c.in.Reason || r.Why == "" || r.Dir != k.Folder {
			t.Errorf("got request %+v, want %+v", r, c)
		}
		if r.Network != c.network || r.Hidden != c.hidden || r.Simple != c.ok {
			t.Errorf("%s: got network %v, hidden %v, simple %v", c.in.Command, r.Network, r.Hidden, r.Simple)
		}
		if strings.HasPrefix(c.in.Command, "rm") && (filepath.Base(r.Executable) != "rm" || len(r.Programs) != 1) {
			t.Errorf("got executable %q of programs %q", r.Executable, r.Programs)
		}
	}
}

func TestStructuredProgramIsNeverReadByAShell(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("guarded")
	r, err := h.Exec.Structured(t.Context(), kernel.StructuredArgs{Binary: "echo", Args: []string{"$(id)", "a;b", "*"}})
	if err != nil || r.Output != "$(id) a;b *\n" {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, binary := range []string{"", "echo hi", "ls;id", "$(id)", "a|b", "x\ny"} {
		_, err := h.Exec.Structured(t.Context(), kernel.StructuredArgs{Binary: binary})
		if c := sys.CodeOf(err); c != sys.CodeInvalid && c != sys.CodeRefused {
			t.Errorf("%q: got %v", binary, err)
		}
	}
	for _, argv := range [][]string{{"bash", "-c", "touch x"}, {"env", "touch", "x"}, {"timeout", "9", "touch", "x"}, {"python3", "-c", "open('x','w')"}, {"perl", "-e", "1"}} {
		_, err := h.Exec.Structured(t.Context(), kernel.StructuredArgs{Binary: argv[0], Args: argv[1:]})
		wantCode(t, argv[0], err, sys.CodeInvalid)
		if !strings.Contains(err.Error(), "Nothing was run") {
			t.Errorf("%s: got %v", argv[0], err)
		}
	}
	if _, err := os.Stat(filepath.Join(k.Folder, "x")); !os.IsNotExist(err) {
		t.Errorf("something ran: %v", err)
	}
}

func TestCommandStaysInTheFolderAndOffTheNetwork(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("autonomous")
	out := filepath.Join(t.TempDir(), "escaped")
	write(t, filepath.Join(k.Folder, "go.sh"), "touch inside\ntouch "+out+"\n")
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash go.sh"})
	if err != nil || r.ExitCode == 0 || !strings.Contains(r.Note, "contained") {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a command wrote outside the folder")
	}
	if _, err := os.Stat(filepath.Join(k.Folder, "inside")); err != nil {
		t.Error("a command could not write inside the folder")
	}
	_, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "ls", Cwd: "/tmp"})
	wantCode(t, "cwd outside", err, sys.CodeRefused, "outside the folder")
	_, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "ls", Cwd: "nowhere"})
	wantCode(t, "cwd missing", err, sys.CodeNotFound)
}

func TestApprovedNetworkIsOpenAndOtherwiseShut(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("autonomous")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("reached\n"))
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	write(t, filepath.Join(k.Folder, "call.sh"), "exec 3<>/dev/tcp/127.0.0.1/"+port+" && cat <&3\n")
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash call.sh"})
	why := "network: true"
	if r.Isolation >= sys.IsolationFull {
		why = "loopback of its own"
	}
	if err != nil || r.ExitCode == 0 || strings.Contains(r.Output, "reached") || !strings.Contains(r.Note, why) {
		t.Errorf("shut: got %+v, %v", r, err)
	}
	r, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "bash call.sh", Network: true}))
	if err != nil || ap.Request.Effect != "network" {
		t.Errorf("open: got %+v, %v, effect %s", r, err, ap.Request.Effect)
	}
	if r.Isolation >= sys.IsolationFull { // its loopback is its own
		if r.ExitCode == 0 || !strings.Contains(r.Note, "loopback of its own") {
			t.Errorf("got %+v, want the machine's loopback out of reach and told", r)
		}
	} else if r.Output != "reached\n" {
		t.Errorf("got %+v, want it reached", r)
	}
	write(t, filepath.Join(k.Folder, "call.py"), "import socket, sys\nprint(socket.create_connection((sys.argv[1], sys.argv[2])).recv(99).decode(), end='')\n")
	// The name of this computer alone opens nothing, at whatever level: a port has to be named.
	unnamed := shell(h, kernel.ShellArgs{Command: "echo localhost; python3 call.py localhost " + port, Network: true})
	if r, err, ap = answered(t, k, h, true, unnamed); r.Isolation < sys.IsolationFull {
		return
	}
	if err != nil || strings.Contains(r.Output, "reached") || !strings.Contains(r.Note, "name the port") || ap.Request.Contained != sys.IsolationFull || len(ap.Request.Ports) > 0 {
		t.Errorf("unnamed: got %+v, %v, ports %v", r, err, ap.Request.Ports)
	}
	want, _ := strconv.Atoi(port)
	named := shell(h, kernel.ShellArgs{Command: "PORT=" + port + " python3 call.py localhost " + port, Network: true})
	r, err, ap = answered(t, k, h, true, named)
	if err != nil || r.Output != "reached\n" || r.Isolation != sys.IsolationFull || !slices.Equal(ap.Request.Ports, []int{want}) {
		t.Errorf("named: got %+v, %v, ports %v; want it reached at level 3", r, err, ap.Request.Ports)
	}
	r, err, _ = answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: ": localhost:" + freePort(t) + "; python3 call.py localhost 1", Network: true}))
	if err != nil || !strings.Contains(r.Note, "Nobody on this computer answered at port") {
		t.Errorf("dead: got %+v, %v", r, err)
	}
	if r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "PORT=" + port + " python3 call.py localhost " + port}); err != nil || strings.Contains(r.Output, "reached") {
		t.Errorf("named, without the network: got %+v, %v", r, err)
	}
}

func TestAtLevel2ANamedPortIsReachedThroughTheProxyAlone(t *testing.T) {
	t.Parallel()
	k := partly(t)
	h := k.Agent("guarded")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	write(t, filepath.Join(k.Folder, "call.py"), "import sys, urllib.request\nprint(urllib.request.urlopen(sys.argv[1]).read().decode(), end='')\n")
	call := "python3 call.py http://127.0.0.1:"
	r, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: call + port + "/", Network: true}))
	if !ap.Request.Guarded {
		t.Skip("this system does not guard the network at level 2")
	}
	if err != nil || r.Output != "reached" || r.Isolation != sys.IsolationPartial {
		t.Errorf("named: got %+v, %v", r, err)
	}
	// The command below names another one.
	write(t, filepath.Join(k.Folder, "other.sh"), call+port+"/")
	r, err, _ = answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "bash other.sh; curl -s -x '' http://127.0.0.1:" + port + "0/", Network: true}))
	if err != nil || strings.Contains(r.Output, "reached") || !slices.ContainsFunc(r.Asked, func(t security.NetTry) bool { return !t.Allowed }) {
		t.Errorf("not named: got %+v, %v", r, err)
	}
}

// freePort is a port on which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func TestWhatServesInTheBackgroundIsReachedAtThePortThatItNames(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "hello.txt"), "hello\n")
	port := freePort(t)
	r, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "python3 -m http.server " + port, Network: true, Background: true}))
	if full := r.Isolation >= sys.IsolationFull; err != nil || ap.Request.Contained != r.Isolation || full != (len(ap.Request.Ports) == 1) || full && r.Note != "" {
		t.Fatalf("got %+v, %v, shown as level %d with ports %v", r, err, ap.Request.Contained, ap.Request.Ports)
	}
	var body string
	k.Until("it serves", func() bool {
		got, err := http.Get("http://127.0.0.1:" + port + "/hello.txt")
		if err != nil {
			return false
		}
		defer got.Body.Close()
		raw, err := io.ReadAll(got.Body)
		body = string(raw)
		return err == nil
	})
	if body != "hello\n" {
		t.Errorf("got %q", body)
	}
	r, err, _ = answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "sleep 600", Network: true, Background: true}))
	if err != nil || r.Isolation >= sys.IsolationFull && !strings.Contains(r.Note, "names no port") {
		t.Errorf("got %+v, %v, want it told that nobody reaches it", r, err)
	}
}

func TestApprovedCommandReachesThePathThatThePersonSaw(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("guarded")
	out := t.TempDir()
	write(t, filepath.Join(k.Folder, "a.txt"), "a\n")
	r, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "cp a.txt " + out + "/copy.txt"}))
	if err != nil || r.ExitCode != 0 || len(ap.Request.Outside) != 1 || ap.Request.Simple {
		t.Errorf("got %+v, %v, outside %q", r, err, ap.Request.Outside)
	}
	if got := read(t, filepath.Join(out, "copy.txt")); got != "a\n" {
		t.Errorf("got %q", got)
	}
}

func TestCommandsGetTheLoginShellsPathAndNoSecrets(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	tool := filepath.Join(bin, "mytool")
	write(t, tool, "#!/bin/sh\necho found \"$SECRET_TOKEN\" $PAGER\n")
	if err := os.Chmod(tool, 0o755); err != nil {
		t.Fatal(err)
	}
	asked := 0
	k := open(t, kerneltest.With(func(o *kernel.Options) {
		o.LoginEnv = func(context.Context) ([]string, error) {
			asked++
			return append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SECRET_TOKEN=hunter2hunter2"), nil
		}
	}))
	contained(t, k)
	h := k.Agent("autonomous")
	for range 3 {
		if r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "mytool"}); err != nil || r.Output != "found  cat\n" {
			t.Errorf("got %+v, %v", r, err)
		}
	}
	if asked != 1 {
		t.Errorf("the login shell was asked %d times, want once", asked)
	}
}

func TestTimeoutAndPasswordAreToldInWords(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("autonomous")
	write(t, filepath.Join(k.Folder, "slow.sh"), "echo begun\nsleep 60 & sleep 60\n")
	start := time.Now()
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash slow.sh", TimeoutS: 1})
	if err != nil || !r.TimedOut || r.Output != "begun\n" || !strings.Contains(r.Note, "timeout_s") || time.Since(start) > 10*time.Second {
		t.Errorf("got %+v, %v after %v", r, err, time.Since(start))
	}
	write(t, filepath.Join(k.Folder, "login.sh"), "printf 'Password: '\nread -r p || exit 3\n")
	r, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash login.sh"})
	if err != nil || r.ExitCode != 3 || !r.WantsPassword || !strings.Contains(r.Note, "password") {
		t.Errorf("got %+v, %v", r, err)
	}
	_, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "ls", TimeoutS: -1})
	wantCode(t, "negative", err, sys.CodeInvalid, "timeout_s")
	_, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "  "})
	wantCode(t, "empty", err, sys.CodeInvalid, "empty")
}

func TestLongOutputIsCutAndCanBeReadOn(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("guarded")
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "seq 1 40000"})
	if err != nil || !r.Truncated || len(r.Output) > 62<<10 || r.ReadMore == "" || !strings.HasPrefix(r.Output, "1\n2\n") || !strings.HasSuffix(r.Output, "\n40000\n") {
		t.Fatalf("got %d bytes, %.20q to %.20q, read more %q, truncated %v, %v", len(r.Output), r.Output, r.Output[max(0, len(r.Output)-20):], r.ReadMore, r.Truncated, err)
	}
	var whole strings.Builder
	for offset := int64(0); ; {
		l, err := h.Exec.JobLog(t.Context(), r.ReadMore, offset)
		if err != nil {
			t.Fatal(err)
		}
		whole.WriteString(l.Text)
		if offset = l.Next; l.Done {
			break
		}
	}
	if n := strings.Count(whole.String(), "\n"); n != 40000 {
		t.Errorf("got %d lines, want all 40000", n)
	}
	_, err = k.Agent("guarded").Exec.JobLog(t.Context(), r.ReadMore, 0)
	wantCode(t, "another conversation", err, sys.CodeNotFound)
}

func TestBackgroundCommandIsListedReadAndKilled(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("autonomous")
	events, err := k.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(k.Folder, "serve.sh"), "echo token=ghp_16C7e42F292c6912E7710c838347Ae178B4a\nsleep 60\n")
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash serve.sh", Background: true})
	if err != nil || r.JobID == "" {
		t.Fatalf("got %+v, %v", r, err)
	}
	jobs, err := h.Exec.Jobs(t.Context())
	if err != nil || len(jobs) != 1 || !jobs[0].Running || jobs[0].Command != "bash serve.sh" || jobs[0].RunID != h.Principal().ID {
		t.Errorf("got %+v, %v", jobs, err)
	}
	var text string
	k.Until("it says something", func() bool {
		l, err := h.Exec.JobLog(t.Context(), r.JobID, 0)
		text = l.Text
		return err == nil && text != "" && !l.Done
	})
	if strings.Contains(text, "ghp_16C7") || !strings.Contains(text, "[secret:") {
		t.Errorf("got %q, want the token masked", text)
	}
	other := k.Agent("autonomous")
	if err := other.Exec.KillJob(t.Context(), r.JobID); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("another conversation's agent: got %v", err)
	}
	if list, err := other.Exec.Jobs(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("another conversation's agent sees %+v, %v", list, err)
	}
	if err := h.Exec.KillJob(t.Context(), r.JobID); err != nil {
		t.Fatal(err)
	}
	l, err := h.Exec.JobLog(t.Context(), r.JobID, int64(len("echo")))
	if err != nil || !l.Done {
		t.Errorf("got %+v, %v, want the end", l, err)
	}
	if jobs, err = k.Person().Exec.Jobs(t.Context()); err != nil || len(jobs) != 1 || jobs[0].Running || jobs[0].End != "it was stopped" {
		t.Errorf("got %+v, %v", jobs, err)
	}
	seen := 0
	for e := range events {
		if j, ok := event.As[kernel.Job](e); ok && e.Kind == event.JobChanged {
			if seen++; !j.Running {
				break
			}
		}
	}
	if seen != 2 {
		t.Errorf("got %d events of it, want start and end", seen)
	}
	_, err = h.Exec.JobLog(t.Context(), "99", 0)
	wantCode(t, "a wrong id", err, sys.CodeNotFound, "There are: "+r.JobID)
}

const serverScript = `
[[scenario]]
any = ["serve"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "bash serve.sh", "background": true}'
[[scenario.turn]]
text = "It runs."
[[scenario]]
any = ["hang"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "bash serve.sh", "background": true}'
[[scenario.turn]]
text = "Now I think"
hang = true
`

func TestBackgroundCommandOutlivesItsRunUnlessThatIsStopped(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(serverScript))
	contained(t, k)
	write(t, filepath.Join(k.Folder, "serve.sh"), "sleep 60\n")
	auto := func(m *kernel.Submit) { m.Mode = "auto" }
	k.Ask("serve", auto)
	running := func() int {
		jobs, err := k.Person().Exec.Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, j := range jobs {
			if j.Running {
				n++
			}
		}
		return n
	}
	if n := running(); n != 1 {
		t.Errorf("got %d running after the run was done, want 1", n)
	}
	out := k.Say("hang", auto)
	k.Until("the second one runs", func() bool { return running() == 2 })
	if _, err := k.Person().Agents.Kill(t.Context(), out.RunID); err != nil {
		t.Fatal(err)
	}
	k.Until("it is ended with its run", func() bool { return running() == 1 })
}

func TestCallersEndEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("autonomous")
	write(t, filepath.Join(k.Folder, "tree.sh"), "(sleep 2; touch late) & echo started > begun; wait\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := h.Exec.Shell(ctx, kernel.ShellArgs{Command: "bash tree.sh"})
		done <- err
	}()
	k.Until("it has begun", func() bool { _, err := os.Stat(filepath.Join(k.Folder, "begun")); return err == nil })
	cancel()
	wantCode(t, "canceled", <-done, sys.CodeCanceled)
	jobs := 0
	k.Until("nothing of it is left", func() bool {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return true
		}
		jobs = 0
		for _, e := range entries {
			if cwd, err := os.Readlink("/proc/" + e.Name() + "/cwd"); err == nil && cwd == k.Folder {
				jobs++
			}
		}
		return jobs == 0
	})
	if _, err := os.Stat(filepath.Join(k.Folder, "late")); err == nil {
		t.Error("a child went on after the call was ended")
	}
}

func TestFolderForRunsIsChecked(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(k.Folder, "file.txt"), "")
	for _, d := range []string{"b", "A", ".hidden"} {
		if err := os.Mkdir(filepath.Join(k.Folder, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f, err := p.Exec.Folder(t.Context(), k.Folder)
	if err != nil || !f.Exists || f.Refused || f.Parent != filepath.Dir(k.Folder) || len(f.Entries) != 2 || f.Entries[0].Name != "A" || f.Entries[1].Path != filepath.Join(k.Folder, "b") {
		t.Errorf("got %+v, %v", f, err)
	}
	if f, err = p.Exec.Folder(t.Context(), ""); err != nil || f.Path != k.Folder {
		t.Errorf("the configured one: got %+v, %v", f, err)
	}
	inside := filepath.Join(k.Folder, "to-home")
	if err := os.Symlink(k.Home, inside); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, "~", "/", k.Home, filepath.Join(k.Home, "keys"), inside, "/etc", "/proc/self", filepath.Join(home, ".ssh")} {
		f, err := p.Exec.Folder(t.Context(), path)
		if err != nil || !f.Refused || f.Reason == "" {
			t.Errorf("%s: got %+v, %v, want it refused with a reason", path, f, err)
		}
		_, err = p.Agents.Submit(t.Context(), kernel.Submit{Text: "hello", Folder: path})
		wantCode(t, path, err, sys.CodeRefused)
	}
	for path, code := range map[string]sys.Code{filepath.Join(k.Folder, "none"): sys.CodeNotFound, filepath.Join(k.Folder, "file.txt"): sys.CodeInvalid} {
		_, err := p.Agents.Submit(t.Context(), kernel.Submit{Text: "hello", Folder: path})
		wantCode(t, path, err, code)
	}
	if _, err := k.Agent("guarded").Exec.Folder(t.Context(), k.Folder); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent: got %v, want forbidden", err)
	}
}

func TestConfiguredFolderIsMadeWhenItIsFirstUsed(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writeScript))
	folder := filepath.Join(t.TempDir(), "new", "Oxios")
	write(t, filepath.Join(k.Home, "config.toml"), "keyring = false\nfolder = \""+folder+"\"\n")
	if _, err := k.Person().Infra.Config(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := k.Ask("write hello"); r.State != "done" {
		t.Errorf("got %s, %v", r.State, r.Error)
	}
	if got := read(t, filepath.Join(folder, "hello.txt")); got != "Hello\n" {
		t.Errorf("got %q", got)
	}
}
