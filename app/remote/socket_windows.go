package remote

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"

	"oxios/kernel/sys"
)

// door is the file that tells this user's processes where the owner of a home
// listens, and the token that they must know. Its folder lies in the user's
// profile, which Windows keeps from other users.
type door struct {
	Addr  string `json:"addr"`
	Token string `json:"token"`
}

func doorPath(home string) string { return filepath.Join(home, "run", "oxios.door.json") }

// Listen opens a port on loopback for the processes of this user, which find it
// and its token in a file below home. The caller holds the home's lock: a file
// that is there already is left over from a process that was killed.
func Listen(home string) (net.Listener, error) {
	path := doorPath(home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the local door: %w", err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the local door: %w", err)
	}
	d := door{Addr: ln.Addr().String(), Token: rand.Text() + rand.Text()}
	raw, err := json.Marshal(d)
	if err == nil {
		err = os.WriteFile(path+".new", raw, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		ln.Close()
		return nil, fmt.Errorf("say where the local door is: %w", err)
	}
	return &listener{Listener: ln, path: path, token: d.Token}, nil
}

type listener struct {
	net.Listener
	path, token string
	once        sync.Once
}

// Token is what a client must know.
func (l *listener) Token() string { return l.token }

func (l *listener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() { err = errors.Join(os.Remove(l.path), l.Listener.Close()) })
	return err
}

func connect(ctx context.Context, home string) (net.Conn, string, error) {
	raw, err := os.ReadFile(doorPath(home))
	if err != nil {
		return nil, "", err
	}
	var d door
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, "", fmt.Errorf("read %s: %w", doorPath(home), err)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp4", d.Addr)
	return conn, d.Token, err
}

// check refuses the peers that may not even ask. Who the user is, the token says.
func (p Peer) check() error {
	if p.PID <= 0 {
		return sys.Errorf(sys.CodeForbidden, "The process that called cannot be found, so nobody can say for whom it calls.")
	}
	return nil
}

var getTCPTable = windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")

// tcpRow is MIB_TCPROW_OWNER_PID. Ports stand in the first two bytes, in the
// order of the network.
type tcpRow struct {
	State      uint32
	LocalAddr  [4]byte
	LocalPort  [4]byte
	RemoteAddr [4]byte
	RemotePort [4]byte
	PID        uint32
}

const ownerPIDConnections = 4 // TCP_TABLE_OWNER_PID_CONNECTIONS

// peerOf finds the process that holds the other end of conn in the system's
// table of connections.
func peerOf(conn net.Conn) (Peer, error) {
	p := Peer{UID: -1}
	theirs, ok := conn.RemoteAddr().(*net.TCPAddr)
	ours, ok2 := conn.LocalAddr().(*net.TCPAddr)
	if !ok || !ok2 {
		return p, sys.Errorf(sys.CodeForbidden, "The connection does not say who calls.")
	}
	rows, err := tcpRows()
	for _, r := range rows {
		if int(binary.BigEndian.Uint16(r.LocalPort[:])) == theirs.Port && int(binary.BigEndian.Uint16(r.RemotePort[:])) == ours.Port &&
			theirs.IP.Equal(r.LocalAddr[:]) && ours.IP.Equal(r.RemoteAddr[:]) {
			p.PID = int(r.PID)
		}
	}
	return p, err
}

func tcpRows() ([]tcpRow, error) {
	size := uint32(64 << 10)
	for range 8 { // the table may grow between two looks
		buf := make([]byte, size)
		code, _, _ := getTCPTable.Call(uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size)), 0, windows.AF_INET, ownerPIDConnections, 0)
		switch windows.Errno(code) {
		case 0:
			n := binary.LittleEndian.Uint32(buf)
			return unsafe.Slice((*tcpRow)(unsafe.Pointer(&buf[4])), n), nil
		case windows.ERROR_INSUFFICIENT_BUFFER:
			size += size / 2
		default:
			return nil, fmt.Errorf("look for the process that connected: %w", windows.Errno(code))
		}
	}
	return nil, errors.New("the system's table of connections does not stand still")
}
