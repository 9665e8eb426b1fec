// Package gateway serves the front end to a browser of this machine, and
// carries the page's calls to the kernel over a WebSocket.
//
// It promises that a page of another origin, another name for this machine, or
// a program that knows no secret reaches nothing: it listens on loopback alone,
// every request must name this server exactly, every POST and every upgrade
// must come from this server's own page, or at /mcp from no page at all, and no
// GET has an effect. A browser
// is let in by a code that works once and never stands in a request's address;
// after that each WebSocket needs two secrets, a cookie that no script reads
// and a second one that no other port of this host is sent. Both live in
// memory: when the process ends, every browser must be let in again.
//
// # The WebSocket
//
// /ws speaks JSON text messages of at most 16 MiB. The page begins with
// {"auth": secret} within five seconds and is answered {"ready": true}. Then:
//
//	→ {"id":1,"method":"state.session","args":["…"]}
//	← {"id":1,"result":{…}}   or   {"id":1,"error":{"code","message","hint"}}
//	→ {"id":1,"cancel":true}
//	→ {"id":2,"method":"infra.events","args":[from]}
//	← {"id":2,"result":null}, then {"event":{…}} for each; a later infra.events takes its place
//
// A page that reads too slowly holds back nobody: the kernel's reader skips,
// and the next event is of kind "gap". The server closes with status 4401 when
// the secrets are wrong, and with 1001 when the kernel stops.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// Config is what a [Gateway] works with.
type Config struct {
	Handle   func(via string) *remote.Handle // the kernel as the person at that face sees it; via is "page"
	Frontend fs.FS                           // the built front end, index.html at its top; without it the page says how to build it
	Scratch  string                          // a folder for files on their way; that of the system by default
	Log      *slog.Logger                    // required
	Clock    sys.Clock                       // the real time by default

	Programs http.Handler // answers /mcp, for programs with a token of their own; nil for none
}

// programs is where programs other than the page knock. They have no page, so they send no Origin; one that is sent must be
// this server's.
const programs = "/mcp"

// Gateway is the served front end. Make one with [New]; it does nothing before
// [Gateway.Run].
type Gateway struct {
	cfg     Config
	doors   doors
	auth    *rate.Limiter // codes that do not fit
	upgrade *rate.Limiter // WebSockets of browsers that nobody let in
	again   *rate.Limiter // those of browsers that were let in, before they prove it
	sockets sync.WaitGroup
}

// New returns a gateway.
func New(cfg Config) *Gateway {
	return &Gateway{
		cfg:     cfg,
		doors:   doors{clock: cfg.Clock},
		auth:    rate.NewLimiter(5, 10),
		upgrade: rate.NewLimiter(10, 20),
		again:   rate.NewLimiter(10, 20),
	}
}

// Listen opens the port that [Gateway.Run] serves: on loopback, where 0 lets
// the system choose.
func Listen(port int) (net.Listener, error) {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	ln, err := net.Listen("tcp4", addr)
	if err != nil {
		e := sys.Errorf(sys.CodeBusy, "The address %s cannot be opened: %w", addr, err)
		return nil, e.WithHint("Another program may use the port: end it, or choose another port.")
	}
	return ln, nil
}

// Code mints a code that lets one browser in, once, within ten minutes. At most
// eight are good at a time; the oldest goes first.
func (g *Gateway) Code() string { return g.doors.mint() }

// URL returns the address that opens the page in a browser, with a fresh
// [Gateway.Code]. The code travels behind the #, which no browser sends.
func (g *Gateway) URL(addr net.Addr) string {
	return "http://" + addr.String() + "/#code=" + g.Code()
}

// Run serves ln, which must listen on loopback, until ctx ends; then it closes
// every connection and returns nil.
func (g *Gateway) Run(ctx context.Context, ln net.Listener) error {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		ln.Close()
		return sys.Errorf(sys.CodeForbidden, "The page is served on loopback only, and %s is not.", ln.Addr())
	}
	server := &http.Server{
		Handler:           g.handler(addr.Port),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       remote.WithConn,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(g.cfg.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	var err error
	select {
	case err = <-ended:
		err = fmt.Errorf("serve the page: %w", err)
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if server.Shutdown(grace) != nil {
			err = server.Close()
		}
		if serr := <-ended; !errors.Is(serr, http.ErrServerClosed) {
			err = errors.Join(err, serr)
		}
	}
	g.sockets.Wait()
	return err
}

// handler is everything that is served on port.
func (g *Gateway) handler(port int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("POST /auth", func(w http.ResponseWriter, r *http.Request) { g.exchange(w, r, port) })
	mux.HandleFunc("POST /files/backup", g.let(port, backupFile))
	mux.HandleFunc("POST /files/export", g.let(port, exportFile))
	mux.HandleFunc("POST /files/skill", g.let(port, skillFile))
	mux.HandleFunc("POST /files/restore", g.let(port, restoreFile))
	mux.HandleFunc("GET /ws", func(w http.ResponseWriter, r *http.Request) { g.socket(w, r, port) })
	if g.cfg.Programs != nil {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			mux.Handle(method+" "+programs, g.cfg.Programs)
		}
	}
	mux.HandleFunc("GET "+kernel.AppPath+"{ticket}", func(w http.ResponseWriter, r *http.Request) { g.appPage(w, r, port) })
	mux.HandleFunc("GET /", g.file)
	return onlyOurs(port, mux)
}
