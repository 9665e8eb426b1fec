//go:build desktop || dev || bindings

package desktop

import (
	"os"
	"os/exec"

	"oxios/kernel/sys"
)

// spawn starts this program again with args, for the same home. It outlives
// this process.
func spawn(args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...) //nolint:noctx // it outlives this process
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "%s could not be started: %w.", self, err)
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
