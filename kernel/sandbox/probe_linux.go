package sandbox

import (
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
	Kernel   int    // a process outside
	Thread   int    // another of its threads, which the filter does not know
}

// probe tries level 2, then level 1, and reports the first that holds.
func (r *Runner) probe(ctx context.Context) Report {
	rep := Report{Landlock: landlockABI(), At: time.Now()}
	if r.abi > 0 {
		rep.Landlock = min(rep.Landlock, r.abi)
	}
	if r.cfg.Helper == "" {
		rep.Problem = "The sandbox helper is missing: the program oxios was not found beside this one."
		return rep
	}
	var problems []string
	for _, level := range []sys.Isolation{sys.IsolationPartial, sys.IsolationLimits} {
		canaries, err := r.canaries(ctx, level, rep.Landlock)
		if err != nil {
			problems = append(problems, fmt.Sprintf("Level %d: %s", level, sys.AsError(err).Message))
			continue
		}
		if rep.Canaries == nil || level == sys.IsolationLimits {
			rep.Canaries = canaries
		}
		escaped := failed(canaries)
		if len(escaped) == 0 {
			rep.Level = level
			break
		}
		problems = append(problems, fmt.Sprintf("Level %d does not hold here: %s.", level, strings.Join(escaped, ", ")))
	}
	rep.Problem = strings.Join(problems, " ")
	return rep
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
	inside := filepath.Join(base, "inside")
	for _, p := range []string{b.Secret, b.ReadOnly, b.Hidden, filepath.Join(inside, "work", "file")} {
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
	say, err := json.Marshal(b)
	if err != nil {
		return nil, sys.Errorf(sys.CodeInternal, "The probe could not be described: %w", err)
	}
	j, err := r.start(ctx, Spec{
		Argv: []string{r.cfg.Helper, wordCanary, fmt.Sprint(int(level)), fmt.Sprint(abi)}, Dir: filepath.Join(inside, "work"),
		Env:      []string{"PATH=/usr/bin:/bin", canaryEnv + "=" + string(say)},
		Readable: []string{filepath.Dir(b.ReadOnly), inside}, Hidden: []string{filepath.Dir(b.Hidden)},
		Timeout: 5 * time.Second,
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
