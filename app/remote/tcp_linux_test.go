package remote

import (
	"net"
	"os"
	"os/exec"
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
	if pid, known := peerOfTCP(accepted.LocalAddr(), accepted.RemoteAddr()); !known || pid != os.Getpid() {
		t.Errorf("got %d, %v, want this process", pid, known)
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
	if pid, known := peerOfTCP(theirs.LocalAddr(), theirs.RemoteAddr()); !known || pid != other.Process.Pid {
		t.Errorf("got %d, %v, want %d", pid, known, other.Process.Pid)
	}
	if err := theirs.Close(); err != nil {
		t.Error(err)
	}
	_ = other.Wait() // it reads nothing
	if _, known := peerOfTCP(theirs.LocalAddr(), theirs.RemoteAddr()); known {
		t.Error("a connection that has ended has a process")
	}
}
