//go:build !linux

package sandbox

// Main acts as the sandbox helper where there is one. There is none on this
// system.
func Main() bool { return false }
