//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

func FuzzFilterAssembles(f *testing.F) {
	f.Add(true, 7, 100, 200)
	f.Add(false, 1, 1, 1)
	f.Fuzz(func(t *testing.T, network bool, abi, helper, kernel int) {
		prog := filterProgram(plan{Network: network, Kernel: kernel}, abi, helper)
		if _, err := bpf.Assemble(prog); err != nil || len(prog) > 4096 {
			t.Errorf("got %d instructions, %v", len(prog), err)
		}
		if _, err := bpf.NewVM(prog); err != nil {
			t.Error(err)
		}
	})
}

func TestFilterDecidesByArguments(t *testing.T) {
	t.Parallel()
	const helper, kernel = 4711, 4712
	verdict := func(network bool, abi int, arch, call uint32, args ...uint32) uint32 {
		t.Helper()
		vm, err := bpf.NewVM(filterProgram(plan{Network: network, Kernel: kernel}, abi, helper))
		if err != nil {
			t.Fatal(err)
		}
		// The kernel hands the words over as they are; the test machine reads big-endian.
		data := binary.BigEndian.AppendUint32(nil, call)
		data = binary.BigEndian.AppendUint32(data, arch)
		data = append(data, make([]byte, 8)...)
		for i := range 6 {
			var v uint32
			if i < len(args) {
				v = args[i]
			}
			data = append(binary.BigEndian.AppendUint32(data, v), 0, 0, 0, 0)
		}
		n, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(n)
	}
	const allow, kill = uint32(unix.SECCOMP_RET_ALLOW), uint32(unix.SECCOMP_RET_KILL_PROCESS)
	all := ^uint32(0)
	for _, c := range []struct {
		name    string
		network bool
		abi     int
		call    uint32
		args    []uint32
		want    uint32
	}{
		{"read", false, 7, unix.SYS_READ, nil, allow},
		{"x32", false, 7, x32Calls + 1, nil, kill},
		{"unix socket", true, 7, unix.SYS_SOCKET, []uint32{unix.AF_UNIX, unix.SOCK_STREAM}, refuse},
		{"inet without network", false, 7, unix.SYS_SOCKET, []uint32{unix.AF_INET}, refuse},
		{"inet6 without network", false, 7, unix.SYS_SOCKET, []uint32{unix.AF_INET6}, refuse},
		{"inet", true, 7, unix.SYS_SOCKET, []uint32{unix.AF_INET}, allow},
		{"inet6", true, 7, unix.SYS_SOCKET, []uint32{unix.AF_INET6}, allow},
		{"packet", true, 7, unix.SYS_SOCKET, []uint32{unix.AF_PACKET}, refuse},
		{"vsock", true, 7, unix.SYS_SOCKET, []uint32{unix.AF_VSOCK}, refuse},
		{"route", false, 7, unix.SYS_SOCKET, []uint32{unix.AF_NETLINK, 0, unix.NETLINK_ROUTE}, allow},
		{"other netlink", true, 7, unix.SYS_SOCKET, []uint32{unix.AF_NETLINK, 0, unix.NETLINK_SOCK_DIAG}, refuse},
		{"stream pair", false, 7, unix.SYS_SOCKETPAIR, []uint32{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"datagram pair", true, 7, unix.SYS_SOCKETPAIR, []uint32{unix.AF_UNIX, unix.SOCK_DGRAM}, refuse},
		{"thread", false, 7, unix.SYS_CLONE, []uint32{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"namespace", false, 7, unix.SYS_CLONE, []uint32{unix.CLONE_NEWPID}, refuse},
		{"clone3", false, 7, unix.SYS_CLONE3, nil, absent},
		{"kill another", false, 7, unix.SYS_KILL, []uint32{99}, allow},
		{"kill the helper", false, 7, unix.SYS_KILL, []uint32{helper}, refuse},
		{"kill its group", false, 7, unix.SYS_KILL, []uint32{all - helper + 1}, refuse},
		{"kill the kernel", false, 7, unix.SYS_TGKILL, []uint32{kernel, kernel}, refuse},
		{"kill all", false, 7, unix.SYS_KILL, []uint32{all}, refuse},
		{"type into a terminal", false, 7, unix.SYS_IOCTL, []uint32{0, unix.TIOCSTI}, refuse},
		{"truncate", false, 3, unix.SYS_TRUNCATE, nil, allow},
		{"truncate, old", false, 2, unix.SYS_TRUNCATE, nil, refuse},
		{"open to read, old", false, 2, unix.SYS_OPENAT, []uint32{0, 0, unix.O_RDONLY | unix.O_CLOEXEC}, allow},
		{"open to write, old", false, 2, unix.SYS_OPENAT, []uint32{0, 0, unix.O_WRONLY | unix.O_TRUNC}, allow},
		{"open to empty, old", false, 2, unix.SYS_OPENAT, []uint32{0, 0, unix.O_RDONLY | unix.O_TRUNC}, refuse},
		{"openat2, old", false, 2, unix.SYS_OPENAT2, nil, absent},
	} {
		if got := verdict(c.network, c.abi, nativeArch, c.call, c.args...); got != c.want {
			t.Errorf("%s: got %#x, want %#x", c.name, got, c.want)
		}
	}
	if got := verdict(true, 7, unix.AUDIT_ARCH_I386, unix.SYS_READ); got != kill {
		t.Errorf("a foreign architecture: got %#x, want it killed", got)
	}
}
