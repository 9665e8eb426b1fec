//go:build (!desktop && !dev) || bindings || (!linux && !windows)

package tray

import "oxios/kernel"

// Tray is the icon and its menu.
type Tray struct{}

// Register gives a tray that shows nothing: this build has none.
func Register(Actions) *Tray { return &Tray{} }

// Show does nothing.
func (*Tray) Show(kernel.Status, bool, string) {}

// Close does nothing.
func (*Tray) Close() {}
