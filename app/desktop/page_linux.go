//go:build desktop || dev || bindings

package desktop

/*
#cgo webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.1 x11
#cgo !webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.0 x11
#include <gtk/gtk.h>
#include <webkit2/webkit2.h>
#include <X11/Xlib.h>

extern int oxiosPageEnded(int reason);
extern void oxiosDisplayGone(void);

static void page_ended(WebKitWebView *view, WebKitWebProcessTerminationReason reason, gpointer data) {
	if (oxiosPageEnded((int)reason)) webkit_web_view_reload(view);
}

static void find_view(GtkWidget *widget, gpointer data) {
	if (WEBKIT_IS_WEB_VIEW(widget)) {
		g_signal_connect(widget, "web-process-terminated", G_CALLBACK(page_ended), NULL);
		return;
	}
	if (GTK_IS_CONTAINER(widget)) gtk_container_forall(GTK_CONTAINER(widget), find_view, data);
}

// A caret that blinks draws the window twice a second, which is one hundredth of a
// processor for as long as the window has the focus: it stands, for twelve days. With
// gtk-cursor-blink off, WebKit would draw it anew with every frame of the screen.
static gboolean mend_in_loop(gpointer data) {
	GtkSettings *settings = gtk_settings_get_default();
	if (settings != NULL) g_object_set(settings, "gtk-cursor-blink-time", G_MAXINT, NULL);
	GList *windows = gtk_window_list_toplevels();
	for (GList *w = windows; w != NULL; w = w->next) find_view(GTK_WIDGET(w->data), NULL);
	g_list_free(windows);
	return G_SOURCE_REMOVE;
}

static int display_gone(Display *display) {
	oxiosDisplayGone();
	return 0;
}

// The caller is a thread of its own, and all of GTK belongs to that of the loop.
static void mend_page(void) {
	g_idle_add(mend_in_loop, NULL);
	XSetIOErrorHandler(display_gone);
}

static gboolean end_loop(gpointer data) {
	gtk_main_quit();
	return G_SOURCE_REMOVE;
}

static void end_loop_soon(void) { g_idle_add(end_loop, NULL); }

static int display_opens(void) { return gtk_init_check(NULL, NULL); }
*/
import "C"

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// pages decides whether a page that ended is loaded again.
var pages struct {
	mu   sync.Mutex
	log  *slog.Logger
	gone func() // ends the process when the display went away
	ends []time.Time
}

// mendPage has the page loaded again when WebKit's process for it ends. Wails
// leaves the window frozen then, and the page cannot reload itself. When the X
// display goes away, gone is called, which must not return: GDK would end the
// process where it stands.
func mendPage(log *slog.Logger, gone func()) {
	pages.mu.Lock()
	pages.log, pages.gone = log, gone
	pages.mu.Unlock()
	C.mend_page()
}

//export oxiosDisplayGone
func oxiosDisplayGone() {
	pages.mu.Lock()
	gone := pages.gone
	pages.mu.Unlock()
	gone()
}

// oxiosPageEnded is called on GTK's thread. A page that ends five times in a
// minute would only do so again.
//
//export oxiosPageEnded
func oxiosPageEnded(reason C.int) C.int {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	now := time.Now()
	recent := pages.ends[:0]
	for _, t := range pages.ends {
		if now.Sub(t) < time.Minute {
			recent = append(recent, t)
		}
	}
	pages.ends = append(recent, now)
	again := len(pages.ends) < 5
	pages.log.Warn("The page's process ended", "reason", int(reason), "loaded_again", again)
	if again {
		return 1
	}
	return 0
}

// endLoop ends the event loop from inside: Wails' Quit does it from outside,
// where it does nothing when the loop has not begun, and ends it before the
// tray has taken its icon away.
func endLoop(context.Context) { C.end_loop_soon() }

// displayOpens reports whether GTK can open the display. It must be called on
// the main goroutine.
func displayOpens() bool { return C.display_opens() != 0 }

// trayThere reports whether something shows tray icons.
func trayThere(ctx context.Context) bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		return false
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return false
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	const watcher = "org.kde.StatusNotifierWatcher"
	var owned bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcher).Store(&owned); err != nil || !owned {
		return false
	}
	// A watcher without a host knows the icons and shows none of them.
	var shown dbus.Variant
	err = conn.Object(watcher, "/StatusNotifierWatcher").CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, watcher, "IsStatusNotifierHostRegistered").Store(&shown)
	if err != nil {
		return true // an old watcher that does not say
	}
	host, ok := shown.Value().(bool)
	return !ok || host
}
