package kernel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/kerneltest/disk"
	"oxios/kernel/sys"
)

// failingLife goes on with what it wants on a disk that fails, and says what was
// acknowledged. What it only reads must never fail.
func failingLife(h house, long bool) {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "the life failed:", err)
			os.Exit(1)
		}
	}
	say := func(format string, args ...any) {
		_, err := os.Stdout.WriteString(fmt.Sprintf(format, args...))
		must(err)
	}
	l, err := h.live()
	must(err)
	refused := func(err error) bool {
		if code := sys.CodeOf(err); err != nil && code != sys.CodeDiskFull && code != sys.CodeUnavailable {
			must(fmt.Errorf("got %w, want to hear of the disk", err))
		}
		_, rerr := l.State.Sessions(ctx, kernel.SessionQuery{})
		must(rerr)
		_, rerr = l.Security.Audit(ctx, kernel.AuditQuery{Newest: true})
		must(rerr)
		return err != nil
	}
	set := func(n int) bool {
		_, err := l.Infra.SetConfig(ctx, "max_depth", fmt.Sprint(n))
		if refused(err) {
			return false
		}
		say("depth %d", n)
		return true
	}
	problem := func() *sys.Error {
		s, err := l.Infra.Status(ctx)
		must(err)
		return s.Problem
	}
	until := func(what string, ok func() bool) {
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				must(fmt.Errorf("not within 20 s: %s", what))
			}
		}
	}
	say("begin")
	set(5)
	if long {
		say("fail")
		if set(6) {
			must(fmt.Errorf("a setting was acknowledged that nothing records"))
		}
		c, err := l.Infra.Config(ctx)
		must(err)
		if c.Values["max_depth"] != "5" {
			must(fmt.Errorf("a setting was changed to %s without a record", c.Values["max_depth"]))
		}
		until("the person is told", func() bool { return problem() != nil && strings.Contains(problem().Error(), "Oxios only reads") })
		if _, err := l.Agents.Submit(ctx, kernel.Submit{Text: "begin", Mode: "autonomous"}); !refused(err) {
			must(fmt.Errorf("a message was acknowledged that nothing records"))
		}
		say("heal")
		until("it is over", func() bool { return problem() == nil })
	}
	s, err := l.Agents.Submit(ctx, kernel.Submit{Text: "begin", Mode: "autonomous"})
	if !refused(err) {
		say("run %s", s.RunID)
		if r, err := l.Agents.Wait(ctx, s.RunID); !refused(err) && r.State == "done" {
			say("done %s", s.RunID)
		}
	}
	set(6)
	set(7)
	must(l.stop())
	os.Exit(0)
}

// fails runs a life on a disk that fails, and looks at what it leaves.
func fails(t *testing.T, how string, fail func(began bool, o disk.Op) syscall.Errno, hear func(string)) {
	t.Helper()
	h := newHouse(t)
	var a acknowledged
	began, failed := false, 0
	cmd := h.command(t)
	cmd.Env = append(cmd.Env, "OXIOS_POWER_FAILS="+strings.Fields(how)[0])
	_, err := disk.Run(cmd, disk.Watch{
		Dirs: h.dirs(),
		Fail: func(o disk.Op) syscall.Errno {
			if !strings.HasPrefix(filepath.Base(o.Path), "oxios.db") {
				return 0
			}
			errno := fail(began, o)
			if errno != 0 {
				failed++
			}
			return errno
		},
		Hear: func(mark string) {
			began = true
			a.hear(t, mark)
			hear(mark)
		},
	})
	if err != nil || failed == 0 {
		t.Errorf("%s: %v; %d operations failed", how, err, failed)
		return
	}
	a.done = false // a step that could not be recorded was refused, and the run ended without it
	h.holds(t, a, how)
}

func TestADiskThatFailsForAWhileIsReadAndToldOf(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		now := false
		fails(t, fmt.Sprintf("long %v", errno), func(_ bool, o disk.Op) syscall.Errno {
			if now && (o.Kind == disk.Write || errno == syscall.EIO) {
				return errno
			}
			return 0
		}, func(mark string) {
			switch mark {
			case "fail":
				now = true
			case "heal":
				now = false
			}
		})
	}
}

func TestNothingIsAcknowledgedThatTheDiskDidNotTake(t *testing.T) {
	t.Parallel()
	step := kerneltest.Many(17, 67)
	for n := 1; n < 240; n += step {
		for i, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
			at := 0
			fails(t, fmt.Sprintf("once %v at operation %d", errno, n+i), func(began bool, _ disk.Op) syscall.Errno {
				if began {
					at++
				}
				if at == n+i {
					at++
					return errno
				}
				return 0
			}, func(string) {})
		}
	}
}
