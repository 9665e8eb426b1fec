//go:build !linux

package sandbox

import (
	"context"
	"runtime"
	"time"

	"oxios/kernel/sys"
)

// launch starts the job's tree as a child of this process.
func (r *Runner) launch(_ context.Context, j *Job, spec Spec, path string, env []string) error {
	return startDirect(j, spec, path, env)
}

// spare is a helper that is ready for the next command. There are no helpers
// here.
type spare struct{}

// view is what a command sees of the machine. Here, that is all of it.
type view struct{}

// groups are the cgroups of commands. There are none here.
type groups struct{}

func (r *Runner) keepSpare()   {}
func (r *Runner) dropSpare()   {}
func (r *Runner) closeGroups() {}

// probe reports that nothing is enforced on this system.
func (r *Runner) probe(context.Context) Report {
	return Report{
		Level: sys.IsolationNone, At: time.Now(),
		Problem: "Oxios cannot contain commands on " + runtime.GOOS + ": policy and approvals are all there is.",
	}
}
