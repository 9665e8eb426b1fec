//go:build desktop || dev || bindings

package desktop

var opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
