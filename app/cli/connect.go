package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// patience is how long a command waits for a home that is taken, but whose
// owner does not answer yet: it may be starting, or be a command that ends soon.
const patience = 2 * time.Second

// link is a connection to the kernel: the one that runs, or one of our own.
type link struct {
	*remote.Handle
	own    *kernel.Kernel // nil when another process owns the home
	serves bool           // it works, and other commands may work through it
	left   []string       // runs that an earlier process left open; nobody works on them here
	close  func()
}

// alone reports whether nobody but this terminal can decide what a run asks:
// the kernel is our own, or that of another `oxios run`.
func (l *link) alone(ctx context.Context) (bool, error) {
	if l.own != nil {
		return true, nil
	}
	s, err := l.Infra.Status(ctx)
	return s.Owner == "run", err
}

// finishOthers waits until the runs that other commands started in our kernel
// have ended or wait for a person: they would be cut off by its end. Ctrl-C
// ends them too.
func (c *console) finishOthers(ctx context.Context, l *link) {
	idle := 0
	for told := false; l.serves && ctx.Err() == nil; {
		list, err := l.Agents.List(ctx, kernel.ProcessQuery{})
		busy := slices.ContainsFunc(list, func(p kernel.Process) bool {
			return (p.State == "running" || p.State == "queued") && !slices.Contains(l.left, p.ID)
		})
		switch {
		case err != nil:
			return
		case busy && !told:
			c.note("%s", c.t("· Another command works through this one; waiting for it. Ctrl-C ends both.", "· 다른 명령이 이 명령을 통해 일하고 있어 기다립니다. Ctrl-C는 둘 다 끝냅니다."))
			told, idle = true, 0
		case busy:
			idle = 0
		default:
			idle++
		}
		if !told || idle > 2 { // where one command came, the next may be on its way
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// connect reaches the kernel of the home for one command: over the socket of
// the process that owns the home, else by opening it.
func (c *console) connect(ctx context.Context) (*link, error) {
	client, k, _, err := c.reach(ctx, "run")
	if err != nil {
		return nil, err
	}
	if client != nil {
		return remoteLink(client), nil
	}
	return &link{Handle: remote.Local(k.As(sys.Person("terminal"))), own: k, close: func() { _ = k.Close() }}, nil
}

// connectToWork is connect for a command whose run lasts: a kernel of our own
// runs, and serves its socket to other commands meanwhile.
func (c *console) connectToWork(ctx context.Context) (*link, error) {
	client, k, log, err := c.reach(ctx, "run")
	if err != nil {
		return nil, err
	}
	if client != nil {
		return remoteLink(client), nil
	}
	h := remote.Local(k.As(sys.Person("terminal")))
	left, err := h.Agents.List(ctx, kernel.ProcessQuery{Limit: 500})
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	ln, err := remote.Listen(k.Home())
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	// Ctrl-C stops the run first; the kernel goes after it.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() {
		if err := remote.Host(ctx, k, ln, log); err != nil {
			log.ErrorContext(ctx, "The socket ended", "error", err)
		}
	})
	work.Go(func() {
		if err := k.Run(ctx); err != nil {
			log.ErrorContext(ctx, "The kernel ended", "error", err)
		}
	})
	l := &link{Handle: h, own: k, serves: true, close: func() {
		cancel()
		work.Wait()
		if err := k.Close(); err != nil {
			log.Error("The kernel did not close cleanly", "error", err)
		}
	}}
	for _, p := range left {
		l.left = append(l.left, p.ID)
	}
	return l, nil
}

func remoteLink(client *remote.Client) *link {
	return &link{Handle: client.Handle(), close: func() { _ = client.Close() }}
}

// reach returns a client of the process that owns the home, or the kernel if
// nobody does.
func (c *console) reach(ctx context.Context, owner string) (*remote.Client, *kernel.Kernel, *slog.Logger, error) {
	for end := time.Now().Add(patience); ; {
		client, err := remote.DialRunning(ctx, c.home)
		if client != nil {
			return client, nil, nil, nil
		}
		if err != nil && sys.CodeOf(err) != sys.CodeUnavailable {
			return nil, nil, nil, err
		}
		log := c.log(owner)
		k, err := c.deps.Open(ctx, c.home, owner, log)
		if err == nil {
			return nil, k, log, nil
		}
		if sys.CodeOf(err) != sys.CodeBusy || time.Now().After(end) {
			return nil, nil, nil, err
		}
		select {
		case <-time.After(25 * time.Millisecond):
		case <-ctx.Done():
			return nil, nil, nil, ctx.Err()
		}
	}
}

// maxLog is how large a log may be before the next start puts it aside. One
// older log is kept.
const maxLog = 4 << 20

// log opens the log of a face in the home. A log that cannot be written is no
// reason to refuse work: then there is none, and Open tells what is wrong with
// the home.
func (c *console) log(owner string) *slog.Logger {
	dir := filepath.Join(c.home, "logs")
	path := filepath.Join(dir, owner+".log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return slog.New(slog.DiscardHandler)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1") // when it fails, the log goes on
	}
	return slog.New(slog.NewTextHandler(&logFile{path: path}, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// logFile opens its file at the first line and closes it after each: lines are
// rare, and a command that logs nothing leaves no file.
type logFile struct {
	mu   sync.Mutex
	path string
}

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := f.Write(p)
	return n, errors.Join(err, f.Close())
}
