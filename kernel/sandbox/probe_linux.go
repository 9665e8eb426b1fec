package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// bait is what the canaries are let loose on, all of it outside their reach.
type bait struct {
	Secret   string // a file that may not be read
	Outside  string // a folder that may not be written
	ReadOnly string // a file that may only be read
	Hidden   string // a file below a granted folder
	Unix     string // a listening unix socket
	Abstract string // one without a path
	Port     int    // a listening TCP port on loopback
	UDP      int    // a UDP port there that answers
	Agent    string // the person's ssh agent, or another unix socket
	Bus      string // the bus of the person's session, or another unix socket
	Shared   string // a file in /dev/shm
	Kernel   int    // a process outside
	Thread   int    // another of its threads, which the filter does not know
}

// landlock is the ABI that is used here.
func (r *Runner) landlock() int {
	if r.abi > 0 {
		return min(landlockABI(), r.abi)
	}
	return landlockABI()
}

// probe tries the levels from the strongest on, and reports the first that holds.
func (r *Runner) probe(ctx context.Context) Report {
	rep := Report{Landlock: r.landlock(), At: time.Now()}
	if r.cfg.Helper == "" {
		rep.Problem = "The sandbox helper is missing: the program oxios was not found beside this one."
		return rep
	}
	r.openGroups(ctx)
	var problems []string
	for _, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial, sys.IsolationLimits} {
		if level == sys.IsolationFull {
			if why := r.wallsMissing(); why != nil {
				problems = append(problems, fmt.Sprintf("Level %d: %s.", level, why))
				continue
			}
		}
		canaries, err := r.canaries(ctx, level, rep.Landlock)
		if err != nil {
			why := sys.AsError(err)
			if why.Err != nil {
				problems = append(problems, fmt.Sprintf("Level %d: %s.", level, strings.TrimSuffix(why.Err.Error(), ".")))
			} else {
				problems = append(problems, fmt.Sprintf("Level %d: %s", level, why.Message))
			}
			continue
		}
		escaped := failed(canaries)
		if rep.Canaries == nil || len(escaped) == 0 {
			rep.Canaries = canaries
		}
		if len(escaped) == 0 {
			rep.Level = level
			break
		}
		problems = append(problems, fmt.Sprintf("Level %d does not hold here: %s.", level, strings.Join(escaped, ", ")))
	}
	rep.Problem = strings.Join(problems, " ")
	rep.Watched = r.groups.missing()
	return rep
}

// wallsMissing says why level 3 need not be tried.
func (r *Runner) wallsMissing() error {
	if r.noWalls {
		return errNoBwrap
	}
	_, err := findBwrap()
	return err
}

func failed(canaries []Canary) []string {
	var out []string
	for _, c := range canaries {
		if !c.Held && !c.Advisory {
			out = append(out, c.Name)
		}
	}
	return out
}

// canaries lays the bait, runs the attempts at the level, and looks at what is
// left of the bait.
func (r *Runner) canaries(ctx context.Context, level sys.Isolation, abi int) ([]Canary, error) {
	base, err := os.MkdirTemp("", "oxios-probe-")
	if err != nil {
		return nil, sys.Errorf(sys.CodeDiskFull, "No temporary folder could be made for the probe: %w", err)
	}
	defer removeAll(base)
	base = canonical(base)
	b := bait{
		Secret: filepath.Join(base, "outside", "secret"), Outside: filepath.Join(base, "outside"),
		ReadOnly: filepath.Join(base, "readonly", "file"), Hidden: filepath.Join(base, "inside", "hidden", "file"),
		Unix: filepath.Join(base, "outside", "s"), Abstract: "@oxios-probe-" + sys.NewID(), Kernel: os.Getpid(), Thread: otherThread(),
	}
	b.Agent, b.Bus = cmp.Or(os.Getenv("SSH_AUTH_SOCK"), b.Unix), b.Unix
	if path, ok := strings.CutPrefix(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "unix:path="); ok {
		b.Bus, _, _ = strings.Cut(path, ",")
	}
	b.Shared = filepath.Join("/dev/shm", filepath.Base(base))
	if os.WriteFile(b.Shared, []byte("bait"), 0o600) == nil {
		defer os.Remove(b.Shared)
	}
	inside := filepath.Join(base, "inside")
	bait := []string{b.Secret, b.ReadOnly, b.Hidden, filepath.Join(inside, "work", "file")}
	for _, name := range []string{"HEAD", "config", "objects/x", "refs/x", "hooks/pre-commit"} {
		bait = append(bait, filepath.Join(inside, "work", ".git", name))
	}
	for _, p := range bait {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			return nil, sys.Errorf(sys.CodeDiskFull, "The probe could not be laid out: %w", err)
		}
		if err := os.WriteFile(p, []byte("bait"), 0o600); err != nil {
			return nil, sys.Errorf(sys.CodeDiskFull, "The probe could not be laid out: %w", err)
		}
	}
	for network, address := range map[string]string{"unix": b.Unix, "unix ": b.Abstract, "tcp": "127.0.0.1:0"} {
		l, err := net.Listen(strings.TrimSpace(network), address)
		if err != nil {
			continue // nothing to reach there: the canary then shows that sockets cannot be made at all
		}
		defer l.Close()
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			b.Port = a.Port
		}
	}
	if echo, err := net.ListenPacket("udp", "127.0.0.1:0"); err == nil {
		defer echo.Close()
		go answer(echo)
		b.UDP = echo.LocalAddr().(*net.UDPAddr).Port
	}
	say, err := json.Marshal(b)
	if err != nil {
		return nil, sys.Errorf(sys.CodeInternal, "The probe could not be described: %w", err)
	}
	j, err := r.start(ctx, Spec{
		Argv: []string{r.cfg.Helper, wordCanary, fmt.Sprint(int(level)), fmt.Sprint(abi)}, Dir: filepath.Join(inside, "work"),
		Env:      []string{"PATH=/usr/bin:/bin", canaryEnv + "=" + string(say)},
		Readable: []string{filepath.Dir(b.ReadOnly), inside}, Hidden: []string{filepath.Dir(b.Hidden)},
		Timeout: 5 * time.Second, Cache: Cache{None: true},
	}, level, false)
	if err != nil {
		return nil, err
	}
	<-j.done
	var out []Canary
	if j.err != nil {
		return nil, j.err
	}
	if err := json.Unmarshal(j.result.Stdout, &out); err != nil {
		return nil, sys.Errorf(sys.CodeUnavailable, "The escape attempts did not report (exit code %d, %s): %w",
			j.result.ExitCode, strings.TrimSpace(string(j.result.Stderr)), err)
	}
	return append(out, untouched(b, level)), nil
}

// answer sends back what it is sent, until c is closed.
func answer(c net.PacketConn) {
	buf := make([]byte, 64)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		c.WriteTo(buf[:n], from)
	}
}

// untouched looks at the bait from outside, whatever the canaries said.
func untouched(b bait, level sys.Isolation) Canary {
	c := Canary{Name: "files outside unchanged", Held: true, Advisory: level < sys.IsolationPartial}
	for _, p := range []string{b.Secret, b.ReadOnly, b.Hidden} {
		if data, err := os.ReadFile(p); err != nil || string(data) != "bait" {
			c.Held, c.Detail = false, filepath.Base(filepath.Dir(p))+" was changed"
		}
	}
	if entries, err := os.ReadDir(b.Outside); err != nil || len(entries) > 2 {
		c.Held, c.Detail = false, "something was made outside"
	}
	return c
}

// otherThread returns a thread of this process that is not its main one.
func otherThread() int {
	names, _ := readNames("/proc/self/task")
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil && id != os.Getpid() {
			return id
		}
	}
	return os.Getpid()
}
