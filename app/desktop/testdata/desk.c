// Another program on the desktop: it owns the clipboard, or files that can be dragged from it.
//   desk clipboard      a picture of 9 × 7 pixels
//   desk drag FILE...   a window of 80 × 80 pixels in the upper left corner
#include <gtk/gtk.h>
#include <string.h>

static char **files;

static void give(GtkWidget *w, GdkDragContext *c, GtkSelectionData *data, guint info, guint time, gpointer unused) {
	GPtrArray *uris = g_ptr_array_new();
	for (char **f = files; *f != NULL; f++) g_ptr_array_add(uris, g_filename_to_uri(*f, NULL, NULL));
	g_ptr_array_add(uris, NULL);
	gtk_selection_data_set_uris(data, (gchar **)uris->pdata);
}

int main(int argc, char **argv) {
	gtk_init(&argc, &argv);
	if (strcmp(argv[1], "clipboard") == 0) {
		GdkPixbuf *picture = gdk_pixbuf_new(GDK_COLORSPACE_RGB, FALSE, 8, 9, 7);
		gdk_pixbuf_fill(picture, 0x0d736aff);
		gtk_clipboard_set_image(gtk_clipboard_get(GDK_SELECTION_CLIPBOARD), picture);
	} else {
		files = argv + 2;
		GtkWidget *window = gtk_window_new(GTK_WINDOW_POPUP);
		gtk_window_set_default_size(GTK_WINDOW(window), 80, 80);
		gtk_window_move(GTK_WINDOW(window), 0, 0);
		gtk_drag_source_set(window, GDK_BUTTON1_MASK, NULL, 0, GDK_ACTION_COPY);
		gtk_drag_source_add_uri_targets(window);
		g_signal_connect(window, "drag-data-get", G_CALLBACK(give), NULL);
		gtk_widget_show_all(window);
	}
	g_print("ready\n");
	gtk_main();
	return 0;
}
