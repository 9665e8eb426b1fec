//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	wails "github.com/wailsapp/wails/v2/pkg/runtime"

	"oxios/app/notify"
	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// app is the running application.
type app struct {
	deps   Deps
	home   string
	hidden bool // start in the tray
	log    *slog.Logger
	kernel *attachment
	events *Events
	window *Window

	tray      Tray
	trayReady atomic.Bool // tray is set

	life   context.Context // ends when the application ends
	cancel context.CancelFunc
	work   sync.WaitGroup

	ready    chan struct{} // closed when wctx is set
	readied  sync.Once
	wctx     context.Context // Wails' own
	quitting atomic.Bool
	quitOnce sync.Once
	ended    chan struct{} // closed when the event loop has ended
	again    atomic.Bool   // start again after the end
	painted  chan struct{}
	loaded   atomic.Bool // the page is there
	onScreen atomic.Bool // the window was shown, and not hidden since
	paint    sync.Once
	english  atomic.Bool
	closes   atomic.Bool // close_to_tray is on
	running  atomic.Int64
	status   atomic.Pointer[kernel.Status] // what the tray shows
	showing  sync.Mutex
	hotkey   *hotkey
	opening  sync.Mutex // held while the quick prompt starts

	mail mailbox
}

func newApp(home string, d Deps, log *slog.Logger) *app {
	a := &app{deps: d, home: home, log: log, kernel: newAttachment(home, d, log), ready: make(chan struct{}), painted: make(chan struct{}), ended: make(chan struct{})}
	a.life, a.cancel = context.WithCancel(context.Background())
	a.english.Store(true)
	a.closes.Store(true)
	a.events = &Events{kernel: a.kernel.current, ready: a.pageReady, emit: func(name string, data ...any) {
		if a.life.Err() == nil {
			wails.EventsEmit(a.wctx, name, data...)
		}
	}}
	a.hotkey = newHotkey(a.quickPrompt, a.hotkeyChanged)
	a.window = &Window{
		ctx: func() context.Context { return a.wctx }, painted: func() { a.paint.Do(func() { close(a.painted) }) },
		quick: a.openQuick, hotkey: a.hotkey.view, dialog: a.kernel.dialog,
		apps: a.watchApps(),
	}
	a.kernel.note = notify.Config{Open: a.openSession, Korean: a.korean, Log: log}
	return a
}

func (a *app) options() *options.App {
	bind := append(Bindings(func() context.Context { return a.life }, a.kernel.reach), a.events, a.window)
	return &options.App{
		Title: "Oxios", Width: 1280, Height: 800, MinWidth: 640, MinHeight: 480,
		BackgroundColour: options.NewRGB(0xfb, 0xfa, 0xf7), // until the page is there
		StartHidden:      a.hidden,
		AssetServer:      &assetserver.Options{Assets: a.deps.Frontend, Middleware: a.appPages},
		OnStartup:        a.startup,
		OnDomReady:       a.domReady,
		OnBeforeClose:    a.beforeClose,
		Bind:             bind,
		// The page gets the paths, and keeps WebKit from opening the files in its place.
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: true},
		Linux:       &linux.Options{ProgramName: "oxios", WebviewGpuPolicy: linux.WebviewGpuPolicyNever},
	}
}

// start begins what runs beside the window.
func (a *app) start(ctx context.Context, first *link, mine *instance) {
	a.work.Go(func() { a.kernel.run(a.life, first) })
	a.work.Go(func() { mine.serve(ctx, a.show, a.log) })
	a.work.Go(func() {
		<-a.life.Done()
		mine.ln.Close()
	})
	a.work.Go(func() { a.watch(a.life) })
	a.work.Go(func() { a.watchPaint(a.life) })
	a.work.Go(func() { a.hotkey.run(a.life) })
	a.work.Go(func() { a.window.apps.run(a.life) })
	if a.hidden {
		a.work.Go(func() { a.stayReachable(a.life) })
	}
}

// close ends all that start began, the kernel last.
func (a *app) close() {
	a.cancel()
	a.work.Wait()
}

func (a *app) startup(ctx context.Context) {
	a.readied.Do(func() {
		a.wctx = ctx
		fillKept()
		a.events.start(a.life)
		mendPage(a.log, a.displayGone)
		shutFrames()
		close(a.ready)
	})
}

// domReady asks for a sign that the page was drawn, after two frames.
func (a *app) domReady(ctx context.Context) {
	a.loaded.Store(true)
	a.window.apps.reloaded()
	a.log.InfoContext(ctx, "The page is there")
	wails.WindowExecJS(ctx, `requestAnimationFrame(() => requestAnimationFrame(() => window.go.desktop.Window.Painted("[]")));`)
}

// whenReady waits for the window; it reports false when the end came first.
func (a *app) whenReady() bool {
	select {
	case <-a.ready:
		return true
	case <-a.life.Done():
		return false
	}
}

// quit is the one way out: closing the window hides it.
func (a *app) quit() {
	a.quitOnce.Do(func() {
		a.quitting.Store(true)
		if !a.whenReady() {
			return
		}
		wails.WindowHide(a.wctx)
		_ = a.askQuick(handover{End: true}) // where there is none, nothing has to end
		// A dialog has a loop of its own, which this does not end, and the desktop that shows the tray may hang.
		time.AfterFunc(quitPatience, func() {
			select {
			case <-a.ended:
			default:
				a.log.Warn("The window did not end; ending without it")
				a.close()
				os.Exit(0)
			}
		})
		if a.trayReady.Load() {
			a.tray.Close()
		}
		endLoop(a.wctx)
	})
}

// displayGone ends Oxios in order when its display went away, as at the end of
// a session: nobody would see it, and a later start shall find nothing in its
// place.
func (a *app) displayGone() {
	a.log.Error("The display is gone, so Oxios ends. What was done up to the last finished step is kept; start it again to go on.")
	time.AfterFunc(quitPatience, func() { os.Exit(1) })
	a.close()
	os.Exit(1)
}

// quitPatience is how long the window may take to end.
const quitPatience = 3 * time.Second

// beforeClose reports whether the window stays. Agents go on either way, so
// closing asks nothing.
func (a *app) beforeClose(ctx context.Context) bool {
	if a.quitting.Load() {
		return false
	}
	switch {
	case !a.closes.Load() && a.running.Load() == 0:
		go a.quit()
	case a.closes.Load() && a.trayReady.Load() && trayThere(ctx):
		wails.WindowHide(ctx)
		a.tell(ctx, "closed_to_tray")
	default:
		wails.WindowMinimise(ctx)
		a.tell(ctx, "minimised")
	}
	a.outOfSight()
	return true
}

// outOfSight says that no window is in front: a hidden page may not say it.
func (a *app) outOfSight() {
	a.onScreen.Store(false)
	if h := a.kernel.Handle(); h != nil {
		ctx, cancel := context.WithTimeout(a.life, time.Second)
		defer cancel()
		if err := h.Infra.ReportFocus(ctx, false); err != nil {
			a.log.DebugContext(ctx, "The focus was not reported", "error", err)
		}
	}
}

// front shows the window, wherever it is.
func (a *app) front() {
	if !a.whenReady() {
		return
	}
	a.onScreen.Store(true)
	wails.WindowShow(a.wctx)
	wails.WindowUnminimise(a.wctx)
	a.notice(a.mail.takeNotice())
}

// show does what a later start, or this one, was asked for.
func (a *app) show(h handover) {
	if h.Hidden {
		return
	}
	if session, ok := linked(h.Open); ok {
		a.work.Go(func() { a.openSession(session) })
		return
	}
	a.work.Go(a.front)
}

// openSession shows a conversation, or the inbox, as soon as there is a page to
// show it.
func (a *app) openSession(place string) {
	a.front()
	if a.mail.open(place) {
		a.events.emit("oxios:open", place)
	}
}

// review shows all that waits.
func (a *app) review() { a.openSession(notify.Inbox) }

// pageReady hands over what waited for the page.
func (a *app) pageReady() {
	if session := a.mail.subscribe(); session != "" {
		a.events.emit("oxios:open", session)
	}
	a.notice(a.mail.takeNotice())
}

func (a *app) pause(on bool) {
	h := a.kernel.Handle()
	if h == nil {
		return
	}
	status, err := h.Agents.Pause(a.life, on)
	if err != nil {
		a.log.ErrorContext(a.life, "The agents could not be paused", "on", on, "error", err)
		return
	}
	a.showStatus(status)
}

// tell says where Oxios went, once in the life of a home: by a notification,
// or with the window when it comes back.
func (a *app) tell(ctx context.Context, key string) {
	told := filepath.Join(a.home, "run", "told-"+key)
	if _, err := os.Stat(told); err == nil {
		return
	}
	if err := os.WriteFile(told, nil, 0o600); err != nil {
		a.log.WarnContext(ctx, "Could not note what was told", "error", err)
	}
	title, body := closing(key, a.korean())
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := notify.Tell(ctx, title, body); err != nil {
		a.mail.keepNotice(key)
	}
}

func closing(key string, korean bool) (title, body string) {
	switch {
	case key == "closed_to_tray" && korean:
		return "Oxios가 트레이에서 계속 실행됩니다", "트레이의 아이콘으로 다시 열거나 종료할 수 있습니다."
	case key == "closed_to_tray":
		return "Oxios goes on in the tray", "Its icon there opens it again, or quits it."
	case korean:
		return "Oxios가 최소화된 채 계속 실행됩니다", "이 시스템에는 트레이가 없습니다. 작업 표시줄에서, 또는 Oxios를 다시 시작해 창을 열 수 있습니다."
	}
	return "Oxios goes on, minimised", "This system has no tray. Open it from the task bar, or by starting Oxios again."
}

func (a *app) notice(key string) {
	if key != "" {
		a.events.notice(map[string]any{"seq": 0, "kind": "notice", "data": map[string]string{"key": key}})
	}
}

func (a *app) korean() bool { return !a.english.Load() }

// watch keeps the tray and the settings in step with the kernel.
func (a *app) watch(ctx context.Context) {
	for ctx.Err() == nil {
		h, changed := a.kernel.current()
		if h != nil {
			if err := a.follow(ctx, h); err != nil && ctx.Err() == nil {
				a.log.DebugContext(ctx, "The kernel is not followed", "error", err)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (a *app) follow(ctx context.Context, h *remote.Handle) error {
	events, err := h.Infra.Events(ctx, 0)
	if err != nil {
		return err
	}
	if err := a.look(ctx, h); err != nil {
		return err
	}
	for e := range events {
		switch e.Kind {
		case "status":
			if s, ok := as[kernel.Status](e); ok {
				a.showStatus(s)
			}
		case "config", "gap":
			if err := a.look(ctx, h); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) look(ctx context.Context, h *remote.Handle) error {
	config, err := h.Infra.Config(ctx)
	if err != nil {
		return err
	}
	a.closes.Store(config.Values["close_to_tray"] != "false")
	keys := config.Values["quick_keys"]
	if config.Values["quick_hotkey"] == "false" {
		keys = ""
	}
	a.hotkey.wish(keys)
	a.english.Store(!speaksKorean(config.Values["language"], os.Getenv))
	status, err := h.Infra.Status(ctx)
	if err == nil {
		a.showStatus(status)
	}
	return err
}

func (a *app) showStatus(s kernel.Status) {
	a.running.Store(int64(s.Running + s.Waiting))
	a.status.Store(&s)
	a.showTray()
}

// showTray shows what is true now.
func (a *app) showTray() {
	a.showing.Lock() // what was read first is shown first
	defer a.showing.Unlock()
	s := a.status.Load()
	if s == nil || !a.trayReady.Load() {
		return
	}
	keys := ""
	if h := a.hotkey.view(); h.State == keysWork {
		keys = h.Keys
	}
	a.tray.Show(*s, a.korean(), keys)
}

// hotkeyChanged tells the tray and the settings what is true of the keys.
func (a *app) hotkeyChanged(h Hotkey) {
	a.log.InfoContext(a.life, "The keys of the quick prompt", "state", h.State, "keys", h.Keys)
	a.showTray()
	if a.loaded.Load() {
		a.events.notice(map[string]any{"seq": 0, "kind": "hotkey", "data": h})
	}
}

// quickPrompt shows the quick prompt, for the tray and the keys. A failure is
// told by a notification.
func (a *app) quickPrompt() {
	err := a.openQuick()
	if err == nil {
		return
	}
	a.log.ErrorContext(a.life, "The quick prompt could not be shown", "error", err)
	message, hint := sys.AsError(err).In(a.korean())
	title, body := "The quick prompt could not be shown", strings.TrimSpace(message+" "+hint)
	if a.korean() {
		title = "빠른 질문 창을 열 수 없습니다"
	}
	ctx, cancel := context.WithTimeout(a.life, 2*time.Second)
	defer cancel()
	if err := notify.Tell(ctx, title, body); err != nil {
		a.log.DebugContext(ctx, "It could not be told by a notification", "error", err)
	}
}

func speaksKorean(language string, env func(string) string) bool {
	if language == "ko" || language == "en" {
		return language == "ko"
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := env(name); v != "" {
			return strings.HasPrefix(v, "ko")
		}
	}
	return false
}

// as reads the data of an event, of this process or of another.
func as[T any](e kernel.Event) (T, bool) {
	if v, ok := e.Data.(T); ok {
		return v, true
	}
	var v T
	raw, ok := e.Data.(json.RawMessage)
	return v, ok && json.Unmarshal(raw, &v) == nil
}
