//go:build linux

package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/store"
)

// BenchmarkP1Start is workload P1: from the start of the process until it is
// ready, with 10,000 messages in the home, and what it holds and does while
// nothing happens. The control is the skeleton in testdata. Goals: at most 2.5
// times the skeleton, at most 45 MB, at most 1 tick (10 ms) of processor time a
// minute. 20 s are measured here, from when the work that follows the ready line
// is done: the escape attempts and the person's environment.
func BenchmarkP1Start(b *testing.B) {
	dir := b.TempDir()
	bin := binary(b)
	skeleton := filepath.Join(dir, "skeleton")
	build(b, skeleton, "./testdata/skeleton")
	db := filepath.Join(dir, "skeleton.db")
	if out, err := exec.Command(skeleton, db, "make").CombinedOutput(); err != nil {
		b.Fatalf("make the skeleton's database: %v\n%s", err, out)
	}
	home := filepath.Join(dir, "home")
	fill(b, home)
	env := append(os.Environ(), "OXIOS_HOME="+home, "XDG_STATE_HOME="+filepath.Join(filepath.Dir(home), "state"), "DBUS_SESSION_BUS_ADDRESS=")
	var ours, control []time.Duration
	var memory, ticks float64
	for b.Loop() {
		ours, control = nil, nil
		for i := range 7 {
			p := ready(b, exec.Command(bin, "serve"), env)
			ours = append(ours, p.took)
			if i == 6 {
				memory = pss(b, p.cmd.Process.Pid)
				const window = 20 * time.Second
				before := settle(b, p.cmd.Process.Pid)
				time.Sleep(window) // the measurement itself: what happens while nothing happens
				idle := cpu(b, p.cmd.Process.Pid) - before
				ticks = float64(idle) / float64(10*time.Millisecond) * float64(time.Minute/window)
			}
			p.end()
			p = ready(b, exec.Command(skeleton, db), env)
			control = append(control, p.took)
			p.end()
		}
	}
	slices.Sort(ours)
	slices.Sort(control)
	b.ReportMetric(float64(ours[3].Microseconds())/1000, "start_ms")
	b.ReportMetric(float64(control[3].Microseconds())/1000, "skeleton_ms")
	b.ReportMetric(float64(ours[3])/float64(control[3]), "ratio(goal<=2.5)")
	b.ReportMetric(memory, "pss_MB(goal<=45)")
	b.ReportMetric(ticks, "ticks_a_minute(goal<=1)")
}

type started struct {
	cmd  *exec.Cmd
	took time.Duration
}

// ready starts cmd and waits for its first line.
func ready(b *testing.B, cmd *exec.Cmd, env []string) started {
	b.Helper()
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatalf("%s was never ready: %v", cmd.Path, err)
	}
	return started{cmd: cmd, took: time.Since(start)}
}

func (s started) end() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func fill(b *testing.B, home string) {
	b.Helper()
	if err := os.MkdirAll(home, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("keyring = false\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	st, err := store.Open(b.Context(), filepath.Join(home, "oxios.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	for s := range 100 {
		session := store.Session{Title: fmt.Sprintf("Conversation %d", s)}
		err := st.Write(b.Context(), func(tx *store.Tx) error {
			if err := st.InsertSession(tx, &session); err != nil {
				return err
			}
			for i := range 100 {
				m := store.Message{SessionID: session.ID, Role: store.RoleUser, Content: fmt.Sprintf("note %d about the ferry, the receipts and the garden", i)}
				if err := st.AddMessage(tx, m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// pss is the memory of a process in MB, its share of shared pages counted.
func pss(b *testing.B, pid int) float64 {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb / 1024
		}
	}
	b.Fatal("no Pss line")
	return 0
}

// cpu is the processor time of a process so far.
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	const sched = 2 // the clock of a whole process, see clock_getcpuclockid(3)
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// settle waits until a process has done nothing for two seconds, and returns
// its processor time so far.
func settle(b *testing.B, pid int) time.Duration {
	b.Helper()
	limit := time.Now().Add(time.Minute)
	for time.Now().Before(limit) {
		before := cpu(b, pid)
		time.Sleep(2 * time.Second)
		if after := cpu(b, pid); after-before < time.Millisecond {
			return after
		}
	}
	b.Fatal("the process is never idle")
	return 0
}

// binary is the static oxios: $OXIOS_BIN, else one built for this run.
func binary(b *testing.B) string {
	b.Helper()
	if bin := os.Getenv("OXIOS_BIN"); bin != "" {
		return bin
	}
	path := filepath.Join(b.TempDir(), "oxios")
	build(b, path, "oxios")
	return path
}

func build(b *testing.B, path, pkg string) {
	b.Helper()
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
}
