//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"net/http"
	"strings"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"

	"oxios/kernel"
)

func (a *app) watchApps() *appWatch {
	return &appWatch{
		log: a.log, end: endPage, change: make(chan struct{}, 1),
		ask: func() { wails.WindowExecJS(a.wctx, `window.go.desktop.Window.Alive("[]")`) },
		stop: func(ctx context.Context, of kernel.MCPAppOf) error {
			h, err := a.kernel.reach()
			if err != nil {
				return err
			}
			return h.MCP.StopApp(ctx, of)
		},
	}
}

// appPages serves the pages of apps into frames of the window's page. An address is good once, and only the page is told it.
func (a *app) appPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ticket, ok := strings.CutPrefix(r.URL.Path, kernel.AppPath)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		h := a.kernel.Handle()
		if h == nil || r.Method != http.MethodGet {
			http.Error(w, "", http.StatusServiceUnavailable)
			return
		}
		page, err := h.MCP.AppPage(r.Context(), ticket)
		if err != nil {
			http.Error(w, "", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Security-Policy", page.Policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page.HTML)) // when it does not arrive, the frame is gone
	})
}
