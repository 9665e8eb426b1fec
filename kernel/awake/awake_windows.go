package awake

import (
	"runtime"
	"sync"

	"golang.org/x/sys/windows"

	"oxios/kernel/sys"
)

// https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-setthreadexecutionstate
const (
	continuous     = 0x80000000 // until it is set anew
	systemRequired = 0x00000001
)

func setThreadExecutionState(state uintptr) error {
	set := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState")
	if err := set.Find(); err != nil {
		return err
	}
	if before, _, err := set.Call(state); before == 0 {
		return err
	}
	return nil
}

// hold says that the system is needed, on a thread of its own: Windows keeps
// the state for the thread that set it.
func (System) hold(string) (func(), error) {
	done, held := make(chan struct{}), make(chan error)
	var work sync.WaitGroup
	work.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := setThreadExecutionState(continuous | systemRequired)
		held <- err
		if err != nil {
			return
		}
		<-done
		_ = setThreadExecutionState(continuous) // the thread's end would do it too
	})
	if err := <-held; err != nil {
		work.Wait()
		return nil, sys.Errorf(sys.CodeUnavailable, "The system does not let Oxios hold off sleep: %w.", err)
	}
	return func() {
		close(done)
		work.Wait()
	}, nil
}

func (System) check() error { return nil }
