package sandbox

import (
	"context"
	"os"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// The times by which a tree has to end.
const (
	termGrace  = 2 * time.Second // from SIGTERM to SIGKILL
	backstop   = 4 * time.Second // from asking the helper to ending it and its tree from here
	drainGrace = time.Second     // for the last output once the tree is gone
)

// process is a running tree, as the two ways of starting one show it.
type process interface {
	stop()                  // ends the tree without asking it, and returns at once
	terminate()             // asks for the end of the tree, and returns at once
	kill()                  // ends the tree by force from here
	wait() (outcome, error) // returns when the tree is gone
}

// outcome is how the command itself ended.
type outcome struct {
	code         int
	signal       string
	outOfMemory  bool
	tooManyProcs bool
}

// Job is a command that runs in the background.
type Job struct {
	ID      int // counts from 1 in each runner
	PID     int // of the command
	Argv    []string
	Dir     string
	Tag     string
	Started time.Time

	r       *Runner
	root    int // the process that the whole tree descends from
	tmp     string
	level   sys.Isolation
	proc    process
	out     *collector
	streams []stream

	disks *disks
	leave func() // its cache
	tidy  func() // of a command on a copy, when it has ended; may be nil

	killOnce sync.Once
	kill     chan struct{}

	done   chan struct{}
	result Result // valid after done
	err    error
}

type stream struct {
	name string
	r    *os.File
}

// Done returns a channel that is closed when the job and all that it started
// are gone.
func (j *Job) Done() <-chan struct{} { return j.done }

// Result waits for the end of the job and returns how it ended.
func (j *Job) Result() Result {
	<-j.done
	return j.result
}

// Err waits for the end of the job and returns why its result is not known, nil
// if it is.
func (j *Job) Err() error {
	<-j.done
	return j.err
}

// Log returns the output from offset on, as far as it is kept, the offset to
// go on from, and how many bytes at offset are no longer kept.
func (j *Job) Log(offset int64) (data []byte, next int64, dropped int64) {
	return j.out.read(offset)
}

// Kill asks for the end of the job and of all that it started, and returns at
// once. Done tells when they are gone, within 5 seconds. It may be called
// again, and after the end.
func (j *Job) Kill() {
	j.killOnce.Do(func() { close(j.kill) })
}

// watch owns the job from its start to its end.
func (j *Job) watch(ctx context.Context, timeout time.Duration) {
	type ended struct {
		outcome outcome
		err     error
	}
	wait := make(chan ended, 1)
	go func() {
		o, err := j.proc.wait()
		wait <- ended{o, err}
	}()
	var drained sync.WaitGroup
	for _, s := range j.streams {
		drained.Go(func() { j.out.drain(s.name, s.r) })
	}
	var tooLong, byForce <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		tooLong = t.C
	}
	res := Result{Level: j.level}
	full := make(chan struct{})
	go j.disks.watch(j.done, func() { close(full) })
	canceled, killed := ctx.Done(), (<-chan struct{})(j.kill)
	end := func() {
		canceled, killed, tooLong = nil, nil, nil // the first reason is the reason
		byForce = time.After(backstop)
		j.proc.terminate()
	}
	var e ended
	for running := true; running; {
		select {
		case e = <-wait:
			running = false
		case <-canceled:
			res.Killed = true
			end()
		case <-killed:
			res.Killed = true
			end()
		case <-tooLong:
			res.TimedOut = true
			end()
		case <-full:
			full = nil
			if canceled == nil && killed == nil { // it is ending already
				continue
			}
			res.OutOfDisk = true
			canceled, killed, tooLong = nil, nil, nil
			byForce = time.After(backstop)
			j.proc.stop()
		case <-byForce:
			j.r.cfg.Log.Warn("A command did not end when asked and is ended by force", "pid", j.PID, "argv0", j.Argv[0])
			j.proc.kill()
		}
	}
	res.Duration = time.Since(j.Started)
	j.closeStreams(&drained)
	res.ExitCode, res.Signal = e.outcome.code, e.outcome.signal
	res.OutOfMemory, res.TooManyProcesses = e.outcome.outOfMemory, e.outcome.tooManyProcs
	j.out.fill(&res)
	j.result = res
	switch {
	case ctx.Err() != nil && res.Killed:
		j.err = stopped(ctx)
	case e.err != nil && !res.Killed && !res.TimedOut && !res.OutOfDisk:
		j.err = e.err
	}
	if j.tidy != nil {
		j.tidy()
	}
	j.r.temps.remove(j.tmp)
	j.leave()
	j.r.unregister(j)
	close(j.done)
}

// closeStreams waits for the end of the output. The tree is gone, so that it
// comes at once, unless a process outside got hold of the other end.
func (j *Job) closeStreams(drained *sync.WaitGroup) {
	all := make(chan struct{})
	go func() {
		drained.Wait()
		close(all)
	}()
	t := time.NewTimer(drainGrace)
	defer t.Stop()
	select {
	case <-all:
	case <-t.C:
		for _, s := range j.streams {
			if s.r.SetReadDeadline(time.Now()) != nil {
				return // no deadlines on this system: the reader ends with the stranger
			}
		}
		<-all
	}
	for _, s := range j.streams {
		s.r.Close()
	}
}

// stopped is the error of a command whose caller went away.
func stopped(ctx context.Context) *sys.Error {
	err := context.Cause(ctx)
	if ctx.Err() == context.DeadlineExceeded {
		return sys.Errorf(sys.CodeTimeout, "The command took too long and was ended.").WithCause(err)
	}
	return sys.Errorf(sys.CodeCanceled, "The command was stopped.").WithCause(err)
}
