package cli

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached lets a program outlive the console that it was started in.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
