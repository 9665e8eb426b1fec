package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
	group   *group // that it is in with all that it starts
	input   bool   // there is something to read

	// At level 3.
	walls string // the view around it, "" while there is none
	room  bool   // it stands in one; at level 2
	tmp   string // the temporary folder that belongs to the walls
	hole  *hole
	repos []string // in which something may have to be taken back
}

// launch starts the job's tree. Level 0 without a helper runs directly.
func (r *Runner) launch(ctx context.Context, j *Job, spec Spec, path string, env []string) error {
	if r.cfg.Helper == "" {
		return startDirect(j, spec, path, env)
	}
	p := plan{
		Path: path, Argv: j.Argv, Env: env, Dir: j.Dir, Temp: j.tmp, Level: int(j.level), ABI: r.abi, Network: spec.Network,
		Kernel: os.Getpid(), MaxMemory: spec.MaxMemory, MaxProcs: spec.MaxProcs, MaxDisk: spec.MaxDisk, Input: spec.Input != nil,
	}
	var v *view
	var layers []layer
	var door *hole
	apart := spec.Copy != nil || spec.cache.layer != nil
	switch {
	case j.level >= sys.IsolationFull:
		var err error
		if v, err = r.view(ctx, spec, path); err != nil {
			return err
		}
		if spec.Checked {
			v.repos = nil
		}
		if apart {
			repos := v.repos
			if layers, err = r.layers(spec); err != nil {
				return err
			}
			if v.onCopy(layers); spec.Copy != nil {
				j.tidy = func() { v.tidy(layers[0], repos) }
			} else {
				v.repos = repos
			}
		}
		// The ids of processes are those behind the walls.
		p.Rules, p.Same, p.Hole, p.Kernel, p.Temp = v.rules(spec.Unread), v.granted(), spec.Hole != nil, 1, ""
		if p.Hole {
			p.Reach, p.Serve = spec.Reach, spec.Serve
		}
	case j.level >= sys.IsolationPartial:
		p.Rules = r.rules(spec, path, j.tmp)
		if p.Room = spec.room || r.hasRooms(ctx); p.Room {
			p.Kernel = 1 // it is not seen from there
		}
		if spec.Network && spec.Hole != nil && guardsNetwork(r.landlock()) {
			var err error
			if door, p.Door, err = makeDoor(); err != nil {
				return err
			}
			for _, kv := range proxyEnv(fmt.Sprintf("http://oxios:%s@127.0.0.1:%d", spec.HolePassword, p.Door)) {
				p.Env = setEnv(p.Env, kv)
			}
		}
	}
	r.adoptOrphans()
	var h *helped
	err := r.register(j, func() (err error) {
		if !apart && spec.Input == nil {
			h = r.takeSpare(v.key(), p.Room)
		}
		if h == nil {
			h, err = startHelper(r, apart, p.Room, spec.Input)
		}
		if err == nil {
			j.root, j.streams, j.proc = h.root, h.streams, h
		}
		return err
	})
	if err != nil {
		if door != nil {
			door.close()
		}
		return err
	}
	if door != nil {
		h.hole = door
		door.open(spec.Hole)
	}
	if err = h.behind(ctx, v, j.tmp, layers); err == nil {
		if v != nil && h.tmp != j.tmp { // the walls stood already, with their own
			r.temps.remove(j.tmp)
			j.tmp = h.tmp
		}
		if v != nil {
			h.repos = v.repos
		}
		if p.Hole {
			h.hole.in = serve(h.hole.ctx, p.Serve, r.cfg.Log)
			h.hole.open(h.hole.in.or(spec.Hole))
		}
		held, why := h.group.limit(spec.MaxMemory, spec.MaxProcs)
		switch {
		case held:
			p.MaxMemory = 0 // nobody has to watch it
		case why != nil:
			r.cfg.Log.WarnContext(ctx, "The limits of a command's cgroup could not be set; its memory is watched", "error", why)
		}
		err = h.begin(ctx, j, p)
	}
	if err != nil {
		h.dismiss()
		return err
	}
	if !apart && spec.Input == nil {
		r.mu.Lock()
		r.last, r.lastRoom = v, p.Room
		r.mu.Unlock()
	}
	return nil
}

// behind has the walls of a view built around the command to be, in the
// temporary folder tmp, on copies if there are any. Without a view, and where they stand, it does nothing.
func (h *helped) behind(ctx context.Context, v *view, tmp string, layers []layer) error {
	if v == nil || h.walls != "" {
		return nil
	}
	bwrap, err := findBwrap()
	if err != nil {
		return notApplied(sys.IsolationFull, err)
	}
	for _, part := range []string{partTemp, partShm} {
		if err == nil {
			err = os.Mkdir(filepath.Join(tmp, part), 0o700)
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(tmp, partEmpty), nil, 0o400)
	}
	if err == nil {
		h.hole, err = makeHole(tmp)
	}
	if err != nil {
		return sys.Errorf(sys.CodeDiskFull, "No temporary folder could be made for the command: %w", err)
	}
	h.tmp, h.walls = tmp, v.key()
	limit := time.Now().Add(startGrace)
	h.orders.SetWriteDeadline(limit)
	h.notices.SetReadDeadline(limit)
	stop := context.AfterFunc(ctx, func() { h.notices.SetReadDeadline(time.Now()) })
	defer stop()
	err = json.NewEncoder(h.orders).Encode(plan{Bwrap: bwrap, Walls: v.args(h.r.cfg.Helper, tmp), Temp: tmp, Copies: layers, Input: h.input})
	var n notice
	if err == nil {
		err = h.read.Decode(&n)
	}
	switch {
	case ctx.Err() != nil:
		return stopped(ctx)
	case errors.Is(err, io.EOF):
		h.cmd.Wait() // it has ended, so that all it said is there
		return notApplied(sys.IsolationFull, bwrapProblem(h.said.String()))
	case err == nil && !n.Ready:
		err = errors.New(n.Message)
	}
	if err != nil {
		return notApplied(sys.IsolationFull, err)
	}
	return nil
}

// notApplied is the error of a command that was not run because its level of
// isolation does not hold.
func notApplied(level sys.Isolation, why error) error {
	return sys.Errorf(sys.CodeUnavailable, "The command was not run, because isolation level %d could not be applied: %w.", level, why).
		WithHint("Run `oxios doctor`; a run without isolation needs its own approval.")
}

// startHelper starts a helper, which waits for its plan. One that stands apart
// may mount copies; one in a room, what its command sees at level 2. Input is nil
// for a command that reads nothing.
func startHelper(r *Runner, standsApart, room bool, input *os.File) (*helped, error) {
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
	if h.input = input != nil; h.input {
		h.cmd.ExtraFiles = append(h.cmd.ExtraFiles, input)
	}
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	h.cmd.WaitDelay = time.Second // for one who got its stderr and outlives it
	switch {
	case standsApart:
		apart(h.cmd.SysProcAttr)
	case room:
		inRoom(h.cmd.SysProcAttr)
		h.room = true
	}
	if err := r.groups.start(h); err != nil {
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
		return notApplied(sys.Isolation(p.Level), errors.New(n.Message))
	}
	if j.PID = n.PID; h.walls != "" || h.room {
		j.PID = outsideID(h.root, n.PID)
	}
	h.notices.SetReadDeadline(time.Time{})
	stop()
	return nil
}

func (h *helped) terminate() {
	h.orders.SetWriteDeadline(time.Now().Add(time.Second))
	json.NewEncoder(h.orders).Encode(order{End: true})
}

func (h *helped) stop() {
	h.orders.SetWriteDeadline(time.Now().Add(time.Second))
	json.NewEncoder(h.orders).Encode(order{End: true, Now: true})
}

// kill ends the tree and its helper without the helper's help.
func (h *helped) kill() {
	h.group.kill()
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
	unwatch := h.group.watch()
	var n notice
	err := h.read.Decode(&n)
	for err == nil && !n.Ended {
		err = h.read.Decode(&n)
	}
	unwatch()
	// They are asked for while the group is there. A limit of the memory ends the
	// helper too, and so does the other one where it gets no thread.
	noMemory := err != nil && h.group.outOfMemory()
	tooMany := (err != nil || n.Code+n.Signal != 0) && h.group.tooManyTasks()
	var werr error
	if err == nil && h.walls != "" {
		// Nobody is left behind the walls; nobody waits until they are down.
		h.r.leaving.Go(func() {
			h.cmd.Wait()
			h.group.remove()
		})
	} else {
		werr = h.cmd.Wait()
		if err != nil {
			h.r.sweepOrphans(h.root)
		}
		h.group.remove()
	}
	h.close()
	if found := unlead(h.repos); len(found) > 0 {
		h.r.cfg.Log.Warn("A command tried to lead git to other settings; this was taken back", "repositories", found)
	}
	if err != nil {
		o := outcome{code: 128 + int(unix.SIGKILL), signal: unix.SignalName(unix.SIGKILL), outOfMemory: noMemory, tooManyProcs: tooMany}
		if noMemory || tooMany {
			return o, nil
		}
		// The helper is gone without a word: at level 0 a command can do that.
		h.r.cfg.Log.Error("The sandbox helper was ended from outside", "error", errors.Join(err, werr), "said", h.said.String())
		return o, sys.Errorf(sys.CodeInternal, "The helper that watched the command was ended; how the command ended is unknown.")
	}
	o := outcome{code: n.Code, outOfMemory: n.OutOfMemory, tooManyProcs: n.TooManyProcs || tooMany}
	if n.Signal != 0 {
		o.code, o.signal = 128+n.Signal, unix.SignalName(syscall.Signal(n.Signal))
	}
	return o, nil
}

func (h *helped) close() {
	h.orders.Close()
	h.notices.Close()
	if h.hole != nil {
		h.hole.close()
	}
}

// outsideID returns the id of a process as it is called out here. Below root, it
// is pid in a process namespace. 0 means that it has ended.
func outsideID(root, pid int) int {
	for _, p := range descendants(root) {
		data, _ := os.ReadFile("/proc/" + strconv.Itoa(p) + "/status")
		_, rest, _ := strings.Cut(string(data), "\nNSpid:")
		line, _, _ := strings.Cut(rest, "\n")
		if ids := strings.Fields(line); len(ids) > 1 && ids[len(ids)-1] == strconv.Itoa(pid) {
			return p
		}
	}
	return 0
}
