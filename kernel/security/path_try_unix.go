//go:build !windows

package security

import (
	"net"
	"syscall"
)

// makeSpecial makes a pipe or a socket.
func makeSpecial(kind, at string) error {
	if kind == "fifo" {
		return syscall.Mkfifo(at, 0o600)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}
