//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"oxios/app/notify"
	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// attachment is the window's way to the kernel: its own, or that of `oxios
// serve`, which owns the home already. When that one ends the window takes the
// home over.
type attachment struct {
	home string
	deps Deps
	log  *slog.Logger
	note notify.Config // for when this process owns the home; Handle and Focused are set then

	mu     sync.Mutex
	handle *remote.Handle // nil while there is no kernel
	why    error          // why there is none, as far as that is known
	change chan struct{}  // closed and replaced when handle changes
}

// link is one connection to a kernel.
type link struct {
	handle *remote.Handle
	lost   <-chan struct{} // closed when the kernel went away
	close  func()
}

func newAttachment(home string, deps Deps, log *slog.Logger) *attachment {
	return &attachment{home: home, deps: deps, log: log, change: make(chan struct{})}
}

// Handle returns the kernel, or nil while there is none.
func (a *attachment) Handle() *remote.Handle {
	h, _ := a.current()
	return h
}

// reach returns the kernel, or why there is none.
func (a *attachment) reach() (*remote.Handle, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.handle != nil {
		return a.handle, nil
	}
	return nil, a.why
}

// current also returns a channel that is closed when the handle changes.
func (a *attachment) current() (*remote.Handle, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.handle, a.change
}

func (a *attachment) set(h *remote.Handle) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handle, a.why = withFocus(h), nil
	close(a.change)
	a.change = make(chan struct{})
}

// fail says why there is no kernel.
func (a *attachment) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.why = err
}

// run keeps the window attached until ctx ends, beginning with first, and then
// closes what it is attached to. A nil first looks for a kernel.
func (a *attachment) run(ctx context.Context, first *link) {
	for l := first; ; l = a.look(ctx) {
		for l == nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
			l = a.look(ctx)
		}
		a.set(l.handle)
		select {
		case <-ctx.Done():
			l.close()
			a.set(nil)
			return
		case <-l.lost:
			a.log.WarnContext(ctx, "The kernel went away; looking for it, or opening it here")
			l.close()
			a.set(nil)
		}
	}
}

// look attaches, or keeps why it could not and returns nil.
func (a *attachment) look(ctx context.Context) *link {
	l, err := a.attach(ctx)
	if err == nil {
		return l
	}
	a.mu.Lock()
	news := a.why == nil || a.why.Error() != err.Error()
	a.why = err
	a.mu.Unlock()
	if news {
		a.log.ErrorContext(ctx, "There is no kernel; trying again until there is", "error", err)
	}
	return nil
}

// attach opens the kernel here, or connects to the process that has it.
func (a *attachment) attach(ctx context.Context) (*link, error) {
	k, err := a.deps.Open(ctx, a.home, "desktop", a.log)
	if err == nil {
		return a.own(ctx, k)
	}
	if sys.CodeOf(err) != sys.CodeBusy {
		return nil, err
	}
	c, derr := remote.DialPatiently(ctx, a.home)
	if derr != nil {
		return nil, derr
	}
	return &link{handle: c.Handle(), lost: c.Done(), close: func() { _ = c.Close() }}, nil
}

// own runs k for this window and for everybody on the home's socket.
func (a *attachment) own(ctx context.Context, k *kernel.Kernel) (*link, error) {
	ln, err := remote.Listen(a.home)
	if err != nil {
		_ = k.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	lost := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		if err := k.Run(ctx); err != nil {
			a.log.ErrorContext(ctx, "The kernel stopped", "error", err)
			close(lost)
		}
	})
	work.Go(func() {
		if err := remote.Host(ctx, k, ln, a.log); err != nil {
			a.log.ErrorContext(ctx, "The command line cannot reach this window any more", "error", err)
		}
	})
	work.Go(func() {
		note := a.note
		note.Handle, note.Focused = remote.Local(k.As(sys.Person("notification"))), k.Focused
		if err := notify.Run(ctx, note); err != nil {
			a.log.ErrorContext(ctx, "Notifications ended", "error", err)
		}
	})
	return &link{handle: remote.Local(k.As(sys.Person("window"))), lost: lost, close: sync.OnceFunc(func() {
		cancel()
		work.Wait()
		if err := k.Close(); err != nil {
			a.log.ErrorContext(ctx, "The kernel did not close cleanly", "error", err)
		}
	})}, nil
}
