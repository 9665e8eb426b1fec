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
	verdict := func(network bool, abi int, arch, call uint32, args ...uint64) uint32 {
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
			var v uint64
			if i < len(args) {
				v = args[i]
			}
			data = binary.BigEndian.AppendUint32(data, uint32(v)) //nolint:gosec // the lower half
			data = binary.BigEndian.AppendUint32(data, uint32(v>>32))
		}
		n, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(n)
	}
	const allow, kill = uint32(unix.SECCOMP_RET_ALLOW), uint32(unix.SECCOMP_RET_KILL_PROCESS)
	all := uint64(^uint32(0))
	const address, high, thread = 0x7f001000, 0x7f0000000000, 4799
	for _, c := range []struct {
		name    string
		network bool
		abi     int
		call    uint32
		args    []uint64
		want    uint32
	}{
		{"read", false, 7, unix.SYS_READ, nil, allow},
		{"x32", false, 7, x32Calls + 1, nil, kill},
		{"unix socket", true, 7, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, refuse},
		{"inet without network", false, 7, unix.SYS_SOCKET, []uint64{unix.AF_INET}, refuse},
		{"inet6 without network", false, 7, unix.SYS_SOCKET, []uint64{unix.AF_INET6}, refuse},
		{"inet", true, 7, unix.SYS_SOCKET, []uint64{unix.AF_INET}, allow},
		{"inet6", true, 7, unix.SYS_SOCKET, []uint64{unix.AF_INET6}, allow},
		{"packet", true, 7, unix.SYS_SOCKET, []uint64{unix.AF_PACKET}, refuse},
		{"vsock", true, 7, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK}, refuse},
		{"route", false, 7, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, 0, unix.NETLINK_ROUTE}, allow},
		{"other netlink", true, 7, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, 0, unix.NETLINK_SOCK_DIAG}, refuse},
		{"stream pair", false, 7, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"datagram pair", true, 7, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, refuse},
		{"thread", false, 7, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"namespace", false, 7, unix.SYS_CLONE, []uint64{unix.CLONE_NEWPID}, refuse},
		{"clone3", false, 7, unix.SYS_CLONE3, nil, absent},
		{"kill another", false, 7, unix.SYS_KILL, []uint64{99}, allow},
		{"kill the helper", false, 7, unix.SYS_KILL, []uint64{helper}, refuse},
		{"kill its group", false, 7, unix.SYS_KILL, []uint64{all - helper + 1}, refuse},
		{"kill the kernel", false, 7, unix.SYS_TGKILL, []uint64{kernel, kernel}, refuse},
		{"kill all", false, 7, unix.SYS_KILL, []uint64{all}, refuse},
		{"type into a terminal", false, 7, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, refuse},
		{"read limits of another", false, 7, unix.SYS_PRLIMIT64, []uint64{thread, unix.RLIMIT_NOFILE, 0, address}, allow},
		{"set its own limits", false, 7, unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_NOFILE, address}, allow},
		{"set limits of a thread", false, 7, unix.SYS_PRLIMIT64, []uint64{thread, unix.RLIMIT_NOFILE, address}, refuse},
		{"set limits of the helper", false, 7, unix.SYS_PRLIMIT64, []uint64{helper, unix.RLIMIT_CPU, address}, refuse},
		{"set limits that lie high", false, 7, unix.SYS_PRLIMIT64, []uint64{thread, unix.RLIMIT_NOFILE, high}, refuse},
		{"set its own limits that lie high", false, 7, unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_NOFILE, high}, allow},
		{"be nice", false, 7, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 0, 19}, allow},
		{"make its group nice", false, 7, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PGRP, 0, 19}, allow},
		{"make another nice", false, 7, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, thread, 19}, refuse},
		{"make another group nice", false, 7, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PGRP, helper, 19}, refuse},
		{"make the account nice", false, 7, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_USER, 0, 19}, refuse},
		{"be idle on the disk", false, 7, unix.SYS_IOPRIO_SET, []uint64{1, 0, 0x6000}, allow},
		{"make another idle on the disk", false, 7, unix.SYS_IOPRIO_SET, []uint64{1, thread, 0x6000}, refuse},
		{"make the account idle on the disk", false, 7, unix.SYS_IOPRIO_SET, []uint64{ioprioUser, 0, 0x6000}, refuse},
		{"choose its processor", false, 7, unix.SYS_SCHED_SETAFFINITY, []uint64{0, 8, address}, allow},
		{"choose the processor of another", false, 7, unix.SYS_SCHED_SETAFFINITY, []uint64{thread, 8, address}, refuse},
		{"be scheduled otherwise", false, 7, unix.SYS_SCHED_SETSCHEDULER, []uint64{0, 5, address}, allow},
		{"schedule another", false, 7, unix.SYS_SCHED_SETSCHEDULER, []uint64{thread, 5, address}, refuse},
		{"schedule another by its parameters", false, 7, unix.SYS_SCHED_SETPARAM, []uint64{thread, address}, refuse},
		{"schedule another by its attributes", false, 7, unix.SYS_SCHED_SETATTR, []uint64{thread, address}, refuse},
		{"move the memory of another", false, 7, unix.SYS_MIGRATE_PAGES, []uint64{thread}, refuse},
		{"truncate", false, 3, unix.SYS_TRUNCATE, nil, allow},
		{"truncate, old", false, 2, unix.SYS_TRUNCATE, nil, refuse},
		{"open to read, old", false, 2, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY | unix.O_CLOEXEC}, allow},
		{"open to write, old", false, 2, unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY | unix.O_TRUNC}, allow},
		{"open to empty, old", false, 2, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY | unix.O_TRUNC}, refuse},
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
