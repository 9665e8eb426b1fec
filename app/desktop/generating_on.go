//go:build bindings

package desktop

// generating: Wails runs the program to read its bindings. Nothing may start.
const generating = true
