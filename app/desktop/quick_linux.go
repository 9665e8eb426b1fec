//go:build desktop || dev || bindings

package desktop

/*
#cgo webkit2_41 pkg-config: gtk+-3.0
#cgo !webkit2_41 pkg-config: gtk+-3.0
#include <gtk/gtk.h>
#ifdef GDK_WINDOWING_X11
#include <gdk/gdkx.h>
#endif

// A frameless window stands where it is put, so it is put where the pointer's screen has its upper third.
static void place(GtkWindow *window) {
	GdkDisplay *display = gtk_widget_get_display(GTK_WIDGET(window));
	GdkDevice *pointer = gdk_seat_get_pointer(gdk_display_get_default_seat(display));
	int x = 0, y = 0;
	if (pointer != NULL) gdk_device_get_position(pointer, NULL, &x, &y);
	GdkMonitor *monitor = gdk_display_get_monitor_at_point(display, x, y);
	if (monitor == NULL) return;
	GdkRectangle area;
	int width = 0;
	gdk_monitor_get_workarea(monitor, &area);
	gtk_window_get_size(window, &width, NULL);
	gtk_window_move(window, area.x + (area.width - width) / 2, area.y + area.height / 5);
}

// Without the time of an event a window manager may keep the focus from a window that shows itself.
static void present(GtkWindow *window) {
#ifdef GDK_WINDOWING_X11
	GdkWindow *own = gtk_widget_get_window(GTK_WIDGET(window));
	if (own != NULL && GDK_IS_X11_WINDOW(own)) {
		gtk_window_present_with_time(window, gdk_x11_get_server_time(own));
		return;
	}
#endif
	gtk_window_present(window);
}

// The process has one window; menus and bubbles are of another type.
static GtkWindow *prompt(void) {
	GtkWindow *found = NULL;
	GList *windows = gtk_window_list_toplevels();
	for (GList *w = windows; w != NULL && found == NULL; w = w->next) {
		if (gtk_window_get_window_type(GTK_WINDOW(w->data)) == GTK_WINDOW_TOPLEVEL) found = GTK_WINDOW(w->data);
	}
	g_list_free(windows);
	return found;
}

static gboolean show_prompt(gpointer data) {
	GtkWindow *window = prompt();
	if (window == NULL) return G_SOURCE_REMOVE;
	gtk_window_set_skip_taskbar_hint(window, TRUE);
	gtk_window_set_skip_pager_hint(window, TRUE);
	gtk_widget_show(GTK_WIDGET(window));
	place(window);
	present(window);
	return G_SOURCE_REMOVE;
}

static void show_prompt_soon(void) { g_idle_add(show_prompt, NULL); }

// Both sizes fit a pointer: they are small.
static gboolean resize_prompt(gpointer size) {
	GtkWindow *window = prompt();
	int both = GPOINTER_TO_INT(size);
	if (window != NULL) gtk_window_resize(window, both >> 16, both & 0xffff);
	return G_SOURCE_REMOVE;
}

static void resize_prompt_soon(int width, int height) { g_idle_add(resize_prompt, GINT_TO_POINTER(width << 16 | height)); }

static int blends(void) {
	GdkScreen *screen = gdk_screen_get_default();
	return screen != NULL && gdk_screen_is_composited(screen) && gdk_screen_get_rgba_visual(screen) != NULL;
}
*/
import "C"

import (
	"context"
	"syscall"
)

// showPrompt puts the window of the quick prompt on the screen that the person
// looks at, in front and with the focus. No task bar lists it.
func showPrompt(context.Context) { C.show_prompt_soon() }

// resizePrompt does so on GTK's thread, which Wails' own call does not.
func resizePrompt(_ context.Context, width, height int) {
	C.resize_prompt_soon(C.int(width), C.int(height))
}

// blends reports whether the screen shows what lies behind a window's clear
// parts.
func blends() bool { return C.blends() != 0 }

// detached keeps a started program out of this one's session.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
