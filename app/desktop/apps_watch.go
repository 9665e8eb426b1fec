//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"oxios/kernel"
)

// How often the page is asked for a sign of life while apps run in it, and how long it may owe one.
const (
	askEvery = time.Second
	oweMost  = 5 * time.Second
)

// appWatch looks after the apps in the page. WebKitGTK runs a frame in the page's own process, so that an app whose script
// never ends holds up the whole window: then the page is ended, and loaded again without that app.
type appWatch struct {
	ask  func()                                              // has the page say that it is alive
	end  func()                                              // ends the page, which is loaded again
	stop func(ctx context.Context, of kernel.MCPAppOf) error // notes that an app is not started again
	log  *slog.Logger

	mu     sync.Mutex
	apps   []kernel.MCPAppOf
	heard  time.Time
	change chan struct{} // has room for one
}

func (w *appWatch) begins(of kernel.MCPAppOf) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.apps) == 0 {
		w.heard = time.Now()
	}
	w.apps = append(w.apps, of)
	select {
	case w.change <- struct{}{}:
	default: // it is known already
	}
}

func (w *appWatch) ends(of kernel.MCPAppOf) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, a := range w.apps {
		if a == of {
			w.apps = append(w.apps[:i:i], w.apps[i+1:]...)
			return
		}
	}
}

func (w *appWatch) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = time.Now()
}

// reloaded forgets the apps of a page that is gone.
func (w *appWatch) reloaded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apps = nil
}

// run watches until ctx ends. While no app runs it wakes nobody.
func (w *appWatch) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.change:
		}
		tick := time.NewTicker(askEvery)
		for w.look(ctx) {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		tick.Stop()
	}
}

// look asks the page whether it is alive, and ends it where it owes the answer for too long. It reports whether apps run.
func (w *appWatch) look(ctx context.Context) bool {
	w.mu.Lock()
	apps, owed := w.apps, time.Since(w.heard)
	if owed > oweMost {
		w.apps = nil
	}
	w.mu.Unlock()
	switch {
	case ctx.Err() != nil || len(apps) == 0:
		return false
	case owed <= oweMost:
		w.ask()
		return true
	}
	for _, of := range apps {
		w.log.WarnContext(ctx, "An app held up the page, so it is not started again", "server", of.Server, "app", of.ID)
		if err := w.stop(ctx, of); err != nil {
			w.log.ErrorContext(ctx, "Could not note that an app is not started again", "error", err)
		}
	}
	w.end()
	return false
}

// AppBegins takes [server, id]: an app starts in the page.
func (w *Window) AppBegins(args string) (answer string, err error) {
	defer caught(&err)
	server, id, err := two(args)
	if err == nil {
		w.apps.begins(kernel.MCPAppOf{Server: server, ID: id})
	}
	return "", err
}

// AppEnds takes [server, id]: it is no longer there.
func (w *Window) AppEnds(args string) (answer string, err error) {
	defer caught(&err)
	server, id, err := two(args)
	if err == nil {
		w.apps.ends(kernel.MCPAppOf{Server: server, ID: id})
	}
	return "", err
}

// Alive takes []. The page answers, so nothing holds it up.
func (w *Window) Alive(string) (answer string, err error) {
	defer caught(&err)
	w.apps.alive()
	return "", nil
}
