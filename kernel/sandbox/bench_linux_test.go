package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"oxios/kernel/sys"
)

// BenchmarkCommand is what the sandbox adds to a command that does nothing, at
// levels 3, 2 and 0: to the first one, and to one that follows another after the
// pause that a model's turn makes, which finds its helper ready, at level 3 with
// its walls. The control starts the command alone. Goal:
// at most 2 ms for one that follows. The helper is $OXIOS_BIN where it is set, as
// the start of that binary is a part of the first command; else it is the tests'
// own, which starts faster.
func BenchmarkCommand(b *testing.B) {
	const rounds, pause = 31, 20 * time.Millisecond
	r := New(Config{Helper: cmp.Or(os.Getenv("OXIOS_BIN"), helper)})
	defer r.Close()
	r.Probe(b.Context())
	dir := b.TempDir()
	contained := func(level sys.Isolation) func() error {
		return func() error {
			_, err := r.Run(b.Context(), Spec{Argv: []string{"/bin/true"}, Dir: dir, Level: level})
			return err
		}
	}
	took := map[string][]time.Duration{}
	measure := func(name string, run func() error) {
		time.Sleep(pause)
		start := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		took[name] = append(took[name], time.Since(start))
	}
	for b.Loop() {
		clear(took)
		for range rounds {
			measure("raw", exec.Command("/bin/true").Run)
			for _, level := range []sys.Isolation{r.Level(), sys.IsolationPartial, sys.IsolationNone} {
				name := fmt.Sprint("level", int(level))
				if err := contained(level)(); err != nil { // the spare is for what comes after it
					b.Fatal(err)
				}
				r.keepSpare()
				for waits := false; !waits; time.Sleep(time.Millisecond) { // a turn of a model is longer
					r.mu.Lock()
					waits = r.spare.helper != nil
					r.mu.Unlock()
				}
				measure(name, contained(level))
				time.Sleep(pause)
				r.dropSpare()
				measure(name+"_first", contained(level))
			}
		}
	}
	median := func(name string) float64 {
		slices.Sort(took[name])
		return float64(took[name][rounds/2].Microseconds())
	}
	for name := range took {
		b.ReportMetric(median(name), name+"_us")
	}
	b.ReportMetric(median(fmt.Sprint("level", int(r.Level())))-median("raw"), "added_us(goal<=2000)")
}

// BenchmarkGroup is what a cgroup of its own adds to a command, with the limits
// that agents have, against the same command that is watched. Goal: at most 0.5
// ms. Where there are no cgroups, it says so and measures nothing.
func BenchmarkGroup(b *testing.B) {
	const rounds = 41
	r := New(Config{Helper: cmp.Or(os.Getenv("OXIOS_BIN"), helper)})
	defer r.Close()
	if why := r.Probe(b.Context()).Watched; why != (sys.Words{}) {
		b.Skip(why)
	}
	dir := b.TempDir()
	var took [2][]time.Duration
	for b.Loop() {
		took = [2][]time.Duration{}
		for i := range 2 * rounds {
			r.dropSpare()
			r.groups.mu.Lock()
			if r.groups.why = (sys.Words{}); i%2 == 0 {
				r.groups.why = sys.Words{EN: "left out"}
			}
			r.groups.mu.Unlock()
			r.keepSpare()
			time.Sleep(20 * time.Millisecond)
			start := time.Now()
			if _, err := r.Run(b.Context(), Spec{Argv: []string{"/bin/true"}, Dir: dir, Level: sys.IsolationPartial, MaxMemory: 4 << 30, MaxProcs: 1024}); err != nil {
				b.Fatal(err)
			}
			took[i%2] = append(took[i%2], time.Since(start))
		}
	}
	slices.Sort(took[0])
	slices.Sort(took[1])
	watched, held := took[0][rounds/2], took[1][rounds/2]
	b.ReportMetric(float64(watched.Microseconds()), "watched_us")
	b.ReportMetric(float64(held.Microseconds()), "held_us")
	b.ReportMetric(float64((held - watched).Microseconds()), "added_us(goal<=500)")
}
