//go:build (desktop || dev || bindings) && !linux

package desktop

import (
	"context"
	"log/slog"
	"runtime"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

// mendPage does nothing: outside of Linux the page has no process that ends
// without the window.
func mendPage(*slog.Logger, func()) {}

func endLoop(ctx context.Context) { wails.Quit(ctx) }

func displayOpens() bool { return true }

// trayThere reports whether something shows tray icons: Windows always does.
func trayThere(context.Context) bool { return runtime.GOOS == "windows" }

// clipboardPicture returns nil: the pages of the other systems read pictures
// themselves.
func clipboardPicture() []byte { return nil }
