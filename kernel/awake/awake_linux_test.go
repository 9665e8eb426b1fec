package awake

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"

	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bus starts a message bus of its own.
func bus(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Fatal("dbus-daemon is not installed: build/packages.sh test installs it")
	}
	cmd := exec.Command(path, "--session", "--nofork", "--nopidfile", "--print-address", "--address=unix:path="+filepath.Join(t.TempDir(), "bus"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// logind stands in for the system's: it hands out locks and sees them come back.
type logind struct {
	strict bool // it lets nobody hold off sleep

	mu   sync.Mutex
	held []string // what is asked for now, and how
	own  *os.File // the copy that this process has of what it handed out
	back chan struct{}
}

// Inhibit is the method of the interface.
func (l *logind) Inhibit(what, who, why, mode string) (dbus.UnixFD, *dbus.Error) {
	if l.strict && strings.Contains(what, "sleep") {
		return 0, dbus.NewError(denied, []any{"not in this session"})
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	l.mu.Lock()
	l.held, l.own = append(l.held, strings.Join([]string{what, who, why, mode}, "|")), w
	fd := w.Fd()
	l.mu.Unlock()
	go func() {
		_, _ = io.Copy(io.Discard, r)
		_ = r.Close()
		l.mu.Lock()
		l.held = nil
		l.mu.Unlock()
		l.back <- struct{}{}
	}()
	return dbus.UnixFD(fd), nil
}

func (l *logind) serve(t *testing.T, address string) {
	t.Helper()
	l.back = make(chan struct{}, 1)
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.Export(l, manager, login+".Manager"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName(login, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
}

// now is what is held, once it was handed out.
func (l *logind) now() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.own.Close()
	return strings.Join(l.held, "\n")
}

func TestSleepIsHeldOffUntilItIsGivenBack(t *testing.T) {
	address := bus(t)
	for _, tc := range []struct {
		strict bool
		want   string
	}{
		{false, "sleep:idle|Oxios|2 agents work|block"},
		{true, "idle|Oxios|2 agents work|block"},
	} {
		l := &logind{strict: tc.strict}
		t.Run(tc.want, func(t *testing.T) {
			l.serve(t, address)
			s := System{Address: address}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			release, err := s.Hold("2 agents work")
			if err != nil {
				t.Fatal(err)
			}
			if got := l.now(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			release()
			select {
			case <-l.back:
			case <-time.After(5 * time.Second):
				t.Error("the lock did not come back")
			}
		})
	}
}

func TestWithoutABusNothingIsHeld(t *testing.T) {
	s := System{Address: "unix:path=" + filepath.Join(t.TempDir(), "nobody")}
	if _, err := s.Hold("work"); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v, want unavailable", err)
	}
	if err := s.Check(); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v, want unavailable", err)
	}
}

func TestWithoutLogindNothingIsHeld(t *testing.T) {
	s := System{Address: bus(t)}
	if err := s.Check(); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v, want unavailable", err)
	}
	if _, err := s.Hold("work"); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v, want unavailable", err)
	}
}
