package sandbox

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel/sys"
)

func TestACommandIsEndedWhenTheDiskLosesTooMuch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start, then int64
		ends        bool
	}{
		"more than the limit":             {10 << 30, 9<<30 - 1, true},
		"less than the limit":             {10 << 30, 9<<30 + 1, false},
		"as good as full":                 {600 << 20, 499 << 20, true},
		"already full, and little more":   {400 << 20, 300 << 20, false},
		"already full, and half of it":    {400 << 20, 199 << 20, true},
		"more is free than when it began": {400 << 20, 700 << 20, false},
	} {
		for _, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial, sys.IsolationNone} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var free atomic.Int64
				var looked atomic.Int32
				free.Store(c.start)
				r, dir := setup(t, Config{Free: func(string) (int64, error) {
					looked.Add(1)
					return free.Load(), nil
				}})
				j, err := r.Start(t.Context(), Spec{
					Argv: []string{"bash", "-c", `trap "" TERM; echo part > done; while :; do sleep 0.05; done`}, Dir: dir, Level: level, MaxDisk: 1 << 30,
				})
				if err != nil {
					t.Fatal(err)
				}
				eventually(t, 10*time.Second, "the command does not run", func() bool { return exists(filepath.Join(dir, "done")) })
				before := looked.Load()
				free.Store(c.then)
				if !c.ends {
					eventually(t, 10*time.Second, "nobody looks at the disk", func() bool { return looked.Load() > before+8 })
					j.Kill()
				}
				if res := j.Result(); res.OutOfDisk != c.ends || res.Killed == c.ends || j.Err() != nil {
					t.Errorf("at level %d: got %+v, %v; want it ended: %v", level, res, j.Err(), c.ends)
				}
				wantGone(t, dir)
			})
		}
	}
}

func TestNoFileOfACommandBecomesLargerThanItsDisk(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	res := bash(t, r, Spec{Dir: dir, MaxDisk: 1 << 20}, `head -c 1000000 /dev/zero > fits && head -c 2000000 /dev/zero > large`)
	if res.ExitCode == 0 || !exists(filepath.Join(dir, "fits")) {
		t.Errorf("got exit %d: %s", res.ExitCode, res.Output)
	}
	for _, line := range []string{`fallocate -l 2M "$TMPDIR/large"`, `truncate -s 2M large`, `truncate -s 2M /dev/shm/oxios-test-large`} {
		if res := bash(t, r, Spec{Dir: dir, MaxDisk: 1 << 20}, line); res.ExitCode == 0 {
			t.Errorf("%s: a file became larger than the limit", line)
		}
	}
}
