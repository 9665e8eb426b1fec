//go:build desktop || dev || bindings

package desktop

/*
#cgo webkit2_41 pkg-config: gtk+-3.0
#cgo !webkit2_41 pkg-config: gtk+-3.0
#include <gtk/gtk.h>

static GtkWidget *kept = NULL;

// The first thing that is put into a window says which one it is, before Wails shows it.
static gboolean keep(GSignalInvocationHint *hint, guint count, const GValue *values, gpointer data) {
	GObject *container = g_value_get_object(&values[0]);
	if (!GTK_IS_WINDOW(container)) return TRUE;
	kept = GTK_WIDGET(container);
	gtk_widget_set_no_show_all(kept, TRUE);
	return FALSE;
}

static void keep_back(void) {
	g_type_class_ref(GTK_TYPE_CONTAINER);
	g_signal_add_emission_hook(g_signal_lookup("add", GTK_TYPE_CONTAINER), 0, keep, NULL, NULL);
}

// What is inside can be seen as soon as the window is shown.
static gboolean fill(gpointer data) {
	if (kept != NULL) {
		gtk_widget_set_no_show_all(kept, FALSE);
		gtk_widget_show_all(gtk_bin_get_child(GTK_BIN(kept)));
	}
	return G_SOURCE_REMOVE;
}

static void fill_soon(void) { g_idle_add(fill, NULL); }
*/
import "C"

// keepBack has the window that Wails is about to make stay hidden. Wails shows
// every window, and hides one that starts hidden right after, which takes the
// focus from whatever the person does. It is called on the main goroutine, and
// fillKept when the application has started.
func keepBack() { C.keep_back() }

func fillKept() { C.fill_soon() }
