//go:build desktop || dev || bindings

package desktop

var opener = []string{"xdg-open"}
