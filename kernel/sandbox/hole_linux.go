package sandbox

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"oxios/kernel/sys"
)

// holeConns is how many connections a command may have to the proxy at a time.
// Each costs the kernel files and memory.
const holeConns = 128

// hole is the near end of the one way that leads out of a command's view: a
// socket in its temporary folder, whose far end is carried to by the process
// inside. Before it is opened nobody answers there.
type hole struct {
	l    net.Listener
	ctx  context.Context // ends when the hole is closed
	end  context.CancelFunc
	busy sync.WaitGroup
	in   *served // what it carries the other way, nil for nothing
}

// makeHole makes the socket in the folder tmp.
func makeHole(tmp string) (*hole, error) {
	dir, err := os.Open(tmp)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// By the name of the open folder: the path of a socket may have 107 bytes.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), partHole), Net: "unix"})
	if err != nil {
		return nil, sys.Errorf(sys.CodeUnavailable, "No way to the network could be made for the command: %w", err)
	}
	l.SetUnlinkOnClose(false) // it goes with its folder
	return newHole(l), nil
}

// makeDoor makes a hole for level 2: a port of this computer's loopback, the only
// one that the command may connect to. Everybody here can, so that who answers there
// has to ask for a password.
func makeDoor() (h *hole, port int, err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, 0, sys.Errorf(sys.CodeUnavailable, "No way to the network could be made for the command: %w", err)
	}
	return newHole(l), l.Addr().(*net.TCPAddr).Port, nil
}

func newHole(l net.Listener) *hole {
	h := &hole{l: l}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// open has serve answer each connection from now on.
func (h *hole) open(serve func(context.Context, net.Conn)) {
	h.busy.Go(func() {
		free := make(chan struct{}, holeConns)
		for {
			free <- struct{}{}
			c, err := h.l.Accept()
			if err != nil {
				return
			}
			h.busy.Go(func() {
				defer func() { <-free }()
				defer context.AfterFunc(h.ctx, func() { c.Close() })()
				defer c.Close()
				serve(h.ctx, c)
			})
		}
	})
}

// close ends every connection and waits for who answers them.
func (h *hole) close() {
	h.l.Close()
	if h.in != nil {
		h.in.close()
	}
	h.end()
	h.busy.Wait()
}
