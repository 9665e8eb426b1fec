package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// startGrace is how long a helper may take to say that the command runs.
const startGrace = 10 * time.Second

// helped is a command under the helper.
type helped struct {
	r       *Runner
	cmd     *exec.Cmd
	root    int
	orders  *os.File
	notices *os.File
	streams []stream // the output of the command to be
	read    *json.Decoder
	said    *tailBuffer
}

// launch starts the job's tree. Level 0 without a helper runs directly.
func (r *Runner) launch(ctx context.Context, j *Job, spec Spec, path string, env []string) error {
	if r.cfg.Helper == "" {
		return startDirect(j, path, env)
	}
	p := plan{
		Path: path, Argv: j.Argv, Env: env, Dir: j.Dir, Temp: j.tmp, Level: int(j.level), ABI: r.abi, Network: spec.Network,
		Kernel: os.Getpid(), MaxMemory: spec.MaxMemory, MaxProcs: spec.MaxProcs,
	}
	if j.level >= sys.IsolationPartial {
		p.Rules = r.rules(spec, path, j.tmp)
	}
	r.adoptOrphans()
	var h *helped
	err := r.register(j, func() (err error) {
		if h = r.takeSpare(); h == nil {
			h, err = startHelper(r)
		}
		if err == nil {
			j.root, j.streams, j.proc = h.root, h.streams, h
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := h.begin(ctx, j, p); err != nil {
		h.kill()
		h.cmd.Wait()
		h.close()
		dropPipes(h.streams)
		return err
	}
	return nil
}

// startHelper starts a helper, which waits for its plan.
func startHelper(r *Runner) (*helped, error) {
	streams, stdout, stderr, err := pipes()
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	defer stderr.Close()
	h := &helped{r: r, streams: streams, said: &tailBuffer{r: ring{max: 4 << 10}}}
	var far [2]*os.File
	if far[0], h.orders, err = os.Pipe(); err == nil {
		h.notices, far[1], err = os.Pipe()
	}
	defer far[0].Close()
	defer far[1].Close()
	if err != nil {
		h.close()
		dropPipes(streams)
		return nil, sys.Errorf(sys.CodeUnavailable, "No pipe could be made for the command: %w", err)
	}
	h.read = json.NewDecoder(h.notices)
	h.cmd = exec.Command(r.cfg.Helper)
	h.cmd.Args = []string{"oxios", wordHelper}
	h.cmd.Dir = "/"
	h.cmd.Env = []string{"GOTRACEBACK=single"}
	h.cmd.Stderr = h.said
	h.cmd.ExtraFiles = []*os.File{far[0], far[1], stdout, stderr}
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := h.cmd.Start(); err != nil {
		h.close()
		dropPipes(streams)
		return nil, sys.Errorf(sys.CodeUnavailable, "The sandbox helper could not be started: %w", err).
			WithHint("Reinstall Oxios, or run `oxios doctor`.")
	}
	h.root = h.cmd.Process.Pid
	return h, nil
}

// begin hands the plan over and waits until the command runs.
func (h *helped) begin(ctx context.Context, j *Job, p plan) error {
	limit := time.Now().Add(startGrace)
	h.orders.SetWriteDeadline(limit)
	h.notices.SetReadDeadline(limit)
	stop := context.AfterFunc(ctx, func() { h.notices.SetReadDeadline(time.Now()) })
	defer stop()
	err := json.NewEncoder(h.orders).Encode(p)
	var n notice
	if err == nil {
		err = h.read.Decode(&n)
	}
	switch {
	case ctx.Err() != nil:
		return stopped(ctx)
	case err != nil:
		h.r.cfg.Log.ErrorContext(ctx, "The sandbox helper did not start the command", "error", err, "said", h.said.String())
		return sys.Errorf(sys.CodeUnavailable, "The sandbox helper %s did not start the command: %w", h.r.cfg.Helper, err).
			WithHint("Reinstall Oxios, or run `oxios doctor`.")
	case n.Failure == failedStart:
		return startError(p.Path, syscall.Errno(n.Errno))
	case n.Failure != "":
		return sys.Errorf(sys.CodeUnavailable, "The command was not run, because isolation level %d could not be applied: %s.", p.Level, n.Message).
			WithHint("Run `oxios doctor`; a run without isolation needs its own approval.")
	}
	j.PID = n.PID
	h.notices.SetReadDeadline(time.Time{})
	stop()
	return nil
}

func (h *helped) terminate() {
	h.orders.SetWriteDeadline(time.Now().Add(time.Second))
	json.NewEncoder(h.orders).Encode(order{End: true})
}

// kill ends the tree and its helper without the helper's help.
func (h *helped) kill() {
	deadline := time.Now().Add(time.Second)
	for time.Now().Before(deadline) {
		list := descendants(h.root)
		if len(list) == 0 {
			break
		}
		signalAll(list, unix.SIGKILL)
		time.Sleep(5 * time.Millisecond)
	}
	h.cmd.Process.Kill()
}

func (h *helped) wait() (outcome, error) {
	var n notice
	err := h.read.Decode(&n)
	for err == nil && !n.Ended {
		err = h.read.Decode(&n)
	}
	werr := h.cmd.Wait()
	h.close()
	if err != nil {
		// The helper is gone without a word: at level 0 a command can do that.
		h.r.sweepOrphans(h.root)
		h.r.cfg.Log.Error("The sandbox helper was ended from outside", "error", errors.Join(err, werr), "said", h.said.String())
		return outcome{code: 128 + int(unix.SIGKILL), signal: unix.SignalName(unix.SIGKILL)},
			sys.Errorf(sys.CodeInternal, "The helper that watched the command was ended; how the command ended is unknown.")
	}
	o := outcome{code: n.Code, outOfMemory: n.OutOfMemory, tooManyProcs: n.TooManyProcs}
	if n.Signal != 0 {
		o.code, o.signal = 128+n.Signal, unix.SignalName(syscall.Signal(n.Signal))
	}
	return o, nil
}

func (h *helped) close() {
	h.orders.Close()
	h.notices.Close()
}
