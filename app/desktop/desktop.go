// Package desktop is the window: Wails, the kernel bound to it, the tray, deep
// links, the single instance, and the quick prompt beside it.
//
// It promises that closing the window ends nothing, that the window's troubles
// stay its own (a page that dies is loaded again, a call that panics is an
// error of that call), that a second start shows the first one's window, and
// that quitting leaves no process behind.
//
// Without the tags desktop, dev or bindings nothing of it is compiled but
// [Main], which says so.
package desktop

import (
	"context"
	"io/fs"
	"log/slog"

	"oxios/kernel"
)

// Deps is what main hands to the window. All but Tray are needed.
type Deps struct {
	Version  string
	Frontend fs.FS // index.html at its root

	// Open opens the kernel of a home for its owner; see kernel.Open.
	Open func(ctx context.Context, home, owner string, log *slog.Logger) (*kernel.Kernel, error)

	// Tray puts an icon into the tray. It is called on the main goroutine,
	// before the event loop. Nil: closing the window minimises it.
	Tray func(TrayActions) Tray
}

// TrayActions are what the tray's menu does.
type TrayActions struct {
	Open   func()
	Quick  func()
	Review func()
	Pause  func(on bool)
	Quit   func()
}

// Tray shows the state of the agents, and the keys that open the quick prompt,
// if there are any.
type Tray interface {
	Show(s kernel.Status, korean bool, quickKeys string)
	Close()
}
