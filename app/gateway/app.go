package gateway

import (
	"net/http"

	"oxios/kernel/sys"
)

// appPage serves the page of an app into a frame of the page. Its address was given to the page that is signed in, and is good
// once; the cookie says that this is its browser. The policy makes its origin nobody's, wherever it is opened.
func (g *Gateway) appPage(w http.ResponseWriter, r *http.Request, port int) {
	cookie, err := r.Cookie(cookieName(port))
	if err != nil || !g.doors.knows(cookie.Value) {
		refuse(w, http.StatusUnauthorized, sys.Errorf(sys.CodeAuth, "This page is not signed in."))
		return
	}
	page, err := g.cfg.Handle("page").MCP.AppPage(r.Context(), r.PathValue("ticket"))
	if err != nil {
		refuse(w, http.StatusNotFound, sys.AsError(err))
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", page.Policy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(page.HTML)) // when it does not arrive, the frame is gone
}
