//go:build (desktop || dev || bindings) && !linux

package desktop

// shutFrames does nothing: here frames have no way to Go by themselves.
func shutFrames() {}

// endPage does nothing: here an app has a process of its own, or the system ends it.
func endPage() {}
