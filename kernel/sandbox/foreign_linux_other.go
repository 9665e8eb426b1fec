//go:build linux && !amd64

package sandbox

// foreignCall reports false: there is no second kind of call to try here.
func foreignCall() bool { return false }
