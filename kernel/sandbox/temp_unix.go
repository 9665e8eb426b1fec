//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// hold opens a folder and locks it. It fails where somebody else has.
func hold(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// isOurs reports whether path is a folder of this account.
func isOurs(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// tempsInUse returns the environments of processes of this account, in which
// the temporary folders stand that their programs use.
func tempsInUse() string {
	var all strings.Builder
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		if env, err := os.ReadFile(path); err == nil {
			all.Write(env)
		}
	}
	return all.String()
}
