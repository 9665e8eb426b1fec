package security

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time that a function takes, whatever else the machine does.
func threadTime(t *testing.T, fn func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := now()
	fn()
	return now() - began
}
