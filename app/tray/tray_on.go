//go:build (desktop || dev) && !bindings && (linux || windows)

package tray

import (
	"sync"

	"github.com/getlantern/systray"

	"oxios/kernel"
)

// Tray is the icon and its menu.
type Tray struct {
	actions Actions
	clicks  chan func()
	done    chan struct{}

	mu     sync.Mutex
	ready  bool
	closed bool
	last   face // what was shown last
	want   face
	items  items
}

type items struct{ state, open, quick, review, pause, quit *systray.MenuItem }

// Register puts the icon into the tray. It must be called on the main
// goroutine, before the window's event loop, which serves the tray too.
func Register(a Actions) *Tray {
	t := &Tray{actions: a, clicks: make(chan func(), 8), done: make(chan struct{}), want: faceOf(kernel.Status{AuditOK: true}, false, "")}
	systray.Register(t.build, nil)
	// Here and once: on Linux the library calls GTK from the calling goroutine.
	systray.SetTitle("Oxios")
	return t
}

// build makes the menu, when the tray is ready.
func (t *Tray) build() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	f := t.want
	t.items.state = systray.AddMenuItem(f.state, "")
	t.items.state.Disable()
	systray.AddSeparator()
	t.items.open = systray.AddMenuItem(f.open, "")
	t.items.quick = systray.AddMenuItem(f.quick, "")
	t.items.review = systray.AddMenuItem(f.review, "")
	systray.AddSeparator()
	t.items.pause = systray.AddMenuItem(f.pause, "")
	systray.AddSeparator()
	t.items.quit = systray.AddMenuItem(f.quit, "")
	t.ready = true
	t.draw(true)
	go t.read() // both end with Close
	go t.act()
}

// read takes every click at once: the library drops those that nobody reads.
func (t *Tray) read() {
	i := t.items
	for {
		var do func()
		select {
		case <-t.done:
			return
		case <-i.state.ClickedCh:
			continue
		case <-i.open.ClickedCh:
			do = t.actions.Open
		case <-i.quick.ClickedCh:
			do = t.actions.Quick
		case <-i.review.ClickedCh:
			do = t.actions.Review
		case <-i.pause.ClickedCh:
			do = t.pause
		case <-i.quit.ClickedCh:
			do = t.actions.Quit
		}
		select {
		case t.clicks <- do:
		default: // eight clicks behind: the person sees that nothing moves
		}
	}
}

func (t *Tray) act() {
	for {
		select {
		case <-t.done:
			return
		case do := <-t.clicks:
			do()
		}
	}
}

func (t *Tray) pause() {
	t.mu.Lock()
	paused := t.want.paused
	t.mu.Unlock()
	t.actions.Pause(!paused)
}

// Show changes what the tray shows. It may be called from any goroutine, also
// before the tray is ready. quickKeys are those that open the quick prompt, or
// "".
func (t *Tray) Show(s kernel.Status, korean bool, quickKeys string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.want = faceOf(s, korean, quickKeys)
	t.draw(false)
}

// draw changes what is different: each change is a message to the panel.
func (t *Tray) draw(all bool) {
	if !t.ready || t.closed {
		return
	}
	f, old := t.want, t.last
	t.last = f
	if all || f.icon != old.icon {
		systray.SetIcon(Icons[f.icon])
	}
	if all || f.tooltip != old.tooltip {
		systray.SetTooltip(f.tooltip)
	}
	for _, c := range []struct {
		item     *systray.MenuItem
		was, now string
	}{
		{t.items.state, old.state, f.state},
		{t.items.open, old.open, f.open},
		{t.items.quick, old.quick, f.quick},
		{t.items.review, old.review, f.review},
		{t.items.pause, old.pause, f.pause},
		{t.items.quit, old.quit, f.quit},
	} {
		if c.was != c.now {
			c.item.SetTitle(c.now)
		}
	}
	if all || f.waits != old.waits {
		if f.waits {
			t.items.review.Enable()
		} else {
			t.items.review.Disable()
		}
	}
}

// Close takes the icon away and ends the event loop that serves it. It returns
// at once, so that an action may call it.
func (t *Tray) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	close(t.done)
	systray.Quit()
}
