package gateway

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"oxios/kernel/sys"
)

// onlyOurs lets through what names this server exactly. A rebound DNS name has
// another Host, and a page elsewhere has another Origin; what a cross-site
// check by the browser's own headers lets through ends here.
func onlyOurs(port int, next http.Handler) http.Handler {
	p := ":" + strconv.Itoa(port)
	hosts := []string{"127.0.0.1" + p, "localhost" + p, "[::1]" + p}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(hosts, r.Host) {
			secure(w.Header(), hosts[0])
			refuse(w, http.StatusMisdirectedRequest, sys.Errorf(sys.CodeForbidden, "This server does not answer to that name.").
				WithHint("Open http://%s.", hosts[0]))
			return
		}
		secure(w.Header(), r.Host)
		origins := r.Header.Values("Origin")
		foreign := slices.ContainsFunc(origins, func(o string) bool { return o != "http://"+r.Host })
		// Reading the page itself needs no Origin, and browsers send none. Everything that acts needs one.
		acts := r.Method != http.MethodGet && r.Method != http.MethodHead || r.URL.Path == "/ws"
		acts = acts && r.URL.Path != programs
		if foreign || (acts && len(origins) != 1) {
			refuse(w, http.StatusForbidden, sys.Errorf(sys.CodeForbidden, "The request does not come from the page of this server."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// secure sets what every answer carries: the page runs only its own files,
// talks only to this server, cannot be framed, and leaks no address.
func secure(h http.Header, host string) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "+
		"font-src 'self' data:; connect-src 'self' ws://"+host+"; manifest-src 'self'; worker-src 'self' blob:; frame-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Cache-Control", "no-store")
}

// refuse answers with a coded error as JSON.
func refuse(w http.ResponseWriter, status int, err *sys.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// When it does not arrive, nobody is left to be told.
	_ = json.NewEncoder(w).Encode(err)
}
