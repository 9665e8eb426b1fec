package sandbox

import (
	"errors"
	"os"
	"os/exec"

	"oxios/kernel/sys"
)

// direct is a command without a helper: level 0.
type direct struct {
	cmd  *exec.Cmd
	tree tree
}

// startDirect starts the command as a child of this process.
func startDirect(j *Job, spec Spec, path string, env []string) error {
	streams, stdout, stderr, err := pipes()
	if err != nil {
		return err
	}
	j.streams = streams
	defer stdout.Close()
	defer stderr.Close()
	cmd := exec.Command(path)
	cmd.Args, cmd.Dir, cmd.Env = j.Argv, j.Dir, env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if spec.Input != nil { // else stdin is the null device
		cmd.Stdin = spec.Input
	}
	ownSession(cmd)
	err = j.r.register(j, func() error {
		if err := cmd.Start(); err != nil {
			return startError(path, err)
		}
		j.PID, j.root = cmd.Process.Pid, cmd.Process.Pid
		return nil
	})
	if err != nil {
		dropPipes(streams)
		return err
	}
	j.proc = &direct{cmd: cmd, tree: newTree(cmd.Process.Pid)}
	return nil
}

func (d *direct) terminate() { d.tree.terminate() }

func (d *direct) stop() { d.tree.kill() }

func (d *direct) kill() { d.tree.kill() }

func (d *direct) wait() (outcome, error) {
	err := d.cmd.Wait()
	d.tree.close()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, sys.Errorf(sys.CodeInternal, "The end of the command could not be seen: %w", err)
	}
	return exitOf(d.cmd.ProcessState), nil
}

// startError says why a program could not be started.
func startError(path string, err error) *sys.Error {
	told := func(code sys.Code) *sys.Error {
		return sys.Errorf(code, "The program %s could not be started: %w.", path, err)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return told(sys.CodeNotFound).WithHint("The file, or the interpreter in its first line, does not exist.")
	case errors.Is(err, os.ErrPermission):
		return told(sys.CodeForbidden).WithHint("It is not executable, or it lies outside the folders that a command may read.")
	}
	return told(sys.CodeInvalid)
}

// pipes makes the two output pipes of a command, and returns their near ends
// and their far ones.
func pipes() (near []stream, stdout, stderr *os.File, err error) {
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, sys.Errorf(sys.CodeUnavailable, "No pipe could be made for the command: %w", err)
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		outR.Close()
		outW.Close()
		return nil, nil, nil, sys.Errorf(sys.CodeUnavailable, "No pipe could be made for the command: %w", err)
	}
	return []stream{{"stdout", outR}, {"stderr", errR}}, outW, errW, nil
}

// dropPipes closes what a failed start leaves open.
func dropPipes(near []stream) {
	for _, s := range near {
		s.r.Close()
	}
}
