package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// canaryEnv carries the bait to the canary.
const canaryEnv = "OXIOS_CANARY"

// The exit codes of a single attempt.
const (
	escaped = 42
	refused = 43
)

// attempt is one canary: try returns nil when it got through.
type attempt struct {
	name  string
	level sys.Isolation // from this level on it has to fail
	abi   int           // and from this Landlock on
	try   func() error
}

// canaryMain is the canary's process: it tries everything and reports, or with
// a name tries one thing that may end the process.
func canaryMain(args []string) {
	if len(args) == 1 {
		trySingle(args[0])
	}
	if len(args) != 2 {
		os.Exit(64)
	}
	level, _ := strconv.Atoi(args[0])
	abi, _ := strconv.Atoi(args[1])
	var b bait
	if err := json.Unmarshal([]byte(os.Getenv(canaryEnv)), &b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(65)
	}
	var out []Canary
	for _, a := range attempts(b, sys.Isolation(level)) {
		err := a.try()
		c := Canary{Name: a.name, Held: err != nil, Advisory: sys.Isolation(level) < a.level || abi < a.abi}
		switch {
		case errors.Is(err, errUntried):
			c.Held, c.Detail = false, err.Error()
		case err != nil:
			c.Detail = err.Error()
		case abi < a.abi:
			c.Detail = fmt.Sprintf("it needs Landlock ABI %d, this host has %d", a.abi, abi)
		default:
			c.Detail = "it got through"
		}
		out = append(out, c)
	}
	for _, n := range needs(sys.Isolation(level)) {
		c := Canary{Name: n.name, Held: true, Advisory: abi < n.abi}
		if err := n.try(); err != nil {
			c.Held, c.Detail = false, err.Error()
			if c.Advisory {
				c.Detail = fmt.Sprintf("it needs Landlock ABI %d, this host has %d", n.abi, abi)
			}
		}
		out = append(out, c)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		os.Exit(66)
	}
	os.Exit(0)
}

// errno turns what a raw call returns into an attempt's result.
func errno(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func dial(network, address string) error {
	c, err := net.DialTimeout(network, address, 500*time.Millisecond)
	if err == nil {
		c.Close()
	}
	return notPermitted(err)
}

// notPermitted keeps an error that says no, and drops any other: that one
// would show that nobody answered, not that nobody may ask.
func notPermitted(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) {
		return err
	}
	return nil
}

// attempts are the escapes. Each is harmless where it gets through. At level 3
// a command may use sockets of the network, but they lead nowhere.
func attempts(b bait, level sys.Isolation) []attempt {
	const limits, partial, full = sys.IsolationLimits, sys.IsolationPartial, sys.IsolationFull
	tcp := func() error { return dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(b.Port))) }
	udp := attempt{"make a UDP socket", limits, 0, func() error { return dial("udp", "127.0.0.1:9") }}
	if level >= full {
		tcp = func() error { return reach("tcp", b.Port) }
		udp = attempt{"send over UDP", full, 0, func() error { return reach("udp", b.UDP) }}
	}
	return []attempt{
		{"read a file outside", partial, 0, func() error { return open(b.Secret, unix.O_RDONLY) }},
		{"read a hidden file", partial, 0, func() error { return open(b.Hidden, unix.O_RDONLY) }},
		{"list a folder outside", partial, 0, func() error { return open(b.Outside, unix.O_RDONLY|unix.O_DIRECTORY) }},
		{"write outside", partial, 0, func() error { return open(filepath.Join(b.Outside, "new"), unix.O_WRONLY|unix.O_CREAT) }},
		{"make an entry beside a hidden one", partial, 0, func() error {
			return unix.Mkdir(filepath.Join(filepath.Dir(filepath.Dir(b.Hidden)), "new"), 0o700)
		}},
		{"truncate a file that may be read", partial, 0, func() error { return unix.Truncate(b.ReadOnly, 0) }},
		{"open it for reading, emptied", partial, 0, func() error { return open(b.ReadOnly, unix.O_RDONLY|unix.O_TRUNC) }},
		{"move a file out", partial, 0, func() error { return os.Rename("file", filepath.Join(b.Outside, "file")) }},
		{"link a file in", partial, 0, func() error { return os.Link(b.ReadOnly, "linked") }},
		{"read the environment of a process outside", partial, 0, func() error {
			return open("/proc/"+strconv.Itoa(b.Kernel)+"/environ", unix.O_RDONLY)
		}},
		{"connect to a unix socket", limits, 0, func() error { return dial("unix", b.Unix) }},
		{"connect to an abstract unix socket", limits, 0, func() error { return dial("unix", b.Abstract) }},
		{"make a datagram socket pair", limits, 0, func() error { return pair(unix.SOCK_DGRAM) }},
		{"make a seqpacket socket pair", limits, 0, func() error { return pair(unix.SOCK_SEQPACKET) }},
		{"connect to the ssh agent", limits, 0, func() error { return dial("unix", b.Agent) }},
		{"connect to the session's bus", limits, 0, func() error { return dial("unix", b.Bus) }},
		{"connect over TCP", limits, 0, tcp},
		udp,
		{"unshare a user namespace", limits, 0, func() error {
			return notPermitted(unix.Unshare(unix.CLONE_NEWUSER)) // EINVAL, for a process with threads, means that it was let through
		}},
		{"clone a user namespace", limits, 0, func() error { return single("clone") }},
		{"clone3", limits, 0, func() error { return single("clone3") }},
		{"another architecture's calls", limits, 0, func() error { return single("foreign") }},
		{"x32 calls", limits, 0, func() error { return single("x32") }},
		{"io_uring", limits, 0, func() error {
			var params [120]byte
			_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
			return errno(e)
		}},
		{"trace a process outside", limits, 0, func() error { return unix.PtraceSeize(b.Kernel) }},
		{"mount", limits, 0, func() error { return notPermitted(unix.Mount("none", ".", "no-such-kind", 0, "")) }},
		{"read the keyring", limits, 0, func() error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
			return notPermitted(err)
		}},
		{"signal the helper", limits, 0, func() error { return unix.Kill(os.Getppid(), 0) }},
		{"limit the helper", limits, 0, func() error { return limitOther(thread(os.Getppid())) }},
		{"change the priority of the helper", limits, 0, func() error {
			return notPermitted(unix.Setpriority(unix.PRIO_PROCESS, thread(os.Getppid()), 0))
		}},
		{"limit a process outside", limits, 0, func() error { return limitOther(b.Thread) }},
		{"signal a process outside", limits, 6, func() error { return unix.Kill(b.Thread, 0) }},
		{"type into a terminal", limits, 0, tiocsti},
		{"ask for the size of a file outside", full, 0, func() error { return unix.Stat(b.Secret, new(unix.Stat_t)) }},
		{"change the mode of a file outside", full, 0, func() error { return unix.Chmod(b.Secret, 0o600) }},
		{"read the command line of a process outside", full, 0, func() error {
			return open("/proc/"+strconv.Itoa(b.Kernel)+"/cmdline", unix.O_RDONLY)
		}},
		{"read shared memory of others", full, 0, func() error { return open(b.Shared, unix.O_RDONLY) }},
		{"write to a hook", full, 0, func() error { return open(".git/hooks/pre-commit", unix.O_WRONLY) }},
		{"make a hook", full, 0, func() error { return open(".git/hooks/post-commit", unix.O_WRONLY|unix.O_CREAT) }},
		{"change a repository's settings", full, 0, func() error { return open(".git/config", unix.O_WRONLY) }},
		{"exchange a repository's settings", full, 0, func() error {
			return errors.Join(os.WriteFile(".git/config.lock", []byte("x"), 0o600), os.Rename(".git/config.lock", ".git/config"))
		}},
		{"move a repository away", full, 0, func() error { return os.Rename(".git", "moved") }},
	}
}

// thread returns a thread of a process that is not its main one, as far as there is one.
func thread(pid int) int {
	names, _ := readNames("/proc/" + strconv.Itoa(pid) + "/task")
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil && id != pid {
			return id
		}
	}
	return pid
}

// limitOther gives a process the limit that it has.
func limitOther(pid int) error {
	var now unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &now); err != nil {
		now = unix.Rlimit{Cur: 1024, Max: 4096} // it is not even seen; the call has to be refused all the same
	}
	return notPermitted(unix.Prlimit(pid, unix.RLIMIT_NOFILE, &now, nil))
}

// reach sends something to a port of the host's loopback and waits for an
// answer. Whatever goes wrong, nobody was reached.
func reach(network string, port int) error {
	c, err := net.DialTimeout(network, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), 500*time.Millisecond)
	if err != nil {
		return err
	}
	defer c.Close()
	if network == "tcp" {
		return nil
	}
	c.SetDeadline(time.Now().Add(500 * time.Millisecond))
	if _, err = c.Write([]byte("x")); err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	return err
}

func tiocsti() error {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer f.Close()
	c := byte('x')
	_, _, e := unix.Syscall(unix.SYS_IOCTL, f.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	return notPermitted(errno(e)) // ENOTTY would mean that the call reached the device
}

func pair(kind int) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
	}
	return err
}

// errUntried says that an attempt could not be made, which proves nothing.
var errUntried = errors.New("it could not be tried")

// single tries, in a process of its own, what may end or double the process.
func single(name string) error {
	err := exec.Command("/proc/self/exe", wordCanary, name).Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return fmt.Errorf("%w: %w", errUntried, err)
	}
	if exit.ExitCode() == escaped {
		return nil
	}
	if exit.ExitCode() == refused {
		return errors.New("refused")
	}
	return exit // ended by the filter, or by a kernel that has no such calls
}

func trySingle(name string) {
	through := false
	switch name {
	case "clone":
		pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e == 0 && pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		through = e == 0
	case "clone3":
		args := [11]uint64{4: uint64(unix.SIGCHLD)}
		pid, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
		if e == 0 && pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		through = e == 0
	case "foreign":
		through = foreignCall()
	case "x32":
		if runtime.GOARCH == "amd64" {
			const x32, getpid = 0x40000000, 39
			_, _, e := unix.RawSyscall(x32+getpid, 0, 0, 0)
			through = e == 0
		}
	}
	if through {
		os.Exit(escaped)
	}
	os.Exit(refused)
}

// needs are what commands have to be able to do.
func needs(level sys.Isolation) []attempt {
	out := []attempt{
		{name: "write inside", try: func() error { return os.WriteFile("new", []byte("x"), 0o600) }},
		{name: "write temporary files", try: func() error {
			return os.WriteFile(filepath.Join(os.Getenv("TMPDIR"), "new"), []byte("x"), 0o600)
		}},
		// Below ABI 2 this is refused as between two disks: mv and others then copy.
		{name: "move between folders inside", abi: 2, try: func() error {
			return errors.Join(os.Mkdir("sub", 0o700), os.Rename("new", "sub/new"))
		}},
		{name: "use threads", try: func() error {
			done := make(chan bool)
			go func() {
				runtime.LockOSThread()
				close(done)
			}()
			<-done
			return nil
		}},
		{name: "make a stream socket pair", try: func() error { return pair(unix.SOCK_STREAM) }},
		{name: "start a program and read from it", try: func() error {
			out, err := exec.Command("/bin/sh", "-c", "echo yes | cat > /dev/stdout").Output()
			if err == nil && strings.TrimSpace(string(out)) != "yes" {
				err = errors.New("it printed nothing")
			}
			return err
		}},
	}
	if level >= sys.IsolationFull {
		out = append(out, attempt{name: "serve itself on loopback", try: func() error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer l.Close()
			return reach("tcp", l.Addr().(*net.TCPAddr).Port)
		}})
	}
	return out
}
