//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"time"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

// trayPatience is how long a session that begins may take until it shows icons
// in a tray.
const trayPatience = 10 * time.Second

// stayReachable minimises a window that started hidden where no tray appears:
// nothing else would lead to it.
func (a *app) stayReachable(ctx context.Context) {
	if !a.whenReady() {
		return
	}
	for end := time.Now().Add(trayPatience); time.Now().Before(end); {
		if a.trayReady.Load() && trayThere(ctx) {
			return
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
	if a.onScreen.Load() { // the person found it
		return
	}
	wails.WindowShow(a.wctx)
	wails.WindowMinimise(a.wctx)
}
