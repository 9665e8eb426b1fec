//go:build desktop || dev || bindings

package desktop

import (
	"os"
	"os/exec"

	"oxios/kernel/sys"
)

// spawn starts this program again with args, for the same home; it may outlive
// this process. The quick prompt stays in the session of the window that starts
// it: to the kernel, a child in another session is what an agent left behind.
func spawn(args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...) //nolint:noctx // it outlives this process
	if len(args) == 0 || args[0] != quickCommand {
		cmd.SysProcAttr = detached()
	}
	if err := cmd.Start(); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "%s could not be started: %w.", self, err)
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
