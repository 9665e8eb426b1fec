package remote

import (
	"net"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTheProcessBehindAConnectionIsFound(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	own, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if pid, tells := peerOfTCP(accepted.LocalAddr(), accepted.RemoteAddr()); !tells || pid != os.Getpid() {
		t.Errorf("got %d, %v, want this process", pid, tells)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/"+port+"; read -r <&3")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	theirs, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if pid, tells := peerOfTCP(theirs.LocalAddr(), theirs.RemoteAddr()); !tells || pid != other.Process.Pid {
		t.Errorf("got %d, %v, want %d", pid, tells, other.Process.Pid)
	}
	if err := theirs.Close(); err != nil {
		t.Error(err)
	}
	_ = other.Wait() // it reads nothing
	if pid, tells := peerOfTCP(theirs.LocalAddr(), theirs.RemoteAddr()); pid != 0 || !tells {
		t.Errorf("a connection that has ended: got %d, %v, want none, and that this system tells", pid, tells)
	}
}

func TestAConnectionThatNoProcessHasIsNotLetIn(t *testing.T) {
	t.Parallel()
	from, to := netip.MustParseAddrPort("127.0.0.1:256"), netip.MustParseAddrPort("127.0.0.1:512")
	for inode, want := range map[string]string{"4711": "4711", "0": ""} {
		table := filepath.Join(t.TempDir(), "tcp")
		line := "   0: 0100007F:0100 0100007F:0200 01 00000000:00000000 00:00000000 00000000     0        0 " + inode + " 1\n"
		if err := os.WriteFile(table, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := inodeOf(table, from, to); got != want {
			t.Errorf("the socket %s: got %q, want %q", inode, got, want)
		}
	}
	hidden, there := net.Pipe()
	defer hidden.Close()
	defer there.Close()
	r := httptest.NewRequestWithContext(WithConn(t.Context(), hidden), "POST", "/mcp", nil)
	if got := PeerOf(nil, r); got != PeerLost {
		t.Errorf("a process that is not found: got %d, want %d", got, PeerLost)
	}
}
