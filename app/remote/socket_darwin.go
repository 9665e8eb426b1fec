package remote

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// maxPath is what fits into a socket address, with its closing zero.
const maxPath = 103

func shorten(path string) (short string, release func(), err error) {
	if len(path) > maxPath {
		e := sys.Errorf(sys.CodeInvalid, "The socket's path %s has %d bytes, and %d is the most.", path, len(path), maxPath)
		return "", nil, e.WithHint("Set OXIOS_HOME to a shorter path.")
	}
	return path, func() {}, nil
}

// peerOf asks the kernel of the system who connected.
func peerOf(conn net.Conn) (Peer, error) {
	var p Peer
	err := control(conn, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return fmt.Errorf("ask who connected: %w", err)
		}
		pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		if err != nil {
			return fmt.Errorf("ask which process connected: %w", err)
		}
		p = Peer{UID: int(cred.Uid), PID: pid}
		return nil
	})
	return p, err
}
