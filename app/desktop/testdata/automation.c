// Loaded before the program under test: it lets WebKitGTK accept WebDriver in a
// WebView that was not made for it.
#include <webkit2/webkit2.h>

static GtkWidget *view;

static WebKitWebView *give_view(WebKitAutomationSession *session, gpointer data) {
	return WEBKIT_WEB_VIEW(view);
}

static void session_started(WebKitWebContext *context, WebKitAutomationSession *session, gpointer data) {
	WebKitApplicationInfo *info = webkit_application_info_new();
	webkit_application_info_set_name(info, "oxios");
	webkit_automation_session_set_application_info(session, info);
	webkit_application_info_unref(info);
	g_signal_connect(session, "create-web-view", G_CALLBACK(give_view), NULL);
}

GtkWidget *webkit_web_view_new_with_user_content_manager(WebKitUserContentManager *manager) {
	WebKitWebContext *context = webkit_web_context_get_default();
	webkit_web_context_set_automation_allowed(context, TRUE);
	g_signal_connect(context, "automation-started", G_CALLBACK(session_started), NULL);
	view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "user-content-manager", manager, "is-controlled-by-automation", TRUE, NULL);
	return view;
}
