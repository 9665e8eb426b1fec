//go:build !linux

package security

import (
	"testing"
	"time"
)

// threadTime is the time that a function takes: only Linux tells that of one thread.
func threadTime(_ *testing.T, fn func()) time.Duration {
	began := time.Now()
	fn()
	return time.Since(began)
}
