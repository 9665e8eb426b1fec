//go:build desktop || dev || bindings

package desktop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"oxios/kernel/sys"
)

// handover is what a second start asks of the first.
type handover struct {
	Open   string `json:"open"`             // a deep link, or "": show the window
	Hidden bool   `json:"hidden,omitempty"` // leave the window where it is
	End    bool   `json:"end,omitempty"`    // to the quick prompt: the person quits
}

// accepted is the first one's answer.
const accepted = "ok\n"

// instance is the one window of its kind of a home: it holds run/desktop.lock
// and takes what later starts hand over on run/desktop.sock. The quick prompt
// has run/quick.lock and run/quick.sock.
type instance struct {
	lock *flock.Flock
	ln   net.Listener
	path string
}

// claim makes this process the window of home that is called name. When another
// one is, it hands want over to that one and returns nil.
func claim(ctx context.Context, home, name string, want handover) (*instance, error) {
	dir := filepath.Join(home, "run")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, sys.Errorf(sys.CodeUnavailable, "The folder %s cannot be made: %w.", dir, err)
	}
	i := &instance{lock: flock.New(filepath.Join(dir, name+".lock"), flock.SetPermissions(0o600)), path: filepath.Join(dir, name+".sock")}
	// The other one may be starting, or ending: both pass.
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		mine, err := i.lock.TryLock()
		if err != nil {
			return nil, sys.Errorf(sys.CodeUnavailable, "The home %s cannot be locked: %w.", home, err)
		}
		if mine {
			break
		}
		if handOver(ctx, i.path, want) == nil {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, sys.Errorf(sys.CodeBusy, "Oxios is open already, but does not answer.").WithHint("End it and start again.")
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := i.listen(); err != nil {
		_ = i.lock.Unlock()
		return nil, err
	}
	return i, nil
}

func (i *instance) listen() error {
	// Whoever holds the lock owns the socket; one that is there was left over.
	if err := os.Remove(i.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the old socket: %w", err)
	}
	return near(i.path, func(short string) (err error) {
		if i.ln, err = net.Listen("unix", short); err != nil {
			return fmt.Errorf("open the socket %s: %w", i.path, err)
		}
		i.ln.(*net.UnixListener).SetUnlinkOnClose(false) // it would look for the short name
		return os.Chmod(i.path, 0o600)
	})
}

// serve calls show for each later start, until the instance is closed.
func (i *instance) serve(ctx context.Context, show func(handover), log *slog.Logger) {
	var open sync.WaitGroup
	defer open.Wait()
	for {
		conn, err := i.ln.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				log.ErrorContext(ctx, "Later starts are not taken any more", "error", err)
			}
			return
		}
		open.Go(func() {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
			var h handover
			if err := json.NewDecoder(io.LimitReader(conn, 4096)).Decode(&h); err != nil {
				log.WarnContext(ctx, "A later start could not be understood", "error", err)
				return
			}
			show(h)
			_, _ = io.WriteString(conn, accepted)
		})
	}
}

// close lets another process be the window.
func (i *instance) close() {
	_ = os.Remove(i.path)
	i.ln.Close()
	_ = i.lock.Unlock()
}

func handOver(ctx context.Context, path string, want handover) error {
	return near(path, func(short string) error {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", short)
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
		if err := json.NewEncoder(conn).Encode(want); err != nil {
			return err
		}
		answer, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil && answer != accepted {
			return fmt.Errorf("answered %q", answer)
		}
		return err
	})
}

// near calls fn with a name of path that a socket can have: the system takes
// about a hundred bytes, and a home may lie deeper.
func near(path string, fn func(short string) error) error {
	if len(path) < 100 {
		return fn(path)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return fn(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
}
