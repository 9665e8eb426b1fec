package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// landlockABI returns the version of Landlock on this host, 0 for none.
func landlockABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// confine limits the calling thread, and with it all that it forks.
func confine(p plan) error {
	level := sys.Isolation(p.Level)
	if level < sys.IsolationLimits {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if err := dropCapabilities(level); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	abi := landlockABI()
	if p.ABI > 0 {
		abi = min(abi, p.ABI)
	}
	if err := restrict(level, abi, p); err != nil {
		return fmt.Errorf("Landlock: %w", err)
	}
	if err := filterCalls(p, abi); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

// dropCapabilities takes from root what acts on the machine, and from level 2 on
// what changes the files of others: Landlock does not see chmod, chown and
// attributes. An ordinary user has none to begin with. With no_new_privs no exec
// brings one back.
func dropCapabilities(level sys.Isolation) error {
	kept := uint32(1<<unix.CAP_KILL | 1<<unix.CAP_NET_BIND_SERVICE)
	if level < sys.IsolationPartial {
		kept |= 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	for i := range data {
		mask := kept
		if i > 0 {
			mask = 0
		}
		data[i].Effective &= mask
		data[i].Permitted &= mask
		data[i].Inheritable = 0
	}
	return unix.Capset(&head, &data[0])
}

// What a rule can grant, by the ABI that brought it.
const (
	fsV1   = 1<<13 - 1
	fsFile = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
	fsRead = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir

	fsWrite = fsV1&^(ll.AccessFSMakeChar|ll.AccessFSMakeBlock) | ll.AccessFSRefer | ll.AccessFSTruncate
	fsDev   = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
)

// handled is all that the ABI can deny at the level.
func handled(level sys.Isolation, abi int, network, door bool) ll.RulesetAttr {
	var a ll.RulesetAttr
	if abi >= 6 {
		a.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	if level < sys.IsolationPartial {
		return a // the scopes alone protect the helper
	}
	a.HandledAccessFS = fsV1
	for _, f := range []struct {
		abi   int
		right uint64
	}{{2, ll.AccessFSRefer}, {3, ll.AccessFSTruncate}, {5, ll.AccessFSIoctlDev}, {9, ll.AccessFSResolveUnix}} {
		if abi >= f.abi {
			a.HandledAccessFS |= f.right
		}
	}
	if !network && abi >= 4 {
		a.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if !network && abi >= 10 {
		a.HandledAccessNet |= ll.AccessNetBindUDP | ll.AccessNetConnectSendUDP
	}
	if door {
		a.HandledAccessNet = ll.AccessNetConnectTCP
		if abi >= 10 {
			a.HandledAccessNet |= ll.AccessNetBindUDP | ll.AccessNetConnectSendUDP
		}
	}
	return a
}

// restrict puts the thread into a Landlock domain. The low-level calls are
// used because the library's own Restrict takes in the whole process.
func restrict(level sys.Isolation, abi int, p plan) error {
	attr := handled(level, abi, p.Network || level >= sys.IsolationFull, p.Door > 0)
	if level >= sys.IsolationPartial && abi < 1 {
		return errors.New("this kernel does not offer it")
	}
	if attr.HandledAccessFS|attr.HandledAccessNet|attr.Scoped == 0 {
		return nil
	}
	// An older kernel takes the longer structure, as its new fields are zero.
	set, err := ll.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return fmt.Errorf("make rules for ABI %d: %w", abi, err)
	}
	defer unix.Close(set)
	if attr.HandledAccessFS != 0 {
		for _, r := range p.Rules {
			if err := addRule(set, r, attr.HandledAccessFS); err != nil {
				return fmt.Errorf("grant %s on %s: %w", r.Access, r.Path, err)
			}
		}
	}
	if p.Door > 0 {
		if err := ll.LandlockAddNetPortRule(set, &ll.NetPortAttr{AllowedAccess: ll.AccessNetConnectTCP, Port: uint64(p.Door)}, 0); err != nil { //nolint:gosec // a port has 16 bits
			return fmt.Errorf("open the way to the network: %w", err)
		}
	}
	if err := ll.LandlockRestrictSelf(set, 0); err != nil {
		return fmt.Errorf("enter the domain: %w", err)
	}
	return nil
}

func addRule(set int, r rule, handled uint64) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC}
	var fd int
	var err error
	if r.Strict {
		// The path was judged without symlinks: another command must not
		// have put one in its way since.
		how.Resolve = unix.RESOLVE_NO_SYMLINKS
		fd, err = unix.Openat2(unix.AT_FDCWD, r.Path, &how)
	} else {
		fd, err = unix.Open(r.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		if !r.Strict && (errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) || errors.Is(err, unix.ENOTDIR)) {
			return nil
		}
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	right := map[access]uint64{accessList: ll.AccessFSReadDir, accessRead: fsRead, accessWrite: fsWrite, accessDevice: fsDev}[r.Access]
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		right &= fsFile
	}
	if right &= handled; right == 0 {
		return fmt.Errorf("unknown access %q", r.Access)
	}
	return ll.LandlockAddPathBeneathRule(set, &ll.PathBeneathAttr{AllowedAccess: right, ParentFd: fd}, 0)
}

// install puts the seccomp filter on the calling thread.
func install(f []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return e
	}
	return nil
}
