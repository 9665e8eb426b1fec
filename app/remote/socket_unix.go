//go:build unix

package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"oxios/kernel/sys"
)

const socketName = "oxios.sock"

// Listen opens the socket of home, which only this user can reach. The caller
// holds the home's lock: a socket that nobody answers is left over from a
// process that was killed, and is replaced. Closing the listener removes it.
func Listen(home string) (net.Listener, error) {
	dir := filepath.Join(home, "run")
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, socketName)
	if err := removeStale(path); err != nil {
		return nil, err
	}
	short, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer release()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("open the socket %s: %w", path, err)
	}
	ln.SetUnlinkOnClose(false) // it would look for the short name
	// The folder has kept everybody else out since before the socket existed.
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("open the socket %s: %w", path, err)
	}
	return &listener{Listener: ln, path: path}, nil
}

type listener struct {
	net.Listener
	path string
	once sync.Once
}

func (l *listener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		// Removed first: whoever dials in between finds no socket rather than a dead one.
		err = errors.Join(os.Remove(l.path), l.Listener.Close())
	})
	return err
}

// connect dials the socket of home. No token is needed: the system says who calls.
func connect(ctx context.Context, home string) (net.Conn, string, error) {
	short, release, err := shorten(filepath.Join(home, "run", socketName))
	if err != nil {
		return nil, "", err
	}
	defer release()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", short)
	return conn, "", err
}

// privateDir makes dir, or checks that it is ours and closes it for others.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the socket's folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the socket's folder: %w", err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(stat.Uid) != os.Getuid() {
		e := sys.Errorf(sys.CodeForbidden, "%s is not a folder of this user, so no socket is opened in it.", dir)
		return e.WithHint("Remove it, or set OXIOS_HOME to a folder of your own.")
	}
	if info.Mode().Perm() == 0o700 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}

// removeStale removes a socket that nobody answers.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		e := sys.Errorf(sys.CodeConflict, "%s is not a socket, so it was left as it is.", path)
		return e.WithHint("Move it away and start again.")
	}
	short, release, err := shorten(path)
	if err != nil {
		return err
	}
	defer release()
	conn, err := net.DialTimeout("unix", short, time.Second)
	if err == nil {
		conn.Close()
		e := sys.Errorf(sys.CodeBusy, "Another Oxios answers on %s.", path)
		return e.WithHint("Use that one, or end it first.")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("ask who answers on %s: %w", path, err)
	}
	return os.Remove(path)
}

// check refuses the peers that may not even ask.
func (p Peer) check() error {
	if p.UID != os.Getuid() {
		return sys.Errorf(sys.CodeForbidden, "The socket belongs to another user.")
	}
	// 0 is what a process of another PID namespace looks like from here.
	if p.PID <= 0 || syscall.Kill(p.PID, 0) != nil {
		return sys.Errorf(sys.CodeForbidden, "The process that called cannot be found, so nobody can say for whom it calls.")
	}
	return nil
}

// control runs fn on the file descriptor of a unix connection.
func control(conn net.Conn, fn func(fd int) error) error {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return sys.Errorf(sys.CodeForbidden, "The connection does not say who calls.")
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = fn(int(fd)) }); err != nil {
		return err
	}
	return inner
}
