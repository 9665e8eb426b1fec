package gateway

import (
	"io/fs"
	"net/http"
	"path"
	"strings"

	"oxios/kernel/sys"
)

// types are the kinds of files that a built front end holds. The system's own
// table is not asked: a browser that may not guess needs the right answer.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".webmanifest": "application/manifest+json", ".wasm": "application/wasm", ".txt": "text/plain; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".webp": "image/webp", ".woff2": "font/woff2",
}

// file serves one file of the front end. There are no listings.
func (g *Gateway) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	kind, known := types[path.Ext(name)]
	var data []byte
	var err error = fs.ErrNotExist
	if known && g.cfg.Frontend != nil && fs.ValidPath(name) {
		data, err = fs.ReadFile(g.cfg.Frontend, name)
	}
	switch {
	case err != nil && name == "index.html":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("front end not built: make build\n"))
		return
	case err != nil:
		refuse(w, http.StatusNotFound, sys.Errorf(sys.CodeNotFound, "There is no such page."))
		return
	}
	w.Header().Set("Content-Type", kind)
	if strings.HasPrefix(name, "assets/") { // their names change with their content
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	_, _ = w.Write(data)
}
