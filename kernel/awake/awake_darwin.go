package awake

import (
	"os"
	"os/exec"
	"strconv"

	"oxios/kernel/sys"
)

// caffeinate is part of macOS.
const caffeinate = "/usr/bin/caffeinate"

// hold starts caffeinate, which keeps the system from idle sleep until it is
// ended, or this process is.
func (System) hold(string) (func(), error) {
	cmd := exec.Command(caffeinate, "-i", "-w", strconv.Itoa(os.Getpid()))
	if err := cmd.Start(); err != nil {
		return nil, sys.Errorf(sys.CodeUnavailable, "The system does not let Oxios hold off sleep: %w.", err)
	}
	return func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}, nil
}

func (System) check() error {
	if _, err := os.Stat(caffeinate); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The system does not let Oxios hold off sleep: %w.", err)
	}
	return nil
}
