package remote

import (
	"fmt"
	"net"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxPath is what fits into a socket address, with its closing zero.
const maxPath = 107

// shorten returns a name for the socket at path that fits into an address: a
// path that is too long is reached through its folder's open descriptor.
func shorten(path string) (short string, release func(), err error) {
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("open the socket's folder: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", fd, filepath.Base(path)), func() { unix.Close(fd) }, nil
}

// peerOf asks the kernel of the system who connected.
func peerOf(conn net.Conn) (Peer, error) {
	var p Peer
	err := control(conn, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return fmt.Errorf("ask who connected: %w", err)
		}
		p = Peer{UID: int(cred.Uid), PID: int(cred.Pid)}
		return nil
	})
	return p, err
}
