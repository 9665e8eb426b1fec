//go:build (desktop || dev) && !bindings

package desktop

const generating = false
