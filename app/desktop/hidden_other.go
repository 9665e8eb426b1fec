//go:build (desktop || dev || bindings) && !linux

package desktop

// keepBack and fillKept do nothing: outside of Linux a window that starts hidden
// is not shown before.
func keepBack() {}

func fillKept() {}
