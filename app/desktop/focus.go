//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"sync"
	"time"

	"oxios/app/remote"
)

// pageFocus is what a window says of being in front. Its own dialogs take the
// keyboard from the page and belong to the window all the same: while one is
// open, the window is in front, whatever the page says.
type pageFocus struct {
	remote.InfraAPI

	mu      sync.Mutex // held while it is reported: what is said last arrives last
	dialogs int
	said    bool // by the page
}

// ReportFocus implements [remote.InfraAPI].
func (f *pageFocus) ReportFocus(ctx context.Context, focused bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = focused
	return f.InfraAPI.ReportFocus(ctx, focused || f.dialogs > 0)
}

// dialog says that a dialog is open, until the returned function.
func (f *pageFocus) dialog(ctx context.Context) (closed func()) {
	f.opened(ctx, 1)
	return func() { f.opened(ctx, -1) }
}

func (f *pageFocus) opened(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialogs += n
	_ = f.InfraAPI.ReportFocus(ctx, f.said || f.dialogs > 0) // at worst a notification comes that need not
}

// withFocus returns h as a window uses it.
func withFocus(h *remote.Handle) *remote.Handle {
	if h == nil {
		return nil
	}
	own := *h
	own.Infra = &pageFocus{InfraAPI: h.Infra}
	return &own
}

// dialog says to the kernel, if there is one, that a dialog of this window is
// open, until the returned function.
func (a *attachment) dialog(ctx context.Context) (closed func()) {
	if h := a.Handle(); h != nil {
		if f, ok := h.Infra.(*pageFocus); ok {
			return f.dialog(ctx)
		}
	}
	return func() {}
}
