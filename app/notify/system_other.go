//go:build !linux

package notify

import (
	"context"
	"errors"
	"log/slog"
)

// system has notifications on Linux alone so far: on Windows and macOS the
// tray and the window tell what waits.
func system(context.Context, *slog.Logger) (Sender, func(), error) {
	return nil, nil, errors.ErrUnsupported
}
