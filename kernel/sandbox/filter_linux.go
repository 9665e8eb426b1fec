//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// denied are the calls that no command needs and that lead around the limits,
// into other processes, or to the machine itself.
var denied = []uint32{
	// Other processes, and ways to act where the filter does not see.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_USERFAULTFD, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	// Memory and messages that the account's programs share: the X server keeps windows there.
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	// Mounts and namespaces.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_FSMOUNT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_MOUNT_SETATTR, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
	// Keys.
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	// The machine.
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_SYSLOG,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
}

// Where the parts of a call lie in what the filter reads.
const (
	offCall, offArch                   = 0, 4
	offArg0, offArg1, offArg2, offArg3 = 16, 24, 32, 40 // their lower halves; the upper ones follow
	upper                              = 4
	refuse                             = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent                             = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	newNamespaces                      = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	x32Calls                           = 0x40000000
)

// program is a filter that is being written.
type program []bpf.Instruction

func ret(action uint32) bpf.Instruction { return bpf.RetConstant{Val: action} }

func load(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: 4} }

// when runs then, which has to end with a return, for one call.
func (p *program) when(call uint32, then ...bpf.Instruction) {
	*p = append(*p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: uint8(len(then))})
	*p = append(*p, then...)
}

// refuseValues refuses a call when the argument at offset is one of values.
func (p *program) refuseValues(call, offset uint32, values ...uint32) {
	then := []bpf.Instruction{load(offset)}
	for _, v := range values {
		then = append(then, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1}, ret(refuse))
	}
	p.when(call, append(then, ret(unix.SECCOMP_RET_ALLOW))...)
}

// filterCalls puts the seccomp filter on the calling thread.
func filterCalls(p plan, abi int) error {
	raw, err := bpf.Assemble(filterProgram(p, abi, os.Getpid()))
	if err != nil {
		return err
	}
	f := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		f[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return install(f)
}

func filterProgram(p plan, abi, helper int) []bpf.Instruction {
	f := program{
		// Another architecture reaches the same calls under other numbers.
		load(offArch),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: nativeArch, SkipTrue: 1},
		ret(unix.SECCOMP_RET_KILL_PROCESS),
		load(offCall),
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32Calls, SkipTrue: 1},
		ret(unix.SECCOMP_RET_KILL_PROCESS),
	}
	for _, calls := range [][]uint32{denied, deniedHere} {
		for _, c := range calls {
			f.when(c, ret(refuse))
		}
	}
	// The flags of clone3 lie in memory, which a filter cannot read; without
	// it libraries fall back to clone.
	f.when(unix.SYS_CLONE3, ret(absent))
	f.when(unix.SYS_CLONE, load(offArg0),
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: newNamespaces, SkipTrue: 1}, ret(refuse), ret(unix.SECCOMP_RET_ALLOW))
	// Behind the walls the only network is the command's own loopback.
	f.sockets(p.Network || sys.Isolation(p.Level) >= sys.IsolationFull, p.Door > 0)
	f.refuseValues(unix.SYS_IOCTL, offArg1, unix.TIOCSTI, unix.TIOCLINUX) // typing into somebody's terminal
	f.protect(helper, p.Kernel)
	f.leaveOthers()
	if abi < 3 {
		f.truncation()
	}
	return append(f, ret(unix.SECCOMP_RET_ALLOW))
}

// sockets lets through what the network needs, and pairs that reach nobody
// else. A datagram pair could be sent to a named socket, a stream pair cannot.
// Netlink's route family only tells the host's addresses, which /proc tells
// too; getaddrinfo and Node need it, and the right to change them is dropped.
//
// With a door Landlock decides where TCP connects to. It sees no other protocol, and
// no connection that begins with what is sent.
func (f *program) sockets(network, door bool) {
	then := []bpf.Instruction{
		load(offArg0),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_NETLINK, SkipTrue: 3},
		load(offArg2),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 1},
		ret(unix.SECCOMP_RET_ALLOW),
	}
	switch {
	case network && door:
		then = append(then, load(offArg0),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 1},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_INET6, SkipTrue: 7},
			load(offArg1), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SOCK_STREAM, SkipTrue: 4},
			load(offArg2),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_TCP, SkipTrue: 1},
			ret(unix.SECCOMP_RET_ALLOW))
		for call, offset := range map[uint32]uint32{unix.SYS_SENDTO: offArg3, unix.SYS_SENDMSG: offArg2, unix.SYS_SENDMMSG: offArg3} {
			f.when(call, load(offset), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.MSG_FASTOPEN, SkipTrue: 1}, ret(refuse), ret(unix.SECCOMP_RET_ALLOW))
		}
	case network:
		then = append(then, load(offArg0),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 1},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_INET6, SkipTrue: 1},
			ret(unix.SECCOMP_RET_ALLOW))
	}
	then = append(then, ret(refuse))
	f.when(unix.SYS_SOCKET, then...)
	f.when(unix.SYS_SOCKETPAIR, load(offArg1), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 1}, ret(refuse), ret(unix.SECCOMP_RET_ALLOW))
}

// protect refuses signals to the helper and the kernel, and to everybody at
// once. Landlock does it completely from ABI 6 on; here the ids of the helper's
// other threads stay open.
func (f *program) protect(helper, kernel int) {
	h, k := uint32(helper), uint32(kernel)
	f.refuseValues(unix.SYS_KILL, offArg0, h, k, -h, ^uint32(0))
	for _, call := range []uint32{unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN} {
		f.refuseValues(call, offArg0, h, k)
	}
}

// leaveOthers lets a process change limits and priorities of its own alone. Those
// of others are told by the ids of threads too, of which a filter knows none: a
// command could leave its helper without files or processor, and the account's
// other programs with it. The name 0 is the caller.
func (f *program) leaveOthers() {
	other := func(offset uint32) []bpf.Instruction {
		return []bpf.Instruction{load(offset), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, ret(refuse)}
	}
	mine := ret(unix.SECCOMP_RET_ALLOW)
	for _, call := range []uint32{
		unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
		unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	} {
		f.when(call, append(other(offArg0), mine)...)
	}
	// Reading limits is free: there the new ones are no address.
	f.when(unix.SYS_PRLIMIT64, append([]bpf.Instruction{
		load(offArg2),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 3},
		load(offArg2 + upper),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 1},
		mine,
	}, append(other(offArg0), mine)...)...)
	// Whose they are has a kind: a process, a group, or all of the account, which is
	// never only the caller's.
	for call, account := range map[uint32]uint32{unix.SYS_SETPRIORITY: unix.PRIO_USER, unix.SYS_IOPRIO_SET: ioprioUser} {
		f.when(call, append([]bpf.Instruction{
			load(offArg0), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: account, SkipTrue: 1}, ret(refuse),
		}, append(other(offArg1), mine)...)...)
	}
}

// ioprioUser names, for ioprio_set, all processes of an account.
const ioprioUser = 3

// truncation makes up for a Landlock that does not know the right to truncate
// (before Linux 6.2): a file that may only be read could be emptied by truncate,
// and by opening it for reading with O_TRUNC.
func (f *program) truncation() {
	f.when(unix.SYS_TRUNCATE, ret(refuse))
	f.when(unix.SYS_OPENAT2, ret(absent)) // its flags lie in memory; libraries fall back to openat
	for call, offset := range map[uint32]uint32{unix.SYS_OPENAT: offArg2, sysOpen: offArg1} {
		f.when(call, load(offset), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: unix.O_TRUNC | unix.O_ACCMODE},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.O_TRUNC | unix.O_RDONLY, SkipTrue: 1}, ret(refuse), ret(unix.SECCOMP_RET_ALLOW))
	}
}
