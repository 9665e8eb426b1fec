//go:build unix

package cli

import "syscall"

// detached lets a program outlive the terminal that it was started in.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
