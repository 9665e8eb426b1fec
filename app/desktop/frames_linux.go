//go:build desktop || dev || bindings

package desktop

/*
#cgo webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.1
#cgo !webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.0
#include <gtk/gtk.h>
#include <webkit2/webkit2.h>

// The page's way to Go goes through a world of scripts of its own, which is in the page and in no
// frame of it: WebKit gives what is registered in the common world to every frame, and an app in one
// could call whatever the page can. The two worlds meet in the page's document, where no frame of
// another origin gets to.
static const char *inner =
	"if (!globalThis.oxios) { globalThis.oxios = true; const to = window.webkit.messageHandlers.external;"
	" document.addEventListener('oxios:call', (e) => to.postMessage(e.detail)); }";
static const char *outer =
	"if (!window.oxiosCalls) { window.oxiosCalls = true;"
	" const calls = { external: { postMessage: (m) => { document.dispatchEvent(new CustomEvent('oxios:call', { detail: m })); } } };"
	" Object.defineProperty(window, 'webkit', { value: { messageHandlers: calls } }); }";

static WebKitWebView *shut_view;

static void shut_frames(GtkWidget *widget, gpointer data) {
	if (!WEBKIT_IS_WEB_VIEW(widget)) {
		if (GTK_IS_CONTAINER(widget)) gtk_container_forall(GTK_CONTAINER(widget), shut_frames, data);
		return;
	}
	WebKitWebView *view = WEBKIT_WEB_VIEW(widget);
	WebKitUserContentManager *manager = webkit_web_view_get_user_content_manager(view);
	if (!webkit_user_content_manager_register_script_message_handler_in_world(manager, "external", "oxios")) return;
	WebKitUserScript *in = webkit_user_script_new_for_world(inner, WEBKIT_USER_CONTENT_INJECT_TOP_FRAME, WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START, "oxios", NULL, NULL);
	WebKitUserScript *out = webkit_user_script_new(outer, WEBKIT_USER_CONTENT_INJECT_TOP_FRAME, WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START, NULL, NULL);
	webkit_user_content_manager_add_script(manager, in);
	webkit_user_content_manager_add_script(manager, out);
	webkit_user_script_unref(in);
	webkit_user_script_unref(out);
	// A page that is there already has no such scripts yet.
	webkit_web_view_evaluate_javascript(view, inner, -1, "oxios", NULL, NULL, NULL, NULL);
	webkit_web_view_evaluate_javascript(view, outer, -1, NULL, NULL, NULL, NULL, NULL);
	webkit_user_content_manager_unregister_script_message_handler(manager, "external");
	shut_view = view;
}

static gboolean shut_in_loop(gpointer data) {
	GList *windows = gtk_window_list_toplevels();
	for (GList *w = windows; w != NULL; w = w->next) shut_frames(GTK_WIDGET(w->data), NULL);
	g_list_free(windows);
	return G_SOURCE_REMOVE;
}

static void shut_frames_soon(void) { g_idle_add(shut_in_loop, NULL); }

static gboolean end_page_in_loop(gpointer data) {
	if (shut_view != NULL) webkit_web_view_terminate_web_process(shut_view);
	return G_SOURCE_REMOVE;
}

static void end_page_soon(void) { g_idle_add(end_page_in_loop, NULL); }
*/
import "C"

// shutFrames keeps what the page may call from the frames in it.
func shutFrames() { C.shut_frames_soon() }

// endPage ends the page's process, whatever holds it up; the page is loaded again then.
func endPage() { C.end_page_soon() }
