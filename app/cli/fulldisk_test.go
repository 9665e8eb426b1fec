//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"oxios/kernel/demo"
)

// smallDisk is a machine whose home lies on a disk of its own, which can be
// filled. Where the system lets nobody mount one, a limit on the size of files
// stands in: then the files of a process take nothing more, which it meets as a
// disk that does not write.
type smallDisk struct {
	*machine
	holder int    // the process that keeps the mount; 0 where there is none
	says   string // what is always told when it is full
}

// newSmallDisk mounts a disk over the home of a machine. It lies in a mount
// namespace, so nothing of it is left when the test ends, however it ends.
func newSmallDisk(t *testing.T, script string) *smallDisk {
	t.Helper()
	s := &smallDisk{machine: newMachine(t, script), says: "The disk is full"}
	config, err := os.ReadFile(filepath.Join(s.home, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--mount", "--propagation", "private", "sh", "-c", `mount -t tmpfs -o size=8m tmpfs "$1" && echo mounted && exec cat`, "sh", s.home}
	if os.Getuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	holder := exec.Command("unshare", args...)
	var said bytes.Buffer
	holder.Stderr = &said
	in, err := holder.StdinPipe() // its end ends cat, and the mount with it
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = holder.Start()
	if err == nil {
		t.Cleanup(func() {
			_ = in.Close()
			_ = holder.Wait()
		})
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		t.Logf("Nobody may mount a disk here (%v %s): a limit on the size of files stands in.", err, strings.TrimSpace(said.String()))
		s.says = "The disk " // is full, or did not take what was to be saved
		return s
	}
	s.holder = holder.Process.Pid
	if err := os.WriteFile(filepath.Join(s.disk(), "config.toml"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// disk is the home as this process sees it.
func (s *smallDisk) disk() string { return "/proc/" + strconv.Itoa(s.holder) + "/root" + s.home }

// on returns a command on the disk.
func (s *smallDisk) on(ctx context.Context, args ...string) *exec.Cmd {
	cmd := s.command(ctx, args...)
	if s.holder == 0 {
		return cmd
	}
	enter := []string{"--mount", "--target", strconv.Itoa(s.holder), "sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", s.folder, s.bin}
	if os.Getuid() != 0 {
		enter = append([]string{"--user", "--preserve-credentials"}, enter...)
	}
	inside := exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
	inside.Env = cmd.Env
	return inside
}

// must runs a command that must end with code; full says that the disk is full
// from its beginning on.
func (s *smallDisk) must(code int, full bool, args ...string) result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := s.on(ctx, args...)
	if full && s.holder == 0 {
		limited := exec.CommandContext(ctx, "prlimit", append([]string{"--fsize=4096:unlimited"}, cmd.Args...)...)
		limited.Dir, limited.Env = cmd.Dir, cmd.Env
		cmd = limited
	}
	if full {
		s.fill(0)
		defer s.empty()
	}
	return s.end(cmd, code, nil)
}

// end runs cmd, calls then once it has written something, and waits for its end.
func (s *smallDisk) end(cmd *exec.Cmd, code int, then func()) result {
	s.t.Helper()
	var out, errs buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	if then != nil {
		then()
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("%s: %v", cmd, err)
	}
	r := result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	r.check(s.t, code, cmd.Args...)
	return r
}

// fill leaves no room on the disk, which pid writes to.
func (s *smallDisk) fill(pid int) {
	s.t.Helper()
	if s.holder == 0 {
		if pid == 0 {
			return
		}
		if out, err := exec.Command("prlimit", "--pid", strconv.Itoa(pid), "--fsize=4096:unlimited").CombinedOutput(); err != nil {
			s.t.Fatalf("limit the size of files: %v %s", err, out)
		}
		return
	}
	f, err := os.Create(filepath.Join(s.disk(), "filler"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		s.t.Fatalf("fill the disk: %v", err)
	}
}

func (s *smallDisk) empty() {
	s.t.Helper()
	if s.holder == 0 {
		return
	}
	if err := os.Remove(filepath.Join(s.disk(), "filler")); err != nil {
		s.t.Fatal(err)
	}
}

func TestFullDiskIsToldAndNothingBeforeItIsLost(t *testing.T) {
	t.Parallel()
	s := newSmallDisk(t, faults(t))
	s.must(0, false, "run", "Before")

	for _, args := range [][]string{{"run", "Hello"}, {"serve"}} {
		r := s.must(exitFailed, true, args...)
		contains(t, strings.Join(args, " "), r.err, s.says)
		if strings.Contains(r.err, "Move the file aside") {
			t.Errorf("got %q, want no advice to give the database up", r.err)
		}
	}

	// In the middle of a run it ends, and says so.
	env, asked, answer := s.env, make(chan bool, 8), make(chan bool)
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-answer
		demo.New(demo.Bundled()...).ServeHTTP(w, r)
	}))
	defer gate.Close()
	s.env = append(slices.Clip(env), "OXIOS_BASE_URL="+gate.URL+"/v1")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := s.on(ctx, "run", "Hello!")
	r := s.end(cmd, exitFailed, func() {
		select {
		case <-asked:
			s.fill(cmd.Process.Pid)
		case <-ctx.Done():
			t.Error("the model was never asked")
		}
		close(answer)
	})
	s.empty()
	s.env = env
	contains(t, "stdout", r.out, "scripted demo")
	contains(t, "stderr", r.err, s.says, "oxios run --session ")

	contains(t, "the conversation before it", s.must(0, false, "sessions", "list").out, "Before")
	contains(t, "the chain", s.must(0, false, "audit", "verify").out, "intact")
	contains(t, "with space again", s.must(0, false, "run", "After").out, "You said: After")
}
