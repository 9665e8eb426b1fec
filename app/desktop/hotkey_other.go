//go:build (desktop || dev || bindings) && !linux

package desktop

import "context"

// holdKeys says that Oxios cannot hold keys on this system yet.
func holdKeys(_ context.Context, _ combo, _ func(), say func(state, keys string)) { say(keysNone, "") }
