package notify

import (
	"bufio"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// messageBus starts a message bus of its own.
func messageBus(t *testing.T) string {
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

func dial(t *testing.T, address string) *dbus.Conn {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// board is a notification service.
type board struct {
	conn *dbus.Conn

	mu      sync.Mutex
	last    uint32
	actions map[uint32][]string
}

func startBoard(t *testing.T, address string) *board {
	t.Helper()
	b := &board{conn: dial(t, address), actions: map[uint32][]string{}}
	t.Cleanup(func() { _ = b.conn.Close() })
	if err := b.conn.Export(b, object, service); err != nil {
		t.Fatal(err)
	}
	if reply, err := b.conn.RequestName(service, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("own the name: %v, %v", reply, err)
	}
	return b
}

func (b *board) GetCapabilities() ([]string, *dbus.Error) { return []string{"actions"}, nil }

func (b *board) Notify(_ string, replaces uint32, _, _, _ string, actions []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := replaces
	if id == 0 {
		b.last++
		id = b.last
	}
	b.actions[id] = actions
	return id, nil
}

func (b *board) CloseNotification(id uint32) *dbus.Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.actions, id)
	return nil
}

// offered returns the keys of the actions of all that is shown.
func (b *board) offered() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var keys []string
	for _, list := range b.actions {
		for i := 0; i < len(list); i += 2 {
			keys = append(keys, list[i])
		}
	}
	return keys
}

func (b *board) press(t *testing.T, id uint32, key string) {
	t.Helper()
	if err := b.conn.Emit(object, service+".ActionInvoked", id, key); err != nil {
		t.Fatal(err)
	}
}

// onBus is a bench whose notices go over a message bus. now is the clock of
// the desk: the time of a press comes from the bus.
func onBus(t *testing.T) (*bench, string, *board) {
	t.Helper()
	address := messageBus(t)
	first := startBoard(t, address)
	sender, closeSender, err := onConn(t.Context(), dial(t, address), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b := setupWith(t, sender, func() time.Time { return time.Now().Add(-still) }, plain())
	t.Cleanup(func() {
		b.stop()
		closeSender()
	})
	return b, address, first
}

func TestServiceIsToldToCloseWhatWasPressed(t *testing.T) {
	t.Parallel()
	b, _, service := onBus(t)
	b.until("it is shown", func() bool { return len(service.offered()) == 4 })
	if got := strings.Join(service.offered(), " "); got != "review deny approve default" {
		t.Errorf("got actions %q", got)
	}
	service.press(t, 1, actionApprove)
	if got := <-b.kernel.decisions; got != "approve a1 hash-1 once" {
		t.Errorf("got %q", got)
	}
	b.until("it is closed", func() bool { return len(service.offered()) == 0 })
}

func TestServiceThatComesAnewIsGivenWhatWaits(t *testing.T) {
	t.Parallel()
	b, address, first := onBus(t)
	b.until("it is shown", func() bool { return len(first.offered()) == 4 })
	if err := first.conn.Close(); err != nil {
		t.Fatal(err)
	}
	second := startBoard(t, address)
	b.until("it is shown again", func() bool { return len(second.offered()) == 4 })
	second.press(t, 1, actionApprove)
	if got := <-b.kernel.decisions; got != "approve a1 hash-1 once" {
		t.Errorf("got %q", got)
	}
}
