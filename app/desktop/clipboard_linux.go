//go:build desktop || dev || bindings

package desktop

/*
#cgo webkit2_41 pkg-config: gtk+-3.0
#cgo !webkit2_41 pkg-config: gtk+-3.0
#include <gtk/gtk.h>
#include <stdint.h>

extern void oxiosPicture(uintptr_t id, void *data, int size);

static void got_picture(GtkClipboard *clipboard, GdkPixbuf *picture, gpointer id) {
	gchar *data = NULL;
	gsize size = 0;
	if (picture != NULL) gdk_pixbuf_save_to_buffer(picture, &data, &size, "png", NULL, NULL);
	oxiosPicture((uintptr_t)id, data, (int)size);
	g_free(data);
}

static gboolean ask_picture(gpointer id) {
	gtk_clipboard_request_image(gtk_clipboard_get(GDK_SELECTION_CLIPBOARD), got_picture, id);
	return G_SOURCE_REMOVE;
}

static void ask_picture_soon(uintptr_t id) { g_idle_add(ask_picture, (gpointer)id); }
*/
import "C"

import (
	"sync"
	"time"
	"unsafe"
)

// pictures are the questions for the picture on the clipboard that are open.
var pictures struct {
	mu   sync.Mutex
	last uintptr
	open map[uintptr]chan []byte
}

// clipboardPicture returns the picture on the clipboard as PNG, nil when there
// is none. WebKitGTK keeps pictures from its pages.
func clipboardPicture() []byte {
	answer := make(chan []byte, 1)
	pictures.mu.Lock()
	if pictures.open == nil {
		pictures.open = map[uintptr]chan []byte{}
	}
	pictures.last++
	id := pictures.last
	pictures.open[id] = answer
	pictures.mu.Unlock()
	defer func() {
		pictures.mu.Lock()
		delete(pictures.open, id)
		pictures.mu.Unlock()
	}()
	C.ask_picture_soon(C.uintptr_t(id))
	select {
	case data := <-answer:
		return data
	case <-time.After(5 * time.Second): // whoever owns the clipboard does not answer
		return nil
	}
}

// oxiosPicture is called on GTK's thread.
//
//export oxiosPicture
func oxiosPicture(id C.uintptr_t, data unsafe.Pointer, size C.int) {
	var picture []byte
	if data != nil && size > 0 {
		picture = C.GoBytes(data, size)
	}
	pictures.mu.Lock()
	defer pictures.mu.Unlock()
	if answer, ok := pictures.open[uintptr(id)]; ok {
		answer <- picture
	}
}
