package mcp

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// live is a server that runs.
type live struct {
	s       *Service
	name    string
	def     Server
	job     *sandbox.Job
	input   *input
	web     *remote // of a server that runs elsewhere, in place of job
	client  *sdk.Client
	session *sdk.ClientSession
	said    *journal

	stop  context.CancelCauseFunc // gives up its start
	ready chan struct{}           // closed when it has been started, or has not
	done  chan struct{}           // closed when one that was started is gone
	err   error                   // why it has not; valid after ready

	mu     sync.Mutex
	calls  int         // under way
	under  []*underway // those of tools, the newest last
	tokens int         // how many there were
	roots  []string    // the folders that it was told
	used   time.Time   // when the last one ended
	over   bool        // it was ended from here

	served   atomic.Bool   // a tool of it was called
	news     atomic.Int64  // how often it told that what it offers changed, and one for its start
	learned  atomic.Int64  // so many news were looked at
	learning chan struct{} // held by the only one who looks
}

// The times of a server.
const (
	startTime    = 60 * time.Second // from its start to its first answer
	endTime      = 2 * time.Second  // to end by itself when it is told to
	maxLine      = 16 << 20         // bytes of one message
	firstWait    = time.Second      // before one that ended by itself is started again; it doubles
	longestWait  = time.Minute
	breakerCount = 5 // so many ends by itself ...
	breakerTime  = 10 * time.Minute
)

// reach returns a server that runs, and has started it if need be. The caller tells with done that it needs it no longer.
func (s *Service) reach(ctx context.Context, name string, def Server) (l *live, done func(), err error) {
	for {
		s.mu.Lock()
		l, ok := s.live[name]
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, nil, sys.Errorf(sys.CodeUnavailable, "Oxios is closing; no server is started any more.")
		case ok && !l.def.runsAs(def):
			s.mu.Unlock()
			l.end() // it runs with what the person no longer gives it
			continue
		case !ok && !s.inForce(name, def):
			s.mu.Unlock()
			return nil, nil, changedMeanwhile(name)
		case !ok:
			l = &live{s: s, name: name, def: def, ready: make(chan struct{}), done: make(chan struct{}), learning: make(chan struct{}, 1), used: s.c.Clock.Now()}
			l.news.Store(1)
			s.live[name] = l
			select {
			case s.began <- struct{}{}:
			default: // it is known already
			}
			// It is not the caller's alone: who stops waiting for it does not end it for others.
			var start context.Context
			start, l.stop = context.WithCancelCause(context.WithoutCancel(ctx))
			go l.start(start)
		}
		l.take()
		s.mu.Unlock()
		select {
		case <-l.ready:
		case <-ctx.Done():
			l.leave()
			return nil, nil, context.Cause(ctx)
		}
		if l.err != nil {
			l.leave()
			return nil, nil, l.err
		}
		return l, l.leave, nil
	}
}

// inForce reports whether a server still runs by this definition.
func (s *Service) inForce(name string, def Server) bool {
	now, err := s.server(name)
	return err == nil && now.runsAs(def)
}

// start starts the server and greets it.
func (l *live) start(ctx context.Context) {
	defer close(l.ready)
	defer l.stop(nil)
	if l.err = l.s.ownFolders(l.def); l.err != nil {
		l.err = sys.Errorf(sys.CodeRefused, "The server %s was not started: %w.", l.name, l.err).WithHint("Take that folder out of its read and write in config.toml.")
	} else if l.err = l.s.mayStart(ctx, l.name, l.def); l.err == nil && l.def.remote() {
		l.err = l.dial(ctx)
	} else if l.err == nil {
		l.err = l.launch(ctx)
	}
	if l.err != nil {
		l.gone()
		return
	}
	l.s.c.Told(l.name)
	go func() {
		<-l.finished()
		l.close()
		l.gone()
		close(l.done)
	}()
}

// close closes the connection. It may be called twice.
func (l *live) close() {
	if err := l.session.Close(); err != nil && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, os.ErrClosed) {
		l.s.c.Log.Debug("A server's connection did not close in order", "server", l.name, "error", err)
	}
}

// launch runs the program and agrees with it on a version of the protocol.
func (l *live) launch(ctx context.Context) error {
	files := l.s.at(l.name, ownFolder)
	if err := os.MkdirAll(files, 0o700); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The folder of the server %s cannot be made: %w.", l.name, err)
	}
	var err error
	if l.said, err = openJournal(l.s.at(l.name, logFile)); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The log of the server %s cannot be written: %w.", l.name, err)
	}
	in, write, err := os.Pipe()
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "No pipe could be made for the server %s: %w.", l.name, err)
	}
	hear, heard := io.Pipe()
	spec, err := l.s.program(ctx, l.name, l.def, files)
	if err != nil {
		in.Close()
		write.Close()
		l.said.close()
		return err
	}
	secrets, err := l.s.secretsOf(ctx, l.name, l.def)
	if err != nil {
		in.Close()
		write.Close()
		l.said.close()
		return err
	}
	maps.Copy(secrets, l.def.Env)
	for name, value := range secrets {
		spec.Env = slices.DeleteFunc(spec.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		spec.Env = append(spec.Env, name+"="+value)
	}
	spec.Readable = append(append(spec.Readable, each(l.def.Read, l.s.path)...), l.s.scripts(l.def)...)
	spec.Writable = append(spec.Writable, each(l.def.Write, l.s.path)...)
	spec.Input, spec.MaxOutput = in, 1
	spec.OnOutput = func(stream string, p []byte) {
		if stream == "stdout" {
			_, _ = heard.Write(p) // fails when nobody listens any more
			return
		}
		l.said.write(p)
	}
	l.said.line("Started " + filepath.Base(spec.Argv[0]) + ".")
	l.job, err = l.s.c.Sandbox.Start(context.WithoutCancel(ctx), spec) // once it runs it is told to end
	in.Close()
	if err != nil {
		write.Close()
		l.said.line(sys.AsError(err).Message)
		l.said.close()
		return sys.Errorf(sys.CodeUnavailable, "The server %s could not be started: %w", l.name, err).WithHint("Check its command in config.toml, then try again.")
	}
	go func() {
		<-l.job.Done()
		heard.Close()
		write.Close()
		l.said.line("Ended.")
		l.said.close()
	}()
	l.input = newInput(write, l.job.Kill)
	greet, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stop := context.AfterFunc(greet, func() { hear.Close() }) // a server that stays silent in its answer holds nobody up
	l.session, err = l.newClient(ctx).Connect(greet, &sdk.IOTransport{Reader: readTasks(hear), Writer: l.input, MaxLineLength: maxLine}, nil)
	stop()
	if err != nil {
		late := greet.Err() != nil
		hear.Close()
		if ctx.Err() != nil {
			l.job.Kill()
			<-l.job.Done()
			return context.Cause(ctx)
		}
		l.killAfter(endTime) // one that ended is gone in a moment, and says with what
		<-l.job.Done()
		why := sys.Say("It did not answer as an MCP server does.")
		switch {
		case late:
			why = sys.Say("It did not answer within %s.", startTime)
		case l.job.Result().ExitCode != 0 && !l.job.Result().Killed:
			why = sys.Say("It ended with %d before it answered.", l.job.Result().ExitCode)
		}
		l.s.ends(l.name)
		return sys.Errorf(sys.CodeUnavailable, "The server %s could not be connected. %s", l.name, why).
			WithHint("`oxios mcp log %s` shows what it said.", l.name).WithCause(err)
	}
	return nil
}

// scripts are what the command line names and the server reads: the folder of the program itself and of the script that an
// interpreter runs, as both need what lies beside them, what that loads from its package, and of other files these alone. In the person's home itself, and in a
// folder that holds that of Oxios, it is the file alone; what may hold keys is none.
func (s *Service) scripts(def Server) (paths []string) {
	home := s.c.Expand("~")
	argv := append([]string{s.path(def.Command)}, each(def.Args, s.path)...)
	called := slices.Clone(argv)
	if security.Interprets(called[0]) { // it is one wherever it lies, and no script itself
		called[0] = filepath.Base(called[0])
	}
	texts := security.ClassifyArgv(called, security.CommandOptions{Dir: s.c.Dir, Home: home}).Texts
	script := slices.IndexFunc(called, func(word string) bool {
		return filepath.IsAbs(word) && slices.Contains(texts, filepath.ToSlash(filepath.Clean(word)))
	})
	for i, p := range argv {
		info, err := os.Stat(p)
		if !filepath.IsAbs(p) || err != nil || !info.Mode().IsRegular() || s.holdsKeys(p, home) {
			continue
		}
		if dir := filepath.Dir(p); (i == 0 || i == script) && !security.Within(home, dir) && !s.c.Own(dir) && !s.holdsKeys(dir, home) {
			p = dir
		}
		paths = append(paths, p)
		if i != 0 && i != script {
			continue
		}
		for _, other := range loads(argv[i]) {
			if !security.Within(other, p) && !s.c.Own(other) && !s.holdsKeys(other, home) {
				paths = append(paths, other)
			}
		}
	}
	return paths
}

// holdsKeys reports whether a file or folder may hold keys, by its name or by that of what it leads to.
func (s *Service) holdsKeys(p, home string) bool {
	real, err := filepath.EvalSymlinks(p)
	return security.SecretName(p, home) || err != nil || security.SecretName(real, home)
}

// gone forgets a server that does not run.
func (l *live) gone() {
	s := l.s
	s.mu.Lock()
	if s.live[l.name] == l {
		delete(s.live, l.name)
	}
	s.mu.Unlock()
	l.mu.Lock()
	over := l.over
	l.mu.Unlock()
	if l.session != nil && !over {
		s.ends(l.name)
	}
	s.c.Told(l.name)
}

// ends notes that a server ended by itself.
func (s *Service) ends(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[name] = append(s.recent(name), s.c.Clock.Now())
}

// recent are its ends that count still. The lock is held.
func (s *Service) recent(name string) []time.Time {
	from := s.c.Clock.Now().Add(-breakerTime)
	return slices.DeleteFunc(s.ended[name], func(t time.Time) bool { return t.Before(from) })
}

// broken reports whether a server ended by itself so often that it is not started again for a while.
func (s *Service) broken(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[name] = s.recent(name)
	return len(s.ended[name]) >= breakerCount
}

// mayStart waits until a server that ended by itself may be started again.
func (s *Service) mayStart(ctx context.Context, name string, def Server) error {
	if s.broken(name) && def.remote() {
		return sys.Errorf(sys.CodeUnavailable, "The server %s could not be reached, or broke off, %d times within %s, so it is not tried for now.", name, breakerCount, breakerTime).
			WithHint("`oxios mcp connect %s` tries again at once.", name)
	}
	if s.broken(name) {
		return sys.Errorf(sys.CodeUnavailable, "The server %s ended by itself %d times within %s, so it is not started again for now.", name, breakerCount, breakerTime).
			WithHint("`oxios mcp log %s` shows why. `oxios mcp connect %s` tries again at once.", name, name)
	}
	s.mu.Lock()
	n := len(s.ended[name])
	var since time.Duration
	if n > 0 {
		since = s.c.Clock.Now().Sub(s.ended[name][n-1])
	}
	s.mu.Unlock()
	if n == 0 {
		return nil
	}
	wait := min(firstWait<<(n-1), longestWait)
	wait += rand.N(wait / 4) // not all at once, where many wait
	if wait -= since; wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// forgive forgets that a server ended by itself: a person wants it now.
func (s *Service) forgive(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ended, name)
}

func (l *live) take() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
}

func (l *live) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls--
	l.used = l.s.c.Clock.Now()
}

func (l *live) idle(now time.Time, after time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls == 0 && now.Sub(l.used) >= after
}

// end ends the server with all that it started, and waits until it is gone. It may end by itself first: its input ends.
func (l *live) end() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.stop(sys.Errorf(sys.CodeCanceled, "The server %s was ended while it started.", l.name))
	<-l.ready
	if l.err != nil {
		return
	}
	go l.close()
	l.killAfter(endTime)
	<-l.done
}

// lost waits until a server is gone with which no connection is left.
func (l *live) lost() {
	l.killAfter(endTime)
	<-l.done
}

// forgotten ends a connection of which the server knows nothing any more. That is no end by itself.
func (l *live) forgotten() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.lost()
}

// killAfter gives the program so long to end by itself.
func (l *live) killAfter(d time.Duration) {
	grace := time.NewTimer(d)
	defer grace.Stop()
	select {
	case <-l.finished():
	case <-grace.C:
		if l.web != nil {
			l.web.cut()
			l.web.gone()
			return
		}
		l.job.Kill()
	}
}

// finished is closed when the program has ended, or the connection.
func (l *live) finished() <-chan struct{} {
	if l.web != nil {
		return l.web.over
	}
	return l.job.Done()
}
