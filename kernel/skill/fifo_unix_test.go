//go:build unix

package skill

import "syscall"

func mkfifo(at string) error { return syscall.Mkfifo(at, 0o600) }
